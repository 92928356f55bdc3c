"""An UPDATE written once with the ORM and run many times.

The ORM takes longer to build it than the database to run it; on SQLite, where that counts most, a
writer holds the one lock while its statements are built.
"""

from functools import cache
from typing import Any

from django.db import connection, models
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
        return self.output_field.get_db_prep_value(value, connection)


class PreparedUpdate:
    """`PreparedUpdate(rows, column=Param(…))`; called with the values it gives the number of rows changed."""

    def __init__(self, rows: models.QuerySet, **values: Any) -> None:
        self._query: UpdateQuery = rows.query.chain(UpdateQuery)  # type: ignore[assignment]
        self._query.add_update_values(values)
        self._compiled = cache(self._compile)

    def __call__(self, **values: Any) -> int:
        sql, params = self._compiled(connection.alias)
        filled = [param.adapt(values[param.name]) if isinstance(param, Param) else param for param in params]
        with connection.cursor() as cursor:
            cursor.execute(sql, filled)
            return cursor.rowcount

    def _compile(self, alias: str) -> tuple[str, tuple[Any, ...]]:
        return self._query.get_compiler(alias).as_sql()
