"""The old system's own database of a site, `meetings.db`: what readers were shown, page by page.

It was built from the texts in storage, and sometimes it is all that is left of them.
"""
# ruff: noqa: S608 - the names of tables here are our own constants

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path, PurePosixPath

from pipeline.work.database.schema import Extent
from pipeline.work.files import write_text
from sites.storage import AGENDAS, SiteFiles

TABLES = {"minutes": "", "agendas": AGENDAS}
# What no folder and no file may be called, or what nobody would look into.
UNSAFE = re.compile(r"[\x00\\]|(?:^|(?<=/))\.+|^/+|/+$")
NOTHING = Extent(0, 0)
# A blank page is a row there and nothing that anybody could read.
SAYS_SOMETHING = "trim(text, char(9, 10, 11, 12, 13, 32)) <> ''"


@dataclass(frozen=True)
class OldText:
    """One page as it was shown, and where its text lies or would lie in storage."""

    path: str
    text: str


def find(files: SiteFiles) -> Path | None:
    """The old system's database; after the first compilation the copy of it that was kept."""
    return next((path for path in (files.kept_database, files.database) if _tables(path)), None)


def counts(database: Path | None) -> Extent:
    if database is None:
        return NOTHING
    with closing(_open(database)) as connection:
        pages = documents = 0
        for table in _tables(database):
            pages += _number(connection, f"SELECT count(*) FROM {table} WHERE {SAYS_SOMETHING}")
            shown = f"SELECT DISTINCT meeting, date FROM {table} WHERE {SAYS_SOMETHING}"
            documents += _number(connection, f"SELECT count(*) FROM ({shown})")
    return Extent(pages, documents)


def texts_to_bring(files: SiteFiles) -> Iterator[OldText]:
    """The pages that only the old database has: no text in storage says what they say."""
    database = find(files)
    for text in _texts(database) if database else ():
        page = files.file(text.path)
        whole = page.parent.with_name(f"{page.parent.name}.txt")
        if text.text.strip() and not _says_anything(whole) and not _says_anything(page):
            yield text


def bring(files: SiteFiles, text: OldText) -> Path:
    page = files.file(text.path)
    write_text(page, text.text)
    return page


def _texts(database: Path) -> Iterator[OldText]:
    with closing(_open(database)) as connection:
        for table in _tables(database):
            # Rows that lie in the table twice are one page; two texts of one number are two pages.
            rows = connection.execute(
                f"SELECT DISTINCT coalesce(meeting, ''), coalesce(date, ''), page, text FROM {table}"
                " WHERE text IS NOT NULL ORDER BY 1, 2, page, text"
            )
            for (meeting, day), pages in groupby(rows, key=lambda row: (str(row[0]), str(row[1]))):
                folder = PurePosixPath(TABLES[table], "txt", _safe(meeting, "Meeting"), _safe(day, "undated"))
                for number, text in _numbered([(page, str(text)) for _, _, page, text in pages]):
                    yield OldText(str(folder / f"{number}.txt"), text)


def _numbered(pages: list[tuple[object, str]]) -> Iterator[tuple[int, str]]:
    taken: set[int] = set()
    left: list[str] = []
    for page, text in pages:
        if isinstance(page, int) and page >= 0 and page not in taken:
            taken.add(page)
            yield page, text
        else:
            left.append(text)
    yield from enumerate(left, start=max(taken, default=0) + 1)


def _safe(name: str, otherwise: str) -> str:
    return UNSAFE.sub("_", name.strip())[:200] or otherwise


def _says_anything(file: Path) -> bool:
    try:
        return bool(file.read_bytes().strip())
    except OSError:
        return False


def _tables(database: Path) -> list[str]:
    """Those of the two that are there, each with the columns that matter."""
    if not database.is_file():
        return []
    with closing(_open(database)) as connection:
        return [name for name in TABLES if _columns(connection, name) >= {"meeting", "date", "page", "text"}]


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    try:
        return {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", [table])}
    except sqlite3.DatabaseError:
        return set()


def _number(connection: sqlite3.Connection, question: str) -> int:
    return int(connection.execute(question).fetchone()[0])


def _open(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, timeout=60)
    connection.text_factory = lambda content: content.decode("utf-8", "replace")
    return connection
