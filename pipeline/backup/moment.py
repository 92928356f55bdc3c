"""The database at one moment, whatever jobs write meanwhile, and the tables that it has."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.apps.registry import Apps
from django.db import connections, models, transaction
from django.db.migrations.loader import MigrationLoader

ALIAS = "one_moment"
# Sessions are as good as passwords and soon over; people log in again.
LEFT_OUT = {"sessions.Session"}
# A long read is no reason to be cut off.
NO_LIMITS = (
    "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c default_transaction_read_only=on"
)


@contextmanager
def one_moment() -> Iterator[str]:
    """The alias of a connection that sees one moment of the database; writers do not wait for it."""
    copy = connections["default"].copy()
    _set_options(copy.settings_dict["OPTIONS"], copy.vendor)
    connections[ALIAS] = copy
    try:
        with transaction.atomic(using=ALIAS):
            yield ALIAS
    finally:
        copy.close()
        del connections[ALIAS]


def _set_options(options: dict[str, Any], vendor: str) -> None:
    if vendor == "postgresql":
        options["options"] = f"{options.get('options', '')} {NO_LIMITS}".strip()
        options["isolation_level"] = psycopg.IsolationLevel.REPEATABLE_READ
    else:
        # Deferred: a reader of the log beside which others write. IMMEDIATE would lock them out.
        options["transaction_mode"] = "DEFERRED"


def applied(alias: str) -> list[list[str]]:
    loader = MigrationLoader(connections[alias])
    return sorted(list(key) for key in loader.applied_migrations if key in loader.graph.nodes)


def tables_at(migrations: list[list[str]]) -> list[type[models.Model]]:
    """The models as these migrations left them, in a stable order: columns that are gone since included."""
    loader = MigrationLoader(None)
    state = loader.project_state([(app, name) for app, name in migrations], at_end=True)
    found = _models(state.apps)
    return sorted(found, key=lambda model: model._meta.label)


def _models(apps: Apps) -> list[type[models.Model]]:
    return [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model._meta.label not in LEFT_OUT
    ]
