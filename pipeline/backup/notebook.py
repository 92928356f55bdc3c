"""What a back-up must remember while it works and no memory should hold: one small database in a file."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE there (digest TEXT PRIMARY KEY, size INTEGER) WITHOUT ROWID;
CREATE TABLE wanted (digest TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE documents (site TEXT, stem TEXT, PRIMARY KEY (site, stem)) WITHOUT ROWID;
CREATE TABLE before (path TEXT PRIMARY KEY, entry TEXT) WITHOUT ROWID;
"""


class Notebook:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.executescript(SCHEMA)

    # ---- Objects: those that the target has, and those that some back-up needs ----

    def note_there(self, found: Iterable[tuple[str, int]]) -> None:
        self._connection.executemany("INSERT OR REPLACE INTO there VALUES (?, ?)", found)

    def size_there(self, digest: str) -> int | None:
        row = self._connection.execute("SELECT size FROM there WHERE digest = ?", (digest,)).fetchone()
        return row[0] if row else None

    def note_gone(self, digest: str) -> None:
        self._connection.execute("DELETE FROM there WHERE digest = ?", (digest,))

    def want(self, digests: Iterable[str]) -> None:
        self._connection.executemany("INSERT OR IGNORE INTO wanted VALUES (?)", ((each,) for each in digests))

    def want_nothing(self) -> None:
        self._connection.execute("DELETE FROM wanted")

    def missing(self) -> Iterator[str]:
        found = self._connection.execute("SELECT digest FROM wanted EXCEPT SELECT digest FROM there")
        return (row[0] for row in found)

    def unwanted(self) -> Iterator[tuple[str, int]]:
        return self._connection.execute(
            "SELECT digest, size FROM there WHERE digest NOT IN (SELECT digest FROM wanted)"
        )

    def wanted(self) -> Iterator[str]:
        return (row[0] for row in self._connection.execute("SELECT digest FROM wanted"))

    # ---- Documents that the database knew at its moment ----

    def note_documents(self, found: Iterable[tuple[str, str]]) -> None:
        self._connection.executemany("INSERT OR IGNORE INTO documents VALUES (?, ?)", found)

    def knows(self, site: str, *stems: str) -> bool:
        marks = ", ".join("?" * len(stems))
        query = f"SELECT 1 FROM documents WHERE site = ? AND stem IN ({marks})"  # noqa: S608
        return self._connection.execute(query, (site, *stems)).fetchone() is not None

    # ---- How the files of one folder were at the back-up before ----

    def note_before(self, entries: Iterable[tuple[str, str]]) -> None:
        self._connection.execute("DELETE FROM before")
        self._connection.executemany("INSERT OR REPLACE INTO before VALUES (?, ?)", entries)

    def before(self, path: str) -> str | None:
        row = self._connection.execute("SELECT entry FROM before WHERE path = ?", (path,)).fetchone()
        return row[0] if row else None


@contextmanager
def notebook(scratch: Path) -> Iterator[Notebook]:
    with closing(sqlite3.connect(scratch / "notebook.sqlite3", isolation_level=None)) as connection:
        yield Notebook(connection)
