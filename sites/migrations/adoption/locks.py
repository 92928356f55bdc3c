"""Statements that change a table in use: they wait briefly, step aside, and try again."""

import time

from django.db import OperationalError, transaction

LOCK_TIMEOUT = "500ms"
TRIES, PAUSE = 120, 0.5


def run(schema_editor, sql: str) -> None:
    """An ALTER TABLE that waits for a lock makes everybody behind it wait too, so it must not wait long."""
    if schema_editor.collect_sql or schema_editor.connection.vendor != "postgresql":
        return schema_editor.execute(sql)
    for left in reversed(range(TRIES)):
        try:
            with transaction.atomic(using=schema_editor.connection.alias):
                schema_editor.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
                schema_editor.execute(sql)
            return
        except OperationalError as error:
            if not left or getattr(error.__cause__, "sqlstate", None) != "55P03":
                raise
            time.sleep(PAUSE)
