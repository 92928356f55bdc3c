"""Brings the index up to a deployed database: a site's change is in it whole or not at all."""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from tantivy import Document, Index, IndexWriter

from pipeline.work.index import contents, generations
from pipeline.work.index.contents import Manifest, Summary
from pipeline.work.index.deployed import (
    IndexedDocument,
    IndexedPage,
    documents_of,
    pages_of,
    reading,
    state_of,
)
from pipeline.work.index.schema import (
    BODY,
    CURRENT,
    DAY,
    DOCUMENT,
    KIND,
    MANIFEST_OF,
    METHOD,
    OLD_TEXT,
    PAGE,
    PLACE,
    SHELF,
    SITE,
    STATE,
    SUMMARY_OF,
    SUPERSEDED,
    TEXT,
    YEAR,
    create_index,
    open_index,
)

HEAP_BYTES = 128 << 20
MOST_PAGES = 1 << 16


@dataclass(frozen=True)
class Synced:
    """The documents that the index did not have like this before, and those it has no more."""

    site: str
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    pages: int = 0

    @property
    def touched(self) -> int:
        return len(self.added) + len(self.changed) + len(self.removed)


def sync_site(root: Path, site: str, version: str, database: Path) -> Synced:
    """Index what is new or changed in `database` and take out what is gone, in one commit."""
    with generations.writing(root):
        folder = generations.serving(root)
        if folder is None:
            folder = generations.new_folder(root)
            synced = _sync(create_index(folder), site, version, database)
            generations.serve(root, folder)
        else:
            synced = _sync(open_index(folder), site, version, database)
    return synced


def remove_site(root: Path, site: str) -> int:
    """Take a whole site out; how many documents that were."""
    with _changing(root) as index:
        if index is None:
            return 0
        manifest = contents.manifest_of(index.searcher(), site)
        with _committing(index) as writer:
            writer.delete_documents_by_term(SITE, site)
            _forget(writer, site)
        return len(manifest)


def remove_document(root: Path, site: str, document: str) -> bool:
    """Take one document out at once, ahead of the site's next deploy; False when it is not there."""
    with _changing(root) as index:
        if index is None:
            return False
        searcher = index.searcher()
        manifest = contents.manifest_of(searcher, site)
        summary = contents.summary_of(searcher, site)
        if summary is None or manifest.pop(document, None) is None:
            return False
        with _committing(index) as writer:
            writer.delete_documents_by_term(DOCUMENT, document)
            _forget(writer, site)
            # Its version is kept: the next deploy compares the documents, whatever the version says.
            writer.add_document(contents.summary_entry(summary))
            writer.add_document(contents.manifest_entry(site, manifest))
        return True


@contextmanager
def _changing(root: Path) -> Iterator[Index | None]:
    with generations.writing(root):
        folder = generations.serving(root)
        yield open_index(folder) if folder else None


@contextmanager
def _committing(index: Index) -> Iterator[IndexWriter]:
    """One commit when the block ends well; what a killed or failed writer wrote is never seen."""
    writer = index.writer(HEAP_BYTES, 1)
    try:
        yield writer
        writer.commit()
    except BaseException:
        writer.rollback()
        raise
    finally:
        # Small segments are merged as they gather; otherwise every change would leave one behind for ever.
        writer.wait_merging_threads()


def _sync(index: Index, site: str, version: str, database: Path) -> Synced:
    before = contents.manifest_of(index.searcher(), site)
    with reading(database) as connection:
        state = state_of(connection)
        wanted = {document.id: document for document in documents_of(connection, state)}
        with _committing(index) as writer:
            return _write(writer, connection, Release(site, version, state), before, wanted)


@dataclass(frozen=True)
class Release:
    site: str
    version: str
    state: str


def _write(
    writer: IndexWriter,
    connection: sqlite3.Connection,
    release: Release,
    before: Manifest,
    wanted: dict[str, IndexedDocument],
) -> Synced:
    removed = tuple(sorted(before.keys() - wanted.keys()))
    fresh = [each for each in wanted.values() if before.get(each.id) != each.fingerprint]
    changed = tuple(each.id for each in fresh if each.id in before)
    for document in (*removed, *changed):
        writer.delete_documents_by_term(DOCUMENT, document)
    pages = sum(_add(writer, connection, release, document) for document in fresh)
    _forget(writer, release.site)
    writer.add_document(contents.summary_entry(_summary(connection, release, wanted.values())))
    manifest = {each.id: each.fingerprint for each in wanted.values()}
    writer.add_document(contents.manifest_entry(release.site, manifest))
    added = tuple(each.id for each in fresh if each.id not in before)
    return Synced(release.site, added, changed, removed, pages)


def _forget(writer: IndexWriter, site: str) -> None:
    for field in (SUMMARY_OF, MANIFEST_OF):
        writer.delete_documents_by_term(field, site)


def _summary(
    connection: sqlite3.Connection, release: Release, documents: Iterable[IndexedDocument]
) -> Summary:
    current = [each for each in documents if not each.superseded]
    days = [each.day for each in current if each.day]
    pages = connection.execute(
        "SELECT coalesce(sum(pages), 0) FROM documents WHERE NOT coalesce(superseded, 0)"
    ).fetchone()[0]
    return Summary(
        site=release.site,
        version=release.version,
        state=release.state,
        documents=len(current),
        pages=pages,
        first_day=min(days, default=0),
        last_day=max(days, default=0),
    )


def _add(
    writer: IndexWriter, connection: sqlite3.Connection, release: Release, document: IndexedDocument
) -> int:
    count = 0
    for page in pages_of(connection, document.id):
        writer.add_document(page_entry(release.site, release.state, document, page))
        count += 1
    return count


def page_entry(site: str, state: str, document: IndexedDocument, page: IndexedPage) -> Document:
    entry = Document()
    entry.add_text(OLD_TEXT if document.superseded else TEXT, page.text)
    entry.add_text(SHELF, SUPERSEDED if document.superseded else CURRENT)
    for field, value in (
        (SITE, site),
        (STATE, state),
        (DOCUMENT, document.id),
        (BODY, document.body),
        (KIND, document.kind),
        (METHOD, page.method),
    ):
        entry.add_text(field, value)
    entry.add_unsigned(DAY, document.day)
    entry.add_unsigned(YEAR, document.day // 10_000)
    entry.add_unsigned(PLACE, place_of(document, page.number))
    entry.add_unsigned(PAGE, page.number)
    return entry


def place_of(document: IndexedDocument, page: int) -> int:
    """Its place in the order of time, the newest highest: the day, then the document, then the first pages.

    No two pages share one (documents of one day by 27 bits of their id), so a reader can go on after any.
    """
    year, rest = divmod(document.day, 10_000)
    day = date(year, rest // 100, rest % 100).toordinal() if document.day else 0
    mixed = zlib.crc32(document.id.encode()) & ((1 << 27) - 1)
    return day << 43 | mixed << 16 | (MOST_PAGES - 1 - min(page, MOST_PAGES - 1))
