"""Values that adoption had to change, so that going back gives the old system what it had, to the byte.

A NULL where a number must stand, a time that SQLite would compare wrongly, a text that is no time.
"""

from datetime import UTC

from django.utils.dateparse import parse_datetime

from sites.migrations.adoption.columns import Column, columns_of, table_exists
from sites.migrations.adoption.locks import run

TABLE = "adopted_values"
KEY = "subdomain"
CREATE = f"""
CREATE TABLE {TABLE} (
    table_name varchar NOT NULL, name varchar NOT NULL, row_key varchar NOT NULL,
    old_value varchar, new_value varchar, PRIMARY KEY (table_name, name, row_key)
)
"""
SAME = {"postgresql": "IS NOT DISTINCT FROM", "sqlite": "IS"}


def note_fills(schema_editor, table: str, found: dict[str, Column], aims: dict[str, Column]) -> None:
    """Before the columns are changed: which rows have nothing where something must stand."""
    for name, aim in aims.items():
        if name in found and found[name].nullable and not aim.nullable and aim.default is not None:
            _note(schema_editor, table, name, f'"{name}" IS NULL', f"CAST({aim.default} AS varchar)")


def _note(schema_editor, table: str, name: str, which: str, new: str, *values: str | None) -> None:
    """Once: what a value was at first is what the old system had."""
    connection = schema_editor.connection
    if schema_editor.collect_sql or KEY not in columns_of(connection, table):
        return
    if not table_exists(connection, TABLE):
        run(schema_editor, CREATE)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {TABLE} (table_name, name, row_key, old_value, new_value)"
            f" SELECT '{table}', '{name}', {KEY}, CAST(\"{name}\" AS varchar), {new} FROM \"{table}\""
            f" WHERE {which} AND {KEY} NOT IN"
            f" (SELECT row_key FROM {TABLE} WHERE table_name = '{table}' AND name = '{name}')",
            list(values),
        )


def restore(schema_editor, table: str, names: list[str]) -> None:
    """Where a value is still what adoption made of it. The notes of these columns have served."""
    connection = schema_editor.connection
    if not table_exists(connection, TABLE):
        return
    same = SAME[connection.vendor]
    with connection.cursor() as cursor:
        for name in names:
            # Only SQLite has notes of anything but NULL, and any column there takes a text.
            old = "NULL" if connection.vendor == "postgresql" else "noted.old_value"
            cursor.execute(
                f'UPDATE "{table}" SET "{name}" = {old} FROM {TABLE} AS noted WHERE noted.table_name = %s'
                f' AND noted.name = %s AND noted.row_key = "{table}".{KEY}'
                f' AND CAST("{table}"."{name}" AS varchar) {same} noted.new_value',
                [table, name],
            )
            cursor.execute(f"DELETE FROM {TABLE} WHERE table_name = %s AND name = %s", [table, name])
        cursor.execute(f"SELECT count(*) FROM {TABLE}")
        left = cursor.fetchone()[0]
    if not left:
        run(schema_editor, f"DROP TABLE {TABLE}")


# ---- SQLite: times are texts ---------------------------------------------------------------------------


def write_times_as_django_does(schema_editor, table: str, name: str) -> None:
    """SQLite compares times as text, so `2024-01-02T03:04:05+00:00` must read `2024-01-02 03:04:05`.

    A text that is no time is none: it would fail whoever reads the row.
    """
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        cursor.execute(
            f'SELECT DISTINCT CAST("{name}" AS TEXT) FROM "{table}" WHERE "{name}" IS NOT NULL', []
        )
        texts = [text for (text,) in cursor.fetchall()]
        for text in texts:
            time = _as_django_writes(text)
            if time != text:
                which = f'CAST("{name}" AS TEXT) = %s'
                _note(schema_editor, table, name, which, "%s", time, text)
                cursor.execute(f'UPDATE "{table}" SET "{name}" = %s WHERE {which}', [time, text])


def _as_django_writes(text: str) -> str | None:
    try:
        time = parse_datetime(text.strip())
        if time is None:
            return None
        return str(time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time)
    except (ValueError, OverflowError):
        return None
