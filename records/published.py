"""A site's records as they were deployed: its database, opened for reading only, and what is asked of it."""

import re
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.http import Http404

from pipeline.stages.deploy import databases_dir

SITE_NAME = re.compile(r"[\w][\w.-]*")
DOCUMENT_COLUMNS = (
    "id, meeting_id, title, body, date, kind, url, source, version, superseded, sha256, content_type,"
    " fetched_at, pages"
)


@dataclass(frozen=True)
class PublishedSite:
    id: str
    name: str
    state: str
    kind: str
    country: str

    @property
    def title(self) -> str:
        return self.name or self.id


@dataclass(frozen=True)
class PublishedDocument:
    site: str
    id: str
    meeting: str
    title: str
    body: str
    date: str
    kind: str
    url: str
    source: str
    version: int
    superseded: bool
    sha256: str
    content_type: str
    fetched_at: str
    pages: int

    @property
    def name(self) -> str:
        """What people call it: its title, or whose meeting it is of and what it is."""
        return self.title or " ".join(filter(None, (self.body, self.kind))) or "Document"

    @property
    def is_web_address(self) -> bool:
        return self.url.startswith(("http://", "https://"))


@dataclass(frozen=True)
class PublishedPage:
    number: int
    text: str
    method: str
    confidence: float | None


class Records:
    """One site's database. Ask it inside `records_of`."""

    def __init__(self, site_id: str, connection: sqlite3.Connection) -> None:
        self.site_id = site_id
        self.connection = connection

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        return self.connection.execute(query, values).fetchall()

    def row(self, query: str, *values: object) -> sqlite3.Row | None:
        found: sqlite3.Row | None = self.connection.execute(query, values).fetchone()
        return found

    def site(self) -> PublishedSite:
        row = self.row("SELECT subdomain, name, state, kind, country FROM site")
        told = [value or "" for value in row] if row else [self.site_id, "", "", "", ""]
        return PublishedSite(*told)

    def document(self, document_id: str) -> PublishedDocument | None:
        return next(iter(self.documents("WHERE id = ?", document_id)), None)

    def documents(self, rest: str = "", *values: object) -> list[PublishedDocument]:
        """Documents by the end of a query, such as `WHERE kind = ? ORDER BY date DESC LIMIT 20`."""
        query = f"SELECT {DOCUMENT_COLUMNS} FROM documents {rest}"  # noqa: S608
        return [self._document(row) for row in self.rows(query, *values)]

    def _document(self, row: sqlite3.Row) -> PublishedDocument:
        told: list[Any] = ["" if value is None else value for value in row]
        told[8], told[9], told[13] = int(told[8] or 1), bool(told[9]), int(told[13] or 0)
        return PublishedDocument(self.site_id, *told)

    def page(self, document_id: str, number: int) -> PublishedPage | None:
        row = self.row(
            "SELECT page, text, method, confidence FROM pages WHERE document_id = ? AND page = ?",
            document_id,
            number,
        )
        return _page(row) if row else None

    def pages(self, document_id: str) -> Iterator[PublishedPage]:
        query = "SELECT page, text, method, confidence FROM pages WHERE document_id = ? ORDER BY page"
        return map(_page, self.connection.execute(query, (document_id,)))

    def page_numbers(self, document_id: str) -> list[int]:
        query = "SELECT page FROM pages WHERE document_id = ? ORDER BY page"
        return [row[0] for row in self.rows(query, document_id)]

    def texts(self, document_id: str, numbers: Iterable[int]) -> dict[int, PublishedPage]:
        pages = (self.page(document_id, number) for number in numbers)
        return {page.number: page for page in pages if page}


def _page(row: Any) -> PublishedPage:
    number, text, method, confidence = row
    return PublishedPage(number, text or "", method or "", confidence)


def database_of(site_id: str) -> Path | None:
    """The file that is served now. The link is followed once, so that all of an answer is of one version."""
    if not SITE_NAME.fullmatch(site_id):
        return None
    link = databases_dir() / f"{site_id}.db"
    # What stands beside them, such as one database over all sites, is no site's.
    return link.resolve() if link.is_symlink() and link.exists() else None


@contextmanager
def opened(site_id: str) -> Iterator[Records | None]:
    """The site's records, or None where nothing of it is deployed."""
    database = database_of(site_id)
    if database is None:
        yield None
        return
    yield Records(site_id, connected(database))


class _Kept(threading.local):
    """A thread's last connections: opening a database costs more than asking it for a page."""

    def __init__(self) -> None:
        self.connections: OrderedDict[Path, sqlite3.Connection] = OrderedDict()


KEPT_CONNECTIONS = 24
_kept = _Kept()


def connected(database: Path) -> sqlite3.Connection:
    """A published file never changes, so SQLite need not look whether it did. Its last user closes it."""
    connections = _kept.connections
    if database not in connections:
        address = f"{database.as_uri()}?mode=ro&immutable=1"
        connections[database] = sqlite3.connect(address, uri=True)
        connections[database].row_factory = sqlite3.Row
    connections.move_to_end(database)
    found = connections[database]
    while len(connections) > KEPT_CONNECTIONS:
        connections.popitem(last=False)
    return found


@contextmanager
def records_of(site_id: str) -> Iterator[Records]:
    """The same for a page about the site: without records there is no such page."""
    with opened(site_id) as records:
        if records is None:
            raise Http404("nothing of this site is published")
        yield records
