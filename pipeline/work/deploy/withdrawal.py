"""Takes documents out of a database that is ready for readers, leaving nothing of them in the file."""

import hashlib
import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from pipeline.work.database.fact_tables import NAMES


def documents_in(database: Path, document_ids: Collection[str]) -> set[str]:
    """Which of these documents the database holds."""
    address = f"{database.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        marks = ", ".join("?" * len(document_ids))
        query = f"SELECT id FROM documents WHERE id IN ({marks})"  # noqa: S608
        return {row[0] for row in connection.execute(query, list(document_ids))}


def withdraw_documents(database: Path, document_ids: Collection[str]) -> set[str]:
    """Take these out of a file that nobody reads yet; those that were in it."""
    held = documents_in(database, document_ids) if document_ids else set()
    if held:
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            # What is deleted is written over, not only forgotten.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN")
            for document_id in sorted(held):
                _delete(connection, document_id)
            _count_meetings(connection)
            # The words of a deleted page would stay in the index until it is merged.
            connection.execute("INSERT INTO pages_fts (pages_fts) VALUES ('rebuild')")
            connection.execute("COMMIT")
    return held


def _delete(connection: sqlite3.Connection, document_id: str) -> None:
    for table in (*NAMES, "pages"):
        connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))  # noqa: S608
    connection.execute("DELETE FROM documents WHERE id = ?", (document_id,))


def _count_meetings(connection: sqlite3.Connection) -> None:
    connection.execute(
        "UPDATE meetings SET documents = (SELECT count(*) FROM documents WHERE meeting_id = meetings.id),"
        " pages = (SELECT coalesce(sum(pages), 0) FROM documents WHERE meeting_id = meetings.id)"
    )
    connection.execute("DELETE FROM meetings WHERE documents = 0")


def digest_without(digest: str, left_out: Collection[str]) -> str:
    """The name of the content without these documents."""
    if not left_out:
        return digest
    return hashlib.sha256(" ".join((digest, *sorted(left_out))).encode()).hexdigest()


def version_without(version: str, left_out: Collection[str]) -> str:
    stamp, _, digest = version.rpartition("-")
    return f"{stamp}-{digest_without(digest, left_out)[:12]}"
