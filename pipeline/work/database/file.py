"""Changes a SQLite file in one transaction: readers, and a process killed half-way, see all of it or nothing.

A small change to a large database must not cost a copy of it: it goes through SQLite's write-ahead log, while
a new database is built beside and renamed. Between writers the file stands alone, its log folded in again.
"""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

# Enough for the upper levels of every index of a large site; more gains nothing.
CACHE_KB = 65_536


@contextmanager
def writing(database: Path) -> Iterator[None]:
    """One writer at a time: a worker that lost its job may still be at work when the next one starts."""
    database.parent.mkdir(parents=True, exist_ok=True)
    with database.with_name(f".{database.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def filling(database: Path) -> Iterator[sqlite3.Connection]:
    """A file nobody else sees yet: a crash throws it away, so a journal would protect nothing."""
    with _connected(database, journal_mode="OFF", synchronous="OFF") as connection:
        with _transaction(connection, "BEGIN"):
            yield connection


@contextmanager
def changing(database: Path) -> Iterator[sqlite3.Connection]:
    """One transaction over a database in use, committed when the block ends well."""
    with _connected(database, journal_mode="WAL", synchronous="NORMAL") as connection:
        with _transaction(connection, "BEGIN IMMEDIATE"):
            yield connection
        _fold_log(connection)


@contextmanager
def _connected(database: Path, **pragmas: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database, isolation_level=None, timeout=60)) as connection:
        for name, value in {"cache_size": -CACHE_KB, "temp_store": "FILE", **pragmas}.items():
            connection.execute(f"PRAGMA {name} = {value}")
        yield connection


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    yield
    connection.execute("COMMIT")


def _fold_log(connection: sqlite3.Connection) -> None:
    """Leave one plain file behind. A reader that has it open prevents that, and then the log may stay."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError:
        return


def forget_log(database: Path) -> None:
    for suffix in ("-wal", "-shm", "-journal"):
        database.with_name(f"{database.name}{suffix}").unlink(missing_ok=True)


def copy_database(database: Path, copy: Path) -> None:
    """A copy of one moment of the database, whatever is in its log, to a name nobody else sees yet."""
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as target:
        target.execute("PRAGMA synchronous = OFF")
        source.backup(target)
