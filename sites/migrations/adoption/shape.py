"""Every column of a model is there and as the model says, whatever was found; and back to what was found."""

from django.db import models

from sites.migrations.adoption import notes, values
from sites.migrations.adoption.columns import change, columns_of, drop, wanted


def ensure(schema_editor, model, fields: list[models.Field]) -> None:
    """What is right already is not touched."""
    table, found = model._meta.db_table, columns_of(schema_editor.connection, model._meta.db_table)
    aims = {field.column: wanted(schema_editor, field) for field in fields if not field.primary_key}
    values.note_fills(schema_editor, table, found, aims)
    change(schema_editor, table, found, aims)
    if schema_editor.connection.vendor == "sqlite":
        for field in fields:
            if isinstance(field, models.DateTimeField) and field.column in found:
                values.write_times_as_django_does(schema_editor, table, field.column)
    elif not schema_editor.collect_sql:
        _comment(schema_editor, model, fields)


def as_found(schema_editor, table: str, fields: list[models.Field]) -> None:
    """Columns that adoption found go back to their old shape and values; the others go."""
    then = notes.columns_then(schema_editor.connection, table)
    now = columns_of(schema_editor.connection, table)
    ours = [field.column for field in fields if not field.primary_key]
    kept = [name for name in ours if name in then and name in now]
    change(schema_editor, table, now, {name: then[name] for name in kept})
    values.restore(schema_editor, table, kept)
    drop(schema_editor, table, [name for name in ours if name not in then])


def _comment(schema_editor, model, fields: list[models.Field]) -> None:
    for field in fields:
        if field.db_comment:
            schema_editor.execute(
                *schema_editor._alter_column_comment_sql(model, field, None, field.db_comment)
            )
