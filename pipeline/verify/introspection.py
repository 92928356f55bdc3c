"""What the tables of the database have: columns with their defaults, indexes and constraints by name."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connection
from django.db.models import Field

# Of a table's own definition, as the migrations write it.
INLINE = re.compile(r'CONSTRAINT "?(\w+)"? (UNIQUE|CHECK) \(([^)]*)\)', re.IGNORECASE)


@dataclass(frozen=True)
class Constraint:
    """An index or a constraint. Of a CHECK only its name is compared, so it has no columns here."""

    columns: tuple[str, ...] = ()
    unique: bool = False
    check: bool = False
    partial: bool = False


def names(cursor: Any) -> set[str]:
    return set(connection.introspection.table_names(cursor))


def columns(cursor: Any, table: str) -> dict[str, str | None]:
    """Each column's default."""
    if connection.vendor == "sqlite":
        cursor.execute("SELECT name, dflt_value FROM pragma_table_info(%s)", [table])
        return dict(cursor.fetchall())
    found = connection.introspection.get_table_description(cursor, table)
    return {column.name: column.default for column in found}


@dataclass(frozen=True)
class Shape:
    """What a column takes. In SQLite a type is only a leaning, and is not compared."""

    type: str
    nullable: bool

    def __str__(self) -> str:
        return f"{self.type} {'NULL' if self.nullable else 'NOT NULL'}".strip()


def shapes(cursor: Any, table: str) -> dict[str, Shape]:
    if connection.vendor == "sqlite":
        cursor.execute('SELECT name, "notnull" FROM pragma_table_info(%s)', [table])
        return {name: Shape("", not filled) for name, filled in cursor.fetchall()}
    cursor.execute(
        "SELECT attname, atttypid::regtype::text, NOT attnotnull FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
        [table],
    )
    return {name: Shape(kind, nullable) for name, kind, nullable in cursor.fetchall()}


def wanted_shapes(cursor: Any, fields: "list[Field[Any, Any]]") -> dict[str, Shape]:
    """Of all but the keys, which no table lacks."""
    wanted = [field for field in fields if not field.primary_key]
    kinds = [""] * len(wanted)
    if connection.vendor != "sqlite":
        types = [field.db_type(connection) for field in wanted]
        cursor.execute("SELECT to_regtype(kind)::text FROM unnest(%s::text[]) AS kind", [types])
        kinds = [kind for (kind,) in cursor.fetchall()]
    return {str(field.column): Shape(kind, field.null) for field, kind in zip(wanted, kinds, strict=True)}


def constraints(cursor: Any, table: str) -> dict[str, Constraint]:
    read: Callable[[Any, str], dict[str, Constraint]] = (
        _sqlite_constraints if connection.vendor == "sqlite" else _postgresql_constraints
    )
    return read(cursor, table)


def _postgresql_constraints(cursor: Any, table: str) -> dict[str, Constraint]:
    found = connection.introspection.get_constraints(cursor, table)
    cursor.execute(
        "SELECT indexname FROM pg_indexes WHERE tablename = %s AND indexdef LIKE '%% WHERE %%'", [table]
    )
    partial = {name for (name,) in cursor.fetchall()}
    return {
        name: Constraint(
            tuple(one["columns"] or ()), bool(one["unique"]), bool(one["check"]), name in partial
        )
        for name, one in found.items()
    }


def _sqlite_constraints(cursor: Any, table: str) -> dict[str, Constraint]:
    """By hand: Django takes a table's own CHECK (x IN (0, 1)), as old tools write it, for a column."""
    cursor.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = %s", [table])
    (definition,) = cursor.fetchone()
    found = {name: _inline(kind, inside) for name, kind, inside in INLINE.findall(definition)}
    cursor.execute(
        'SELECT list.name, list."unique", list.partial, info.name FROM pragma_index_list(%s) AS list,'
        " pragma_index_info(list.name) AS info ORDER BY list.name, info.seqno",
        [table],
    )
    for name, rows in groupby(cursor.fetchall(), key=itemgetter(0)):
        (_, unique, partial, first), *others = rows
        columns = (first, *(column for *_, column in others))
        found[name] = Constraint(columns, bool(unique), partial=bool(partial))
    return found


def _inline(kind: str, inside: str) -> Constraint:
    if kind.upper() == "CHECK":
        return Constraint(check=True)
    return Constraint(tuple(name.strip(' "') for name in inside.split(",")), unique=True)
