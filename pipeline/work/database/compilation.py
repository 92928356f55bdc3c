"""Compiles a site's page texts into one searchable SQLite database, doing again only what changed."""

import datetime
import hashlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from operator import attrgetter
from pathlib import Path

from pipeline.errors import SourceError
from pipeline.work.database import schema
from pipeline.work.database.file import changing, copy_database, filling, forget_log, writing
from pipeline.work.database.page_texts import fingerprint, read_pages
from pipeline.work.files import path_value, replacing


@dataclass(frozen=True)
class SiteInfo:
    subdomain: str
    name: str = ""
    state: str = ""
    kind: str = ""
    country: str = ""


@dataclass(frozen=True)
class DocumentInfo:
    """What the database says of one document. `id` is a stable hash, never a row number."""

    id: str
    text_dir: Path
    url: str = ""
    source: str = ""
    title: str = ""
    body: str = ""
    meeting: str = ""
    date: datetime.date | None = None
    kind: str = ""
    version: int = 1
    sha256: str = ""
    content_type: str = ""
    fetched_at: datetime.datetime | None = None
    superseded: bool = False
    # When its text was written, where somebody knows: then the text's files are not looked at.
    read_at: datetime.datetime | None = None
    # How many pages it must have at least, where somebody knows: fewer means that its text is away.
    pages_read: int = 0


@dataclass(frozen=True)
class Compiled:
    pages: int
    documents: int
    meetings: int
    added: int
    removed: int
    seconds: float


def stable_id(*parts: object) -> str:
    """The same parts give the same id on every machine and in every build."""
    joined = "\x1f".join("" if part is None else str(part) for part in parts)
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def compile_site(
    database: Path,
    site: SiteInfo,
    documents: Iterable[DocumentInfo],
    before: Callable[[], None] = lambda: None,
) -> Compiled:
    """Bring `database` up to what `documents` say. Readers see the old state whole, then the new one.

    `before` is the last word before they see it: whoever may no longer write raises there.
    """
    started = time.monotonic()
    with writing(database):
        if schema.is_current(database):
            with changing(database) as connection:
                counted = _apply(connection, site, documents)
                before()
        else:
            counted = _build(database, site, documents, before)
    return replace(counted, seconds=time.monotonic() - started)


def _build(
    database: Path, site: SiteInfo, documents: Iterable[DocumentInfo], before: Callable[[], None]
) -> Compiled:
    with replacing(database) as building:
        _keep_foreign(database)
        schema.create_tables(building)
        with filling(building) as connection:
            counted = _apply(connection, site, documents)
        before()
        # A log that a killed writer left belongs to the file that is about to go.
        forget_log(database)
    return counted


def _keep_foreign(database: Path) -> None:
    """Another system's database of the same name stays beside ours: nobody can build it again from ours."""
    kept = database.with_name(f"{database.name}.old")
    if not database.exists() or kept.exists() or schema.is_ours(database):
        return
    with replacing(kept) as building:
        try:
            copy_database(database, building)
        except sqlite3.DatabaseError:  # whatever it is, it is not for us to throw away
            shutil.copyfile(database, building)


def _apply(connection: sqlite3.Connection, site: SiteInfo, documents: Iterable[DocumentInfo]) -> Compiled:
    fresh = not connection.execute("SELECT EXISTS (SELECT 1 FROM _compiled)").fetchone()[0]
    _stage(connection, site, documents)
    removed = _remove_gone(connection)
    added = _add_changed(connection, fresh=fresh)
    _write_meetings(connection, site)
    pages, count, meetings = connection.execute(schema.COUNTS).fetchone()
    return Compiled(pages, count, meetings, added, removed, seconds=0)


COLUMNS = tuple(field.name for field in fields(DocumentInfo))
# Where the text lies, and how much of it there must be, say nothing of what it is.
TOLD = tuple(name for name in COLUMNS if name not in ("text_dir", "pages_read"))
_values = attrgetter(*COLUMNS)


def _stage(connection: sqlite3.Connection, site: SiteInfo, documents: Iterable[DocumentInfo]) -> None:
    """What is wanted, in a temporary table: memory does not grow with the number of documents."""
    columns = ", ".join((*COLUMNS, "meeting_id", "fingerprint"))
    connection.execute(f"CREATE TEMP TABLE wanted ({columns}, PRIMARY KEY (id)) WITHOUT ROWID")
    marks = ", ".join("?" * (len(COLUMNS) + 2))
    rows = (_wanted_row(site, document) for document in documents)
    connection.executemany(f"INSERT OR REPLACE INTO wanted VALUES ({marks})", rows)  # noqa: S608


