"""Reads a deployed database for the index: its documents with their fingerprints, and their pages."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pipeline.work.database.compilation import stable_id

TOLD = "id, body, date, kind, version, superseded, sha256, fetched_at, pages, title, url"


@dataclass(frozen=True)
class IndexedDocument:
    id: str
    body: str
    day: int
    kind: str
    superseded: bool
    fingerprint: str


@dataclass(frozen=True)
class IndexedPage:
    number: int
    text: str
    method: str


@contextmanager
def reading(database: Path) -> Iterator[sqlite3.Connection]:
    """A published file never changes: the next version is another file."""
    address = f"{database.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        yield connection


def state_of(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT state FROM site").fetchone()
    return (row and row[0]) or ""


def documents_of(connection: sqlite3.Connection, state: str) -> Iterator[IndexedDocument]:
    columns = {row[1] for row in connection.execute("PRAGMA table_info(documents)")}
    # Databases that were deployed before there was a fingerprint are told apart by what they say.
    mark = "fingerprint" if "fingerprint" in columns else "NULL"
    for row in connection.execute(f"SELECT {TOLD}, {mark} FROM documents ORDER BY date, id"):  # noqa: S608
        *told, known = row
        identity, body, day, kind, _, superseded = told[:6]
        fingerprint = stable_id(state, known) if known else stable_id(state, *told)
        yield IndexedDocument(identity, body or "", day_of(day), kind or "", bool(superseded), fingerprint)


def pages_of(connection: sqlite3.Connection, document: str) -> Iterator[IndexedPage]:
    query = "SELECT page, text, method FROM pages WHERE document_id = ? ORDER BY page"
    for number, text, method in connection.execute(query, (document,)):
        yield IndexedPage(number, text or "", method or "")


def day_of(text: str | None) -> int:
    """`2024-01-15` as 20240115; no date, and what is none, as 0."""
    try:
        day = date.fromisoformat(text or "")
    except ValueError:
        return 0
    return day.year * 10_000 + day.month * 100 + day.day
