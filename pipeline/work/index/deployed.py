"""Reads a deployed database for the index: its documents with their fingerprints, and their pages."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

# What tells documents apart in databases that were deployed before they had fingerprints.
TOLD = ("body", "date", "kind", "version", "superseded", "sha256", "fetched_at", "pages", "title", "url")


@dataclass(frozen=True)
class IndexedDocument:
    id: str
    body: str
    day: int
    kind: str
    superseded: bool


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


@dataclass(frozen=True)
class InShort:
    state: str
    documents: int
    pages: int
    first_day: int
    last_day: int


def in_short(connection: sqlite3.Connection) -> InShort:
    """Of the documents that are current."""
    row = connection.execute("SELECT state FROM site").fetchone()
    told = connection.execute(
        "SELECT count(*), coalesce(sum(pages), 0), min(nullif(date, '')), max(date) FROM documents"
        " WHERE NOT coalesce(superseded, 0)"
    ).fetchone()
    return InShort((row and row[0]) or "", told[0], told[1], day_of(told[2]), day_of(told[3]))


def fingerprints_of(connection: sqlite3.Connection) -> dict[str, str]:
    """Every document with what changes when its text or what is said of it does. Reads no text."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(documents)")}
    told = " || '|' || ".join(f"coalesce({name}, '')" for name in TOLD)
    mark = f"coalesce(fingerprint, {told})" if "fingerprint" in columns else told
    return dict(connection.execute(f"SELECT id, {mark} FROM documents ORDER BY date, id"))  # noqa: S608


def document_of(connection: sqlite3.Connection, identity: str) -> IndexedDocument:
    row = connection.execute(
        "SELECT body, date, kind, superseded FROM documents WHERE id = ?", (identity,)
    ).fetchone()
    body, day, kind, superseded = row
    return IndexedDocument(identity, body or "", day_of(day), kind or "", bool(superseded))


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
