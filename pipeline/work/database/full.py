"""One database over all sites, from the databases of each."""

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pipeline.work.database import schema
from pipeline.work.database.fact_tables import NAMES
from pipeline.work.database.file import filling
from pipeline.work.files import replacing

BY_SITE = ("meetings", "documents", "pages", *NAMES)


@dataclass(frozen=True)
class Built:
    sites: int
    pages: int
    skipped: tuple[str, ...]
    seconds: float


def build_full_database(
    output: Path, databases: Iterable[tuple[str, Path]], left_out: Iterable[str] = ()
) -> Built:
    """Every site's rows, with a column that says whose they are; sites not compiled yet are left out.

    `left_out`: documents that nobody may read, by their ids.
    """
    started = time.monotonic()
    sites, skipped = 0, []
    with replacing(output) as building:
        schema.create_tables(building)
        with filling(building) as connection:
            for name in BY_SITE:
                connection.execute(f'ALTER TABLE "{name}" ADD COLUMN subdomain TEXT')
            for subdomain, database in databases:
                if schema.is_current(database):
                    _add_site(connection, subdomain, database)
                    sites += 1
                else:
                    skipped.append(subdomain)
            _leave_out(connection, left_out)
            _finish(connection)
            pages = connection.execute("SELECT count(*) FROM pages").fetchone()[0]
    return Built(sites, pages, tuple(skipped), time.monotonic() - started)


def _add_site(connection: sqlite3.Connection, subdomain: str, database: Path) -> None:
    # A database cannot be attached inside a transaction; this file is nobody's until it is renamed.
    connection.execute("COMMIT")
    connection.execute("ATTACH ? AS one", (str(database),))
    connection.execute("BEGIN")
    connection.execute("INSERT INTO site SELECT * FROM one.site")
    for name in BY_SITE:
        rows = f'SELECT *, ? FROM one."{name}"'  # noqa: S608
        connection.execute(f'INSERT INTO main."{name}" {rows}', (subdomain,))
    connection.execute("COMMIT")
    connection.execute("DETACH one")
    connection.execute("BEGIN")


def _leave_out(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Before the index is made, so that no word of them is in it either."""
    connection.execute("PRAGMA secure_delete = ON")
    for document in ids:
        for table in (*NAMES, "pages"):
            connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (document,))  # noqa: S608
        connection.execute("DELETE FROM documents WHERE id = ?", (document,))


def _finish(connection: sqlite3.Connection) -> None:
    schema.index_pages(connection)
    for name in BY_SITE:
        connection.execute(f'CREATE INDEX "idx_{name}_subdomain" ON "{name}" (subdomain)')
    for name in schema.OWN_TABLES:
        connection.execute(f"DROP TABLE {name}")
