"""The tables of a compiled database: what is in them, and how they are created."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from pipeline.work.database import fact_tables

# Raise it when the tables change: databases of another version are built anew.
VERSION = 1
TOKENIZER = "porter unicode61 remove_diacritics 2"
HASH_BYTES = 32 << 20
PAGE_COLUMNS = (
    "id", "document_id", "meeting_id", "body", "date", "kind", "page", "text", "method", "confidence",
)  # fmt: skip

DOCUMENTS_FROM_FRESH = """
INSERT INTO documents
SELECT id, meeting_id, title, body, date, kind, url, source, version, superseded, sha256, content_type,
       fetched_at, (SELECT count(*) FROM pages WHERE pages.document_id = fresh.id)
FROM fresh
"""
MEETINGS_FROM_WANTED = """
INSERT INTO meetings
SELECT wanted.meeting_id, coalesce(nullif(max(wanted.body), ''), wanted.meeting), wanted.date,
       count(*), sum(documents.pages)
FROM wanted JOIN documents USING (id)
GROUP BY wanted.meeting_id
"""
COUNTS = """
SELECT (SELECT count(*) FROM pages), (SELECT count(*) FROM documents), (SELECT count(*) FROM meetings)
"""


# What we need to know for the next change, and readers do not.
OWN_TABLES = ("_compiled", "_extracted")


def create_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        database = Database(connection)
        database.table("site").create(
            dict.fromkeys(("subdomain", "name", "state", "kind", "country"), str), pk="subdomain"
        )
        database.table("meetings").create(
            {"id": str, "body": str, "date": str, "documents": int, "pages": int}, pk="id"
        )
        _create_documents(database)
        _create_pages(database)
        fact_tables.create(database)
        for name in OWN_TABLES:
            database.table(name).create({"id": str, "fingerprint": str}, pk="id")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.commit()


def _create_documents(database: Database) -> None:
    text = ("id", "meeting_id", "title", "body", "date", "kind", "url", "source")
    columns = dict.fromkeys(text, str) | {"version": int, "superseded": int}
    columns |= dict.fromkeys(("sha256", "content_type", "fetched_at"), str) | {"pages": int}
    table = database.table("documents")
    table.create(columns, pk="id", foreign_keys=[("meeting_id", "meetings", "id")])
    table.create_index(["meeting_id"])
    table.create_index(["date"])


def _create_pages(database: Database) -> None:
    columns = dict.fromkeys(PAGE_COLUMNS, str) | {"page": int, "confidence": float}
    keys = [("document_id", "documents", "id"), ("meeting_id", "meetings", "id")]
    table = database.table("pages")
    table.create(columns, pk="id", foreign_keys=keys)
    table.enable_fts(["text"], tokenize=TOKENIZER)
    # Words gathered in memory before they are written: a quarter less work than with the one MiB of SQLite.
    database.execute("INSERT INTO pages_fts (pages_fts, rank) VALUES ('hashsize', ?)", [HASH_BYTES])


def index_pages(connection: sqlite3.Connection) -> None:
    """Once the pages are there: sorting them all is less work than finding each one's place."""
    connection.execute("CREATE INDEX IF NOT EXISTS idx_pages_document_id_page ON pages (document_id, page)")
    connection.execute("CREATE INDEX IF NOT EXISTS idx_pages_date ON pages (date)")
    # Merging while more is to come is done over and over; afterwards every change merges a little again.
    connection.execute("INSERT INTO pages_fts (pages_fts, rank) VALUES ('automerge', 0)")
    connection.execute("INSERT INTO pages_fts (pages_fts) VALUES ('rebuild')")
    connection.execute("INSERT INTO pages_fts (pages_fts, rank) VALUES ('automerge', 4)")


def is_current(path: Path) -> bool:
    """True when the file is a database of ours in this version; anything else is built anew."""
    return _asked(path, "PRAGMA user_version") == VERSION


def is_ours(path: Path) -> bool:
    """Of whatever version."""
    return _asked(path, "SELECT count(*) FROM sqlite_master WHERE name = '_compiled'") == 1


def _asked(path: Path, question: str) -> object:
    """The one answer, or None where there is no database that could give one."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute(question).fetchone()[0]
    except sqlite3.Error:
        return None


@dataclass(frozen=True)
class Extent:
    pages: int
    documents: int


def counts_in(path: Path) -> Extent | None:
    """How much a compiled or published database holds; None where there is none."""
    pages, documents = (_asked(path, f"SELECT count(*) FROM {name}") for name in ("pages", "documents"))  # noqa: S608
    return Extent(int(str(pages)), int(str(documents))) if None not in (pages, documents) else None
