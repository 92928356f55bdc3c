"""The columns of a table as they are, as they should be, and the way from one to the other."""

from dataclasses import dataclass

from django.db import models, transaction
from django.db.models import NOT_PROVIDED

from sites.migrations.adoption.locks import run

ZONED, UNZONED = "timestamp with time zone", "timestamp without time zone"
TEMPORARY = "new__{}"


@dataclass(frozen=True)
class Column:
    """A type, whether NULL may stand in it, and the default as SQL."""

    type: str
    nullable: bool
    default: str | None

    @property
    def definition(self) -> str:
        default = "" if self.default is None else f" DEFAULT {self.default}"
        return f"{self.type}{default}{'' if self.nullable else ' NOT NULL'}"


def table_exists(connection, table: str) -> bool:
    return table in connection.introspection.table_names()


def columns_of(connection, table: str) -> dict[str, Column]:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute('SELECT name, type, "notnull", dflt_value FROM pragma_table_info(%s)', [table])
            return {
                name: Column(kind.lower(), not filled, default)
                for name, kind, filled, default in cursor.fetchall()
            }
        cursor.execute(
            """
            SELECT a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
                   regexp_replace(pg_get_expr(d.adbin, d.adrelid), '::[a-z ]+$', '')
              FROM pg_attribute a
              LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
             WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
            """,
            [table],
        )
        return {name: Column(*found) for name, *found in cursor.fetchall()}


def wanted(schema_editor, field: models.Field) -> Column:
    connection = schema_editor.connection
    kind = field.db_type(connection)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            kind = cursor.execute("SELECT %s::regtype::text", [kind]).fetchone()[0]
    default = None
    if field.db_default is not NOT_PROVIDED:
        value = getattr(field.db_default, "value", field.db_default)
        default = schema_editor.quote_value(field.get_db_prep_save(value, connection))
    return Column(kind, field.null, default)


def change(schema_editor, table: str, found: dict[str, Column], aims: dict[str, Column]) -> None:
    if schema_editor.connection.vendor == "sqlite":
        return _change_sqlite(schema_editor, table, found, aims)
    clauses = []
    for name, aim in aims.items():
        clauses += (
            _alter(name, found[name], aim) if name in found else [f'ADD COLUMN "{name}" {aim.definition}']
        )
    # One statement: the table is rewritten once at most, and no row can slip in between two of its parts.
    if clauses:
        run(schema_editor, f'ALTER TABLE "{table}" {", ".join(clauses)}')


def drop(schema_editor, table: str, names: list[str]) -> None:
    found = columns_of(schema_editor.connection, table)
    names = [name for name in names if name in found]
    if schema_editor.connection.vendor == "sqlite":
        for name in names:
            run(schema_editor, f'ALTER TABLE "{table}" DROP COLUMN "{name}"')
    elif names:
        run(schema_editor, f'ALTER TABLE "{table}" ' + ", ".join(f'DROP COLUMN "{name}"' for name in names))


def _alter(name: str, found: Column, aim: Column) -> list[str]:
    """PostgreSQL: the clauses that turn one column into the other, values kept."""
    column, clauses = f'ALTER COLUMN "{name}"', []
    fills = found.nullable and not aim.nullable and aim.default is not None
    if found.type != aim.type or fills:
        value = _converted(f'"{name}"', found.type, aim.type)
        value = f"COALESCE({value}, {aim.default})" if fills else value
        clauses.append(f"{column} TYPE {aim.type} USING {value}")
    if found.default != aim.default:
        clauses.append(f"{column} " + (f"SET DEFAULT {aim.default}" if aim.default else "DROP DEFAULT"))
    if found.nullable != aim.nullable:
        clauses.append(f"{column} {'DROP' if aim.nullable else 'SET'} NOT NULL")
    return clauses


def _converted(value: str, old: str, new: str) -> str:
    # The old system wrote UTC into columns without a zone.
    if {old, new} == {ZONED, UNZONED}:
        return f"{value} AT TIME ZONE 'UTC'"
    return f"{value}::{new}"


# ---- SQLite: no ALTER COLUMN, and Django's way (a new table from the model) would lose foreign columns ----


def _change_sqlite(schema_editor, table: str, found: dict[str, Column], aims: dict[str, Column]) -> None:
    for name, aim in aims.items():
        if name not in found:
            run(schema_editor, f'ALTER TABLE "{table}" ADD COLUMN "{name}" {aim.definition}')
    replaced = {name: aim for name, aim in aims.items() if name in found and not _alike(found[name], aim)}
    if replaced:
        with transaction.atomic(using=schema_editor.connection.alias):
            _replace(schema_editor, table, replaced)


def _alike(found: Column, aim: Column) -> bool:
    """In SQLite a column's type is only a leaning, and nullable is enough for an optional column."""
    return found.nullable == aim.nullable and found.default == aim.default


def _replace(schema_editor, table: str, aims: dict[str, Column]) -> None:
    """A second column with the right definition takes over the values and then the name."""
    indexes = _indexes_of(schema_editor.connection, table)
    for name in indexes:
        run(schema_editor, f'DROP INDEX "{name}"')
    for name, aim in aims.items():
        temporary = TEMPORARY.format(name)
        value = f'COALESCE("{name}", {aim.default})' if aim.default else f'"{name}"'
        run(schema_editor, f'ALTER TABLE "{table}" ADD COLUMN "{temporary}" {aim.definition}')
        run(schema_editor, f'UPDATE "{table}" SET "{temporary}" = {value}')
        run(schema_editor, f'ALTER TABLE "{table}" DROP COLUMN "{name}"')
        run(schema_editor, f'ALTER TABLE "{table}" RENAME COLUMN "{temporary}" TO "{name}"')
    for sql in indexes.values():
        run(schema_editor, sql)


def _indexes_of(connection, table: str) -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = %s AND sql IS NOT NULL",
            [table],
        )
        return dict(cursor.fetchall())
