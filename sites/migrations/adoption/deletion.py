"""Going back deletes what Clerk's own tables hold: it says how much, and asks first."""

from collections.abc import Iterable, Iterator
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections
from django.db.migrations import CreateModel, Migration

from sites.migrations.adoption.columns import table_exists
from sites.migrations.adoption.operations import AdoptModel

log = structlog.get_logger()
OURS = {"sites", "pipeline", "records"}


class DeletionRefused(CommandError):
    """The message says what would be lost. Nothing was changed."""


def refuse_silent_deletion(plan: Iterable[tuple[Migration, bool]], using: str, **kwargs: Any) -> None:
    """Before the first step of a plan: later the tables are gone one by one, and it is too late to ask."""
    backwards = [migration for migration, is_backwards in plan if is_backwards]
    counts = {table: count for table in _tables_of(backwards) if (count := _rows_in(using, table))}
    if not counts:
        return
    lost = ", ".join(f"{count} rows of {table}" for table, count in sorted(counts.items()))
    if settings.CLERK_ALLOW_DELETION:
        log.warning("deletion allowed by CLERK_ALLOW_DELETION", lost=counts)
        return
    raise DeletionRefused(
        f"this goes backwards and would delete {lost}; nothing was changed. Save them first if you want to"
        " come back (docs/rollback.md). CLERK_ALLOW_DELETION=1 goes back all the same."
    )


def _tables_of(migrations: Iterable[Migration]) -> Iterator[str]:
    """The tables that these migrations created. One that was adopted stays."""
    for migration in migrations:
        for operation in migration.operations if migration.app_label in OURS else ():
            if isinstance(operation, CreateModel) and not isinstance(operation, AdoptModel):
                yield operation.options.get("db_table") or f"{migration.app_label}_{operation.name_lower}"


def _rows_in(using: str, table: str) -> int:
    connection = connections[using]
    if not table_exists(connection, table):
        return 0
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT count(*) FROM "{table}"')
        return int(cursor.fetchone()[0])
