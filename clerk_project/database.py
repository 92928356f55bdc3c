"""The database's settings, from its URL: PostgreSQL or SQLite."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured


def _keep_private(database: Path) -> None:
    """Nobody but its owner reads it: it holds sessions, password hashes and the keys of webhooks.

    SQLite gives its log and its shared memory the mode of the database itself.
    """
    if str(database) == ":memory:":
        return
    database.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(PermissionError):  # another user's: its owner sees to it
        os.close(os.open(database, os.O_CREAT | os.O_RDONLY, 0o600))
        database.chmod(database.stat().st_mode & 0o770)


def configured(url: str, seconds: Mapping[str, float]) -> dict[str, Any]:
    """Django's settings of the database that the URL names; on PostgreSQL with these limits."""
    try:
        config: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=60))
    except ValueError as error:
        # The value itself may hold a password.
        raise ImproperlyConfigured(
            "DATABASE_URL: expected postgres://user:password@host/name or sqlite:////path/to/file"
        ) from error
    if config["ENGINE"] == "django.db.backends.sqlite3":
        _keep_private(Path(config["NAME"]))
        # A file, not memory: the tests' worker processes must see it too.
        config["TEST"] = {"NAME": f"{config['NAME']}.test"}
        # IMMEDIATE takes the write lock when the transaction opens, so that writers queue instead of failing.
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            # The log is written back and synced every 40 MB: at the default of 4 MB that is a third of what
            # it costs to finish a job.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=20000; "
            "PRAGMA wal_autocheckpoint=10000",
        }
    elif config["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL: Clerk runs on PostgreSQL and on SQLite")
    else:
        config["OPTIONS"] = _limits(seconds) | config.get("OPTIONS", {})
    return config


def _limits(seconds: Mapping[str, float]) -> dict[str, Any]:
    """So that a machine that died in the middle of something holds nobody up for long. 0 sets no limit."""
    told = " ".join(f"-c {name}={round(1000 * limit)}" for name, limit in seconds.items())
    return {"options": told, "connect_timeout": 10, "keepalives_idle": 30, "keepalives_count": 4}
