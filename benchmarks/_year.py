"""A year of many sites, week by week, as far as tables and folders grow by it; `prune` runs once a week."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.db import connection
from django.utils import timezone

from pipeline.operations.pruning import prune
from pipeline.work.deploy.directory import DirectoryTarget
from pipeline.work.deploy.releases import Release, version_of

STAGES = ("fetch", "ocr", "compilation", "extraction", "deploy")
OF_DOCUMENTS, OF_SITES = ("fetch", "ocr", "extraction"), ("compilation", "deploy")
# A pass of reconcile every 15 minutes.
PASSES = 7 * 24 * 4
STAGE_ROWS = " UNION ALL ".join(f"SELECT '{stage}' AS stage" for stage in STAGES)
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"

WEEKLY = (
    "INSERT INTO runs (subdomain, status, started_at, finished_at)"
    " SELECT subdomain, 'completed', %(now)s, %(now)s FROM sites",
    "UPDATE sites SET updated_at = %(now)s, run_id ="
    " (SELECT max(id) FROM runs WHERE runs.subdomain = sites.subdomain)",
    "INSERT INTO run_stages (run_id, stage, opened_at, finished_at)"
    f" SELECT run_id, stage, %(now)s, %(now)s FROM sites CROSS JOIN ({STAGE_ROWS}) AS stages",
    "INSERT INTO documents (subdomain, external_id, meeting, kind, path, created_at)"
    f" {NUMBERS} SELECT subdomain, %(week)s || '-' || i, 'Council', 'minutes',"
    " 'pdfs/Council/' || %(week)s || '-' || i || '.pdf', %(now)s FROM n CROSS JOIN sites",
    *(
        "INSERT INTO document_pipeline_state (subdomain, document_id, pipeline, unit, status, attempt_count,"
        " last_attempt_at, processed_at, created_at, updated_at, run_id, facts)"
        f" SELECT d.subdomain, d.id, '{stage}', '', 'processed', 1, %(now)s, %(now)s, %(now)s, %(now)s,"
        " s.run_id,"
        """ '{{"pages": 12, "characters": 24000}}'"""
        " FROM documents d JOIN sites s ON s.subdomain = d.subdomain WHERE d.created_at = %(now)s"
        for stage in OF_DOCUMENTS
    ),
    "INSERT INTO webhook_deliveries (webhook_id, run_id, event, payload, status, next_attempt_at, created_at)"
    " SELECT (SELECT min(id) FROM webhooks), run_id, 'completed', '{{}}', 'delivered', %(now)s, %(now)s"
    " FROM sites",
    "INSERT INTO reconcile_runs (started_at, finished_at, repairs)"
    f" {NUMBERS.replace('{count}', str(PASSES))} SELECT %(now)s, %(now)s, '[]' FROM n",
    "INSERT INTO arrivals (subdomain, document, at)"
    " SELECT subdomain, 'x' || id, %(now)s FROM documents WHERE created_at = %(now)s",
)


@dataclass
class Growth:
    """Rows of each table, and bytes of each folder, at some weeks."""

    weeks: list[int] = field(default_factory=list)
    rows: dict[str, list[int]] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)


def simulate(
    sites: int, weeks: int, folder: Path, *, documents: int = 2, looks: int = 4, published: int = 3
) -> Growth:
    """`published`: how many of the sites also publish a new version to a folder each week."""
    growth, began = Growth(), timezone.now() - timedelta(weeks=weeks)
    _begin(sites, began)
    target = DirectoryTarget(folder)
    for week in range(1, weeks + 1):
        now = began + timedelta(weeks=week)
        _one_week({"now": now, "week": str(week)}, documents)
        for number in range(published):
            _publish(target, folder.parent / "build.db", f"city{number}.test", now)
        list(prune([], dry_run=False, now=now))
        if week % max(1, weeks // looks) == 0:
            _look(growth, week, folder)
    return growth


def _begin(sites: int, began: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO sites (subdomain, current_stage, updated_at, languages)"
            f" {NUMBERS.format(count=sites)} SELECT 'city' || i || '.test', 'completed', %s, 'eng' FROM n",
            [began],
        )
        cursor.execute(
            "INSERT INTO webhooks (url, secret, events, created_at) VALUES ('https://x.test', 'x', '[]', %s)",
            [began],
        )
        for stage in OF_SITES:
            cursor.execute(
                "INSERT INTO document_pipeline_state (subdomain, pipeline, unit, status, attempt_count,"
                " last_attempt_at, processed_at, created_at, updated_at, facts)"
                f" SELECT subdomain, '{stage}', 'site', 'processed', 1, %s, %s, %s, %s, '{{}}' FROM sites",
                [began] * 4,
            )


def _one_week(told: dict[str, datetime | str], documents: int) -> None:
    with connection.cursor() as cursor:
        for statement in WEEKLY:
            said = statement.replace("{count}", str(documents)).replace("{{", "{").replace("}}", "}")
            cursor.execute(said, told)


def _publish(target: DirectoryTarget, database: Path, site: str, now: datetime) -> None:
    database.parent.mkdir(parents=True, exist_ok=True)
    database.write_bytes(b"x" * 50_000)
    about = {"title": site}
    target.publish(Release(site, version_of(now.astimezone(UTC), f"{now:%j%H%M%S%f}"), database, about))


def _look(growth: Growth, week: int, folder: Path) -> None:
    growth.weeks.append(week)
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")
            growth.rows.setdefault(table, []).append(cursor.fetchone()[0])
            if connection.vendor == "postgresql":
                cursor.execute("SELECT pg_total_relation_size(%s)", [connection.ops.quote_name(table)])
                growth.bytes[table] = cursor.fetchone()[0]
    growth.rows.setdefault("published files", []).append(len(list(_files(folder))))


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def as_lines(growth: Growth) -> list[str]:
    """Those that grew, the largest first."""
    shown = {name: rows for name, rows in growth.rows.items() if rows[-1]}
    first = f"{'after week':28}" + "".join(f"{week:>12,}" for week in growth.weeks) + f"{'MB':>10}"
    lines = [first]
    for name, rows in sorted(shown.items(), key=lambda pair: -growth.bytes.get(pair[0], pair[1][-1])):
        size = f"{growth.bytes[name] / 1e6:>10.1f}" if name in growth.bytes else ""
        lines.append(f"{name:28}" + "".join(f"{count:>12,}" for count in rows) + size)
    return lines


def as_json(growth: Growth) -> str:
    return json.dumps(growth.rows)
