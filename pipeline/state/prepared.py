"""An UPDATE written once with the ORM and run many times, inside a transaction, by the driver itself.

The ORM takes longer to build it, and its cursors to pass it on, than the database to run it; on SQLite, where
that counts most, a writer holds the one lock meanwhile.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models.expressions import Expression
from django.db.models.sql import UpdateQuery


class Param(Expression):
    """A place for a value, by name, wherever the ORM takes a value."""

    def __init__(self, name: str, field: models.Field) -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        return "%s", (self,)

    def adapt(self, value: Any) -> Any:
        """As the driver takes it; numbers and text need no change."""
        return self.output_field.get_db_prep_value(value, connections[DEFAULT_DB_ALIAS])


class PreparedUpdate:
    """`PreparedUpdate(row, [returned column], column=Param(…))`, of one row at most.

    Called with the values by name it gives those columns as they are then, or None: there was no such row.
    """

    def __init__(self, row: models.QuerySet, returning: Sequence[str], **values: Any) -> None:
        self._query: UpdateQuery = row.query.chain(UpdateQuery)  # type: ignore[assignment]
        self._query.add_update_values(values)
        self._returning = ", ".join(returning)
        self._compiled = cache(self._compile)

    def __call__(self, values: dict[str, Any]) -> tuple[Any, ...] | None:
        connection = connections[DEFAULT_DB_ALIAS]
        sql, params = self._compiled(connection.vendor)
        filled = [values[param.name] if isinstance(param, Param) else param for param in params]
        with connection.wrap_database_errors:
            changed = connection.connection.execute(sql, filled).fetchall()
        return changed[0] if changed else None

    def _compile(self, vendor: str) -> tuple[str, tuple[Any, ...]]:
        update, params = self._query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
        if vendor == "sqlite":
            update = update.replace("%s", "?")
        return f"{update} RETURNING {self._returning}", params
