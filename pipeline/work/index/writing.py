"""Brings the index up to a deployed database: a site's change is in it whole or not at all."""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path

from tantivy import Document, Index, IndexWriter, Query

from pipeline.work.index import contents, generations
from pipeline.work.index.contents import Manifest, Summary
from pipeline.work.index.deployed import (
    IndexedDocument,
    IndexedPage,
    document_of,
    fingerprints_of,
    in_short,
    pages_of,
    reading,
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
    schema,
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
            synced = sync(create_index(folder), site, version, database)
            generations.serve(root, folder)
        else:
            synced = sync(open_index(folder), site, version, database)
    return synced


def remove_site(root: Path, site: str) -> int:
    """Take a whole site out; how many documents that were."""
    with _changing(root) as index:
        if index is None:
            return 0
        return forget_site(index, site)


def forget_site(index: Index, site: str) -> int:
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
        pages = len(searcher.search(Query.term_query(schema(), DOCUMENT, document), limit=MOST_PAGES).hits)
        # The version stays: the next deploy compares the documents, whatever the version says.
        left = replace(summary, documents=summary.documents - 1, pages=summary.pages - pages)
        with _committing(index) as writer:
            writer.delete_documents_by_term(DOCUMENT, document)
            _forget(writer, site)
            writer.add_document(contents.summary_entry(left))
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


def sync(index: Index, site: str, version: str, database: Path) -> Synced:
    """The same for an index that nobody else writes to."""
    index.reload()
    searcher = index.searcher()
    before, known = contents.manifest_of(searcher, site), contents.summary_of(searcher, site)
    with reading(database) as connection:
        wanted = fingerprints_of(connection)
        summary = Summary(site, version, **asdict(in_short(connection)))
        if known and known.state != summary.state:
            # Every page says which state it is from.
            before = dict.fromkeys(before, "")
        with _committing(index) as writer:
            return _write(writer, connection, summary, before, wanted)


def _write(
    writer: IndexWriter, connection: sqlite3.Connection, summary: Summary, before: Manifest, wanted: Manifest
) -> Synced:
    removed = tuple(document for document in before if document not in wanted)
    fresh = [document for document, mark in wanted.items() if before.get(document) != mark]
    changed = tuple(document for document in fresh if document in before)
    for document in (*removed, *changed):
        writer.delete_documents_by_term(DOCUMENT, document)
    pages = sum(_add(writer, connection, summary, document) for document in fresh)
    _forget(writer, summary.site)
    writer.add_document(contents.summary_entry(summary))
    writer.add_document(contents.manifest_entry(summary.site, wanted))
    added = tuple(document for document in fresh if document not in before)
    return Synced(summary.site, added, changed, removed, pages)


def _forget(writer: IndexWriter, site: str) -> None:
    for field in (SUMMARY_OF, MANIFEST_OF):
        writer.delete_documents_by_term(field, site)


def _add(writer: IndexWriter, connection: sqlite3.Connection, summary: Summary, identity: str) -> int:
    document, count = document_of(connection, identity), 0
    for page in pages_of(connection, identity):
        writer.add_document(page_entry(summary.site, summary.state, document, page))
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
