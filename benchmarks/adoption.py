"""Taking over an old database of 10,000 sites: how long anybody waits, and how much memory it takes.

A reader and a writer, each on a connection of its own, touch one site after another without a pause while the
migrations run in another process; the longest of their waits is the longest that any lock was felt.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from django.conf import settings
from django.db import connection

from demo.legacy import shapes
from demo.legacy.storage import add_document

SITES = 10_000
LEDGER_ROWS = 1_000_000
STUCK_SITES, DOCUMENTS_A_SITE = 1_000, 10
NAME = "bench_adoption"


def run() -> dict[str, float]:
    if connection.vendor != "postgresql":
        return {}
    with _database() as url:
        figures = _state_migration(url) | _with_a_full_ledger(url)
    return figures | _take_over()


def _state_migration(url: str) -> dict[str, float]:
    """Shape (ii), the hardest: every counter may be NULL and every time must be converted."""
    with psycopg.connect(url, autocommit=True) as database:
        for statement in shapes.statements("script"):
            database.execute(statement)
        database.execute(_OLD_SITES)
    with _Watch(url) as watch:
        took = _manage(url, "migrate", "sites", "0002")
    return watch.figures("adopt state columns") | {"adopt state columns: seconds": took}


def _with_a_full_ledger(url: str) -> dict[str, float]:
    """The same migration over a ledger of a million rows, then the drops, and back."""
    with _Watch(url) as watch:
        _manage(url, "migrate", "pipeline")
    tables = watch.figures("tables of the pipeline")
    with psycopg.connect(url, autocommit=True) as database:
        database.execute(_LEDGER)
        rows = database.execute("SELECT count(*) FROM document_pipeline_state").fetchone()
        for column in shapes.COUNTERS:
            database.execute(f"ALTER TABLE sites ALTER {column} DROP NOT NULL")
        for column in ("started_at", "updated_at", "last_error_at"):
            database.execute(f"ALTER TABLE sites ALTER {column} TYPE timestamp")
        # Only forgotten, not undone: the migration meets its tables and the ledger as they are.
        database.execute(
            "DELETE FROM django_migrations WHERE app IN ('sites', 'pipeline') AND name > '0001_o'"
        )
        database.execute("DELETE FROM django_migrations WHERE app = 'pipeline'")
    figures = tables | {"ledger rows": float(rows[0] if rows else 0)}
    with _Watch(url) as watch:
        figures["with a full ledger: seconds"] = _manage(url, "migrate", "sites", "0002")
    figures |= watch.figures("with a full ledger")
    _manage(url, "migrate", "sites", "0003", "--fake")
    _manage(url, "migrate", "pipeline", "--fake")
    for name, target in (("drops", "0005"), ("undo the drops", "0003")):
        with _Watch(url) as watch:
            figures[f"{name}: seconds"] = _manage(url, "migrate", "sites", target, CLERK_ALLOW_DROPS="1")
        figures |= watch.figures(name)
    return figures


def _take_over() -> dict[str, float]:
    """Ten times the sites must not take more memory."""
    figures = {}
    for count in (STUCK_SITES // 10, STUCK_SITES):
        with _database() as url, _storage(count) as storage:
            with psycopg.connect(url, autocommit=True) as database:
                for statement in shapes.statements("before"):
                    database.execute(statement)
                database.execute(
                    f"INSERT INTO sites (subdomain) SELECT 's' || i FROM generate_series(1, {count}) i"
                )
                database.execute(
                    "INSERT INTO site_progress SELECT subdomain, 'ocr', 5, 0, now(), now() FROM sites"
                )
            _manage(url, "migrate", "pipeline")
            took, peak = _measured(url, "migrate_stuck_sites", STORAGE_DIR=storage)
        figures[f"take over {count} sites: peak MB"] = peak
        figures[f"take over {count} sites: documents a second"] = count * DOCUMENTS_A_SITE / took
    return figures


class _Watch:
    """A reader and a writer that note how long each of their statements took."""

    STATEMENTS = {
        "reader": "SELECT state FROM sites WHERE subdomain = %s",
        "writer": "UPDATE sites SET country = country WHERE subdomain = %s",
    }

    def __init__(self, url: str) -> None:
        self.url = url
        self.longest = dict.fromkeys(self.STATEMENTS, 0.0)
        self.done = threading.Event()
        self.threads = [threading.Thread(target=self._ask, args=[who]) for who in self.STATEMENTS]

    def __enter__(self) -> "_Watch":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.done.set()
        for thread in self.threads:
            thread.join()

    def figures(self, name: str) -> dict[str, float]:
        return {f"{name}: longest wait of a {who}, ms": 1000 * wait for who, wait in self.longest.items()}

    def _ask(self, who: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as database:
            number = 0
            while not self.done.is_set():
                number = number % SITES + 1
                began = time.monotonic()
                database.execute(self.STATEMENTS[who], [f"s{number}"])
                self.longest[who] = max(self.longest[who], time.monotonic() - began)
                time.sleep(0.002)


def _manage(url: str, *arguments: str, **environ: str) -> float:
    return _measured(url, *arguments, **environ)[0]


def _measured(url: str, *arguments: str, **environ: str) -> tuple[float, float]:
    """Seconds, and the most megabytes that the process held."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": url, **environ},
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"manage.py {' '.join(arguments)} ended with {process.returncode}")
    return time.monotonic() - began, usage.ru_maxrss / 1024


@contextmanager
def _database() -> Iterator[str]:
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {NAME}")
        try:
            yield urlsplit(url)._replace(path=f"/{NAME}").geturl()
        finally:
            server.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


@contextmanager
def _storage(sites: int) -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="adoption-"))
    try:
        for number in range(1, sites + 1):
            for day in range(DOCUMENTS_A_SITE):
                add_document(folder / f"s{number}", f"2024-01-{day + 1:02}", pages=day % 3)
        yield str(folder)
    finally:
        shutil.rmtree(folder)


_OLD_SITES = f"""
INSERT INTO sites
    (subdomain, name, status, extra, current_stage, started_at, updated_at, ocr_total, ocr_completed)
SELECT 's' || i, 'Site ' || i, 'needs_ocr', repeat('x', 300), 'ocr', now(), now(),
    CASE WHEN i % 2 = 0 THEN 15 END, CASE WHEN i % 3 = 0 THEN 12 END
FROM generate_series(1, {SITES}) i
"""
_LEDGER = f"""
INSERT INTO documents (subdomain, external_id, meeting, kind, path, created_at)
SELECT 's' || (1 + i % {SITES}), 'd' || i, 'Council', 'minutes', 'pdfs/Council/' || i || '.pdf', now()
FROM generate_series(1, {LEDGER_ROWS // 2}) i;
INSERT INTO document_pipeline_state
    (subdomain, document_id, pipeline, status, attempt_count, created_at, updated_at, facts)
SELECT subdomain, id, stage, 'processed', 1, now(), now(), '{{}}'
FROM documents CROSS JOIN (VALUES ('fetch'), ('ocr')) AS stages (stage);
"""
