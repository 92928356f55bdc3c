"""A pass of reconcile over 10,000 sites with a million ledger rows, 100 of the sites stuck; and of verify."""

import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from typing import Any

import django
import django_rq
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

SITES, STUCK, WAITING, DOCUMENTS = 10_000, 100, 100, 33

# All but the last are completed. Of the rest, some have their jobs in the queue and some have lost them.
# Each site has as many documents; each document a row in three stages, and the site one each in two.
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
IS_DONE = "{column} <= {done}"
STATEMENTS = (
    """INSERT INTO sites (subdomain, current_stage, started_at, updated_at, run_id, fetch_total,
    fetch_completed, ocr_total, ocr_completed, compilation_total, compilation_completed, extraction_total,
    extraction_completed, deploy_total, deploy_completed, languages)
{sites} SELECT 'city' || i || '.test', CASE WHEN {i_done} THEN 'completed' ELSE 'ocr' END, {old}, {old}, i,
    {docs}, {docs}, {docs}, CASE WHEN {i_done} THEN {docs} ELSE 20 END, {one}, {one},
    CASE WHEN {i_done} THEN {docs} ELSE 0 END, CASE WHEN {i_done} THEN {docs} ELSE 0 END, {one}, {one}, 'eng'
FROM n""",
    """INSERT INTO runs (id, subdomain, status, started_at, finished_at)
{sites} SELECT i, 'city' || i || '.test', CASE WHEN {i_done} THEN 'completed' ELSE 'running' END, {old},
    CASE WHEN {i_done} THEN {old} END FROM n""",
    """INSERT INTO documents (id, subdomain, external_id, meeting, kind, path, created_at)
{documents} SELECT i, 'city' || (1 + (i - 1) / {docs}) || '.test', 'doc' || i, 'Council', 'minutes',
    'pdfs/Council/' || i || '.pdf', {old} FROM n""",
    """INSERT INTO document_pipeline_state (subdomain, document_id, pipeline, unit, status, attempt_count,
    attempt_token, last_attempt_at, processed_at, created_at, updated_at, run_id, facts)
SELECT subdomain, id, stage, '', status, 1, CASE status WHEN 'in_progress' THEN {token} END, {old},
    CASE status WHEN 'processed' THEN {old} END, {old}, {old}, site, '{{}}'
FROM (SELECT subdomain, id, stage, 1 + (id - 1) / {docs} AS site,
        CASE WHEN stage = 'fetch' OR 1 + (id - 1) / {docs} <= {done} OR (id - 1) % {docs} < 20
            THEN 'processed'
            WHEN (id - 1) % {docs} < 30 THEN 'pending' ELSE 'in_progress' END AS status
    FROM documents CROSS JOIN (SELECT 'fetch' AS stage UNION ALL SELECT 'ocr' UNION ALL SELECT 'extraction') s
    WHERE stage <> 'extraction' OR 1 + (id - 1) / {docs} <= {done}) AS made""",
    """INSERT INTO document_pipeline_state (subdomain, pipeline, unit, status, attempt_count,
    last_attempt_at, processed_at, created_at, updated_at, run_id, facts)
SELECT subdomain, stage, 'site', 'processed', 1, {old}, {old}, {old}, {old}, run_id, '{{}}'
FROM sites CROSS JOIN (SELECT 'compilation' AS stage UNION ALL SELECT 'deploy') s
WHERE current_stage = 'completed'""",
)


def run() -> dict[str, float]:
    """Each database in a process of its own, with its own settings."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        urls = {"pg": _postgresql_url(), "sqlite": f"sqlite:///{folder}/bench.sqlite3"}
        for name, url in urls.items():
            command = [sys.executable, "-m", "benchmarks.reconcile", name]
            environment = os.environ | {"DATABASE_URL": url}
            answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
            figures |= json.loads(answer)
    return figures


def _postgresql_url() -> str:
    name = f"bench_{uuid.uuid4().hex[:8]}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    head, _, options = os.environ["DATABASE_URL"].partition("?")
    return f"{head.rpartition('/')[0]}/{name}" + (f"?{options}" if options else "")


def _fill(sites: int) -> int:
    done = sites - STUCK - WAITING
    postgres = connection.vendor == "postgresql"
    words = {
        "sites": NUMBERS.format(count=sites),
        "documents": NUMBERS.format(count=sites * DOCUMENTS),
        "docs": DOCUMENTS,
        "done": done,
        "i_done": IS_DONE.format(column="i", done=done),
        "one": f"CASE WHEN i <= {done} THEN 1 ELSE 0 END",
        "old": "now() - interval '3 hours'" if postgres else "datetime('now', '-3 hours')",
        "token": "gen_random_uuid()" if postgres else "lower(hex(randomblob(16)))",
    }
    with connection.cursor() as cursor:
        for statement in STATEMENTS:
            cursor.execute(statement.format(**words))
        cursor.execute("VACUUM ANALYZE" if postgres else "ANALYZE")
        cursor.execute("SELECT count(*) FROM document_pipeline_state")
        return int(cursor.fetchone()[0])


def _send_the_waiting(sites: int) -> None:
    """The jobs of those sites that only wait: what is in progress there is back in the queue too."""
    from pipeline import dispatch  # noqa: PLC0415
    from pipeline.models import DocumentState  # noqa: PLC0415

    first = sites - WAITING
    rows = DocumentState.objects.filter(run_id__gt=first).exclude(status="processed")
    dispatch.deliver_rows(rows.order_by("pk"))


def _timed(call: Callable[[], Any]) -> tuple[float, int, Any]:
    began = time.monotonic()
    with CaptureQueriesContext(connection) as captured:
        result = call()
    return time.monotonic() - began, len(captured), result


def _whole_tables() -> int:
    """Of the scheduler's queries, with the planner free to do as it likes."""
    from pipeline.verify import query_plans  # noqa: PLC0415

    if connection.vendor != "postgresql":
        return 0
    found = {name: query.explain() for name, query in query_plans.queries().items()}
    whole = [name for name, plan in found.items() if "Seq Scan" in plan]
    for name in whole:
        print(name, found[name], sep="\n", file=sys.stderr)
    return len(whole)


def measure(name: str) -> dict[str, float]:
    from pipeline.reconcile import reconcile  # noqa: PLC0415
    from pipeline.verify import verify  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    django_rq.get_connection("high").flushdb()
    rows = _fill(SITES)
    _send_the_waiting(SITES)
    dry, dry_queries, would = _timed(lambda: reconcile(dry_run=True))
    seconds, queries, result = _timed(reconcile)
    idle, idle_queries, nothing = _timed(reconcile)
    checked, _, report = _timed(verify)
    if (would.recovered, result.recovered, nothing.recovered, report.problems) != (STUCK, STUCK, 0, []):
        raise RuntimeError(f"{result.as_json() | {'repairs': None}}, {nothing.found}, {report.problems}")
    django_rq.get_connection("high").flushdb()
    figures = {
        "ledger_rows": rows,
        "seconds": seconds,
        "queries": queries,
        "queries_a_stuck_site": (queries - idle_queries) / STUCK,
        "dry_run_seconds": dry,
        "dry_run_queries": dry_queries,
        "idle_seconds": idle,
        "idle_queries": idle_queries,
        "verify_seconds": checked,
        "queries_that_read_a_whole_table": _whole_tables(),
    }
    return {f"reconcile.{name}_{key}": round(value, 3) for key, value in figures.items()}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clerk_project.settings")
    django.setup()
    print(json.dumps(measure(sys.argv[1])))