def _wanted_row(site: SiteInfo, document: DocumentInfo) -> tuple[object, ...]:
    values = tuple(_plain(value) for value in _values(document))
    meeting_id = stable_id(site.subdomain, document.meeting, _plain(document.date))
    text = "" if document.read_at else fingerprint(document.text_dir)
    told = stable_id(*(value for name, value in zip(COLUMNS, values, strict=True) if name in TOLD))
    return (*values, meeting_id, f"{told}{text}")


def _plain(value: object) -> object:
    """A value as SQLite keeps it: dates in ISO form, half a surrogate pair replaced."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, datetime.date):
        return value.isoformat()
    return path_value(value) if isinstance(value, Path) else value


def _remove_gone(connection: sqlite3.Connection) -> int:
    """Take out documents that are no longer wanted, or not as they were, or of which pages are missing."""
    connection.execute(
        "CREATE TEMP TABLE gone AS SELECT _compiled.id, wanted.id IS NULL AS removed FROM _compiled"
        " LEFT JOIN wanted USING (id) LEFT JOIN documents USING (id)"
        " WHERE wanted.fingerprint IS NOT _compiled.fingerprint OR documents.pages < wanted.pages_read"
    )
    pages = "SELECT 'delete', pages.rowid, pages.text FROM gone JOIN pages ON pages.document_id = gone.id"
    connection.execute(f"INSERT INTO pages_fts (pages_fts, rowid, text) {pages}")
    for table, key in (("pages", "document_id"), ("documents", "id"), ("_compiled", "id")):
        connection.execute(f"DELETE FROM {table} WHERE {key} IN (SELECT id FROM gone)")  # noqa: S608
    return int(connection.execute("SELECT coalesce(sum(removed), 0) FROM gone").fetchone()[0])


def _add_changed(connection: sqlite3.Connection, *, fresh: bool) -> int:
    connection.execute(
        "CREATE TEMP TABLE fresh AS SELECT wanted.* FROM wanted LEFT JOIN _compiled USING (id)"
        " WHERE _compiled.id IS NULL ORDER BY wanted.date, wanted.id"
    )
    last = connection.execute("SELECT coalesce(max(rowid), 0) FROM pages").fetchone()[0]
    names, marks = ", ".join(schema.PAGE_COLUMNS), ", ".join("?" * len(schema.PAGE_COLUMNS))
    connection.executemany(f"INSERT INTO pages ({names}) VALUES ({marks})", _page_rows(connection))  # noqa: S608
    if fresh:
        schema.index_pages(connection)
    else:
        new = "SELECT rowid, text FROM pages WHERE rowid > ?"
        connection.execute(f"INSERT INTO pages_fts (rowid, text) {new}", (last,))
    connection.execute(schema.DOCUMENTS_FROM_FRESH)
    connection.execute("INSERT INTO _compiled (id, fingerprint) SELECT id, fingerprint FROM fresh")
    return int(connection.execute("SELECT count(*) FROM fresh").fetchone()[0])


def _page_rows(connection: sqlite3.Connection) -> Iterator[tuple[object, ...]]:
    wanted = connection.execute(
        "SELECT id, meeting_id, body, date, kind, text_dir, pages_read FROM fresh ORDER BY rowid"
    )
    missing: list[str] = []
    for document_id, meeting_id, body, day, kind, text_dir, expected in wanted:
        found = 0
        for page in read_pages(Path(os.fsdecode(text_dir))):
            found += 1
            page_id = f"{document_id}-{page.number}"
            facts = (page.number, page.text, page.method, page.confidence)
            yield (page_id, document_id, meeting_id, body, day, kind, *facts)
        if found < expected:
            missing.append(f"{text_dir} ({found} of {expected} pages)")
    _refuse(missing)


def _refuse(missing: list[str]) -> None:
    """Text that was read and is away may come back; a document without its pages would be a loss."""
    if missing:
        raise SourceError(
            f"the text of {len(missing)} documents that were read is not in storage, of {missing[0]} first;"
            " verify --files names them all",
            code="missing_text",
        )


def _write_meetings(connection: sqlite3.Connection, site: SiteInfo) -> None:
    connection.execute("DELETE FROM meetings")
    connection.execute(schema.MEETINGS_FROM_WANTED)
    connection.execute("DELETE FROM site")
    connection.execute("INSERT INTO site VALUES (?, ?, ?, ?, ?)", tuple(asdict(site).values()))
