"""One at a time on a whole installation: an advisory lock of PostgreSQL, a locked file beside SQLite."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.db import connection


@dataclass(frozen=True)
class Lock:
    """Any number will do, as long as nothing else on this database uses it."""

    number: int
    name: str


RECONCILE_LOCK = Lock(5_310_001, "reconcile")
# How long a repair waits for a lock.
LOCK_SECONDS = 2
LOCK_NOT_AVAILABLE = "55P03"


@contextmanager
def only_one(lock: Lock = RECONCILE_LOCK) -> Iterator[bool]:
    """True for the one who holds it; False at once for everybody else."""
    if connection.vendor == "postgresql":
        with _advisory_lock(lock.number) as held:
            yield held
    else:
        with _file_lock(Path(f"{connection.settings_dict['NAME']}.{lock.name}.lock")) as held:
            yield held


@contextmanager
def short_waits() -> Iterator[None]:
    """For a whole pass: a site that somebody holds locked is left for the next one."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout')")
        before = cursor.fetchone()[0]
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [f"{LOCK_SECONDS}s"])
    try:
        yield
    finally:
        if connection.connection is not None and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('lock_timeout', %s, false)", [before])


def timed_out(error: Exception) -> bool:
    """Whether somebody else's lock was in the way: by PostgreSQL's code, or in SQLite's words."""
    return getattr(error.__cause__, "sqlstate", "") == LOCK_NOT_AVAILABLE or "is locked" in str(error)


@contextmanager
def _advisory_lock(number: int) -> Iterator[bool]:
    """Held by the connection: when this process dies, however it dies, the lock is gone."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [number])
        held = cursor.fetchone()[0]
    try:
        yield held
    finally:
        # A connection that broke meanwhile has lost the lock, and there is nothing to give back.
        if held and connection.connection is not None and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [number])


@contextmanager
def _file_lock(path: Path) -> Iterator[bool]:
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True  # closing the file gives it back
