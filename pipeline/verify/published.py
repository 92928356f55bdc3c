"""Pages that were read beside those in the databases that were made of them, compiled and published."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from pipeline.models import DocumentState, Status
from pipeline.stages.deploy import databases_dir
from pipeline.stages.documents import pages_read, read_documents, stable_id
from sites.models import Stage
from sites.storage import SiteFiles


def missing_pages(site_id: str, stage: Stage) -> Iterator[str]:
    """Each document of which the database of this stage has fewer pages than were read before it was made."""
    database, made_at = _database(site_id, stage), _made_at(site_id, stage)
    if made_at is None or not database.is_file():
        return
    there = _pages_in(database)
    for document in read_documents(site_id):
        expected, found = pages_read(document), there.get(stable_id(document), 0)
        read_at: datetime | None = document.read_at  # type: ignore[attr-defined]
        if found < expected and read_at is not None and read_at < made_at:
            yield f"{document.path}: {found} of {expected} pages in {database.name}"


def _database(site_id: str, stage: Stage) -> Path:
    if stage == Stage.COMPILATION:
        return SiteFiles.of(site_id).database
    return databases_dir() / f"{site_id}.db"


def _made_at(site_id: str, stage: Stage) -> datetime | None:
    """When the work on it began; None where it was never made, or is being made."""
    rows = DocumentState.objects.filter(site_id=site_id, pipeline=stage, document=None)
    return rows.filter(status=Status.PROCESSED).values_list("last_attempt_at", flat=True).first()


def _pages_in(database: Path) -> dict[str, int]:
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            return dict(connection.execute("SELECT id, pages FROM documents"))
    except sqlite3.DatabaseError:
        return {}
