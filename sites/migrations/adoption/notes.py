"""What was found on the day of adoption, so that going back gives the old system what it had."""

from sites.migrations.adoption.columns import Column, columns_of, table_exists
from sites.migrations.adoption.locks import run

TABLE = "adopted_schema"
CREATE = f"""
CREATE TABLE {TABLE} (
    table_name varchar NOT NULL, kind varchar NOT NULL, name varchar NOT NULL,
    type varchar NOT NULL, nullable boolean NOT NULL, default_sql varchar,
    PRIMARY KEY (table_name, kind, name)
)
"""


def take(schema_editor, table: str) -> None:
    """Write down a table's columns and indexes, once."""
    connection = schema_editor.connection
    if schema_editor.collect_sql or was_adopted(connection, table):
        return
    if not table_exists(connection, TABLE):
        run(schema_editor, CREATE)
    columns = columns_of(connection, table).items()
    rows = [(table, "column", name, found.type, found.nullable, found.default) for name, found in columns]
    rows += [(table, "index", name, "", True, None) for name in index_names(connection, table)]
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {TABLE} VALUES (%s, %s, %s, %s, %s, %s)", rows)


def was_adopted(connection, table: str) -> bool:
    return bool(columns_then(connection, table))


def columns_then(connection, table: str) -> dict[str, Column]:
    rows = _rows(connection, table, "column")
    return {name: Column(kind, bool(nullable), default) for name, kind, nullable, default in rows}


def indexes_then(connection, table: str) -> set[str]:
    return {name for name, *_ in _rows(connection, table, "index")}


def forget(schema_editor, table: str) -> None:
    """The table is as it was found; with the last note the table of notes goes."""
    connection = schema_editor.connection
    if not table_exists(connection, TABLE):
        return
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {TABLE} WHERE table_name = %s", [table])
        cursor.execute(f"SELECT count(*) FROM {TABLE}")
        left = cursor.fetchone()[0]
    if not left:
        run(schema_editor, f"DROP TABLE {TABLE}")


def index_names(connection, table: str) -> list[str]:
    return list(indexes_of(connection, table))


def indexes_of(connection, table: str) -> dict[str, list[str]]:
    """Every index with its columns."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            # Django reads the table's whole definition here, and stumbles over `CHECK (x IN (0, 1))`.
            cursor.execute(
                "SELECT list.name, info.name FROM pragma_index_list(%s) AS list,"
                " pragma_index_info(list.name) AS info ORDER BY list.name, info.seqno",
                [table],
            )
            found: dict[str, list[str]] = {}
            for index, column in cursor.fetchall():
                found.setdefault(index, []).append(column)
            return found
        constraints = connection.introspection.get_constraints(cursor, table)
        return {name: found["columns"] for name, found in constraints.items() if found["index"]}


def _rows(connection, table: str, kind: str) -> list[tuple]:
    if not table_exists(connection, TABLE):
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT name, type, nullable, default_sql FROM {TABLE} WHERE table_name = %s AND kind = %s",
            [table, kind],
        )
        return cursor.fetchall()
