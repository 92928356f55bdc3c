"""Operations that succeed whether the table, the columns and the indexes are there already or not."""

from django.core.management.base import CommandError
from django.db import migrations, models
from django.db.migrations.operations.base import Operation

from sites.migrations.adoption import columns, notes, shape
from sites.migrations.adoption.columns import table_exists
from sites.migrations.adoption.locks import LOCK_TIMEOUT, run


class UnknownShape(CommandError):
    """The table is there under its name, and is none that the old system's later revisions had."""


def _refuse_unknown(connection, model) -> None:
    table, key = model._meta.db_table, model._meta.pk.column
    found = columns.columns_of(connection, table)
    if key not in found:
        raise UnknownShape(
            f"{table} has no column {key} (it has {', '.join(sorted(found))}). Supported are the old system's"
            " databases whose tables sites and site_progress are keyed by subdomain: bring this one up to"
            " such a revision with the old system's own migrations first. Nothing was changed."
        )


class AdoptModel(migrations.CreateModel):
    """Create the table, or take over the one that is there.

    Going back, a table that was found or that holds rows stays, in the shape in which it was found.
    """

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        model = to_state.apps.get_model(app_label, self.name)
        table = model._meta.db_table
        if not table_exists(schema_editor.connection, table):
            return super().database_forwards(app_label, schema_editor, from_state, to_state)
        _refuse_unknown(schema_editor.connection, model)
        notes.take(schema_editor, table)
        shape.ensure(schema_editor, model, model._meta.local_concrete_fields)
        there = set(notes.index_names(schema_editor.connection, table))
        for statement in schema_editor._model_indexes_sql(model):
            if str(statement.parts["name"]).strip('"') not in there:
                schema_editor.execute(statement)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        model = from_state.apps.get_model(app_label, self.name)
        table = model._meta.db_table
        if notes.was_adopted(schema_editor.connection, table):
            self._drop_our_indexes(schema_editor, model)
            shape.as_found(schema_editor, table, model._meta.local_concrete_fields)
            notes.forget(schema_editor, table)
        elif not model._default_manager.using(schema_editor.connection.alias).exists():
            super().database_backwards(app_label, schema_editor, from_state, to_state)

    def _drop_our_indexes(self, schema_editor, model) -> None:
        """Those that Django adds to a text that is a key, where the old table had none."""
        then = notes.indexes_then(schema_editor.connection, model._meta.db_table)
        for statement in schema_editor._model_indexes_sql(model):
            name = str(statement.parts["name"]).strip('"')
            if name not in then:
                run(schema_editor, f'DROP INDEX IF EXISTS "{name}"')


class BriefLocks(Operation):
    """Statements of this migration that would wait for a lock give up soon, and the command is run again."""

    reversible = True

    def state_forwards(self, app_label, state):
        pass

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        pass

    def describe(self):
        return "Wait only briefly for locks"


class EnsureColumns(Operation):
    """Add columns, and bring those that are there already to the same type, default and nullability."""

    def __init__(self, model_name: str, fields: list[tuple[str, models.Field]]) -> None:
        self.model_name = model_name
        self.fields = fields

    def deconstruct(self):
        return (self.__class__.__qualname__, [self.model_name, self.fields], {})

    def state_forwards(self, app_label, state):
        for name, field in self.fields:
            state.add_field(app_label, self.model_name.lower(), name, field, preserve_default=True)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        model = to_state.apps.get_model(app_label, self.model_name)
        shape.ensure(schema_editor, model, self._of(model))

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        model = from_state.apps.get_model(app_label, self.model_name)
        shape.as_found(schema_editor, model._meta.db_table, self._of(model))

    def _of(self, model) -> list[models.Field]:
        return [model._meta.get_field(name) for name, _ in self.fields]

    def describe(self):
        return f"Ensure {len(self.fields)} columns of {self.model_name}"


class DropColumns(EnsureColumns):
    """The other way round. The fields are given in full, so that going back needs no rebuilt table."""

    def state_forwards(self, app_label, state):
        for name, _ in self.fields:
            state.remove_field(app_label, self.model_name.lower(), name)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        model = from_state.apps.get_model(app_label, self.model_name)
        columns.drop(schema_editor, model._meta.db_table, [field.column for field in self._of(model)])

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        model = to_state.apps.get_model(app_label, self.model_name)
        shape.ensure(schema_editor, model, self._of(model))

    def describe(self):
        return f"Drop {len(self.fields)} columns of {self.model_name}"


class EnsureIndex(migrations.AddIndex):
    """An index that may be there under its name. PostgreSQL builds it beside running writers."""

    atomic = False

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        model = to_state.apps.get_model(app_label, self.model_name)
        if self._is_there(schema_editor.connection, model):
            return
        run(schema_editor, f'DROP INDEX IF EXISTS "{self.index.name}"')
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.add_index(model, self.index, concurrently=True)
        else:
            schema_editor.add_index(model, self.index)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        model = from_state.apps.get_model(app_label, self.model_name)
        table, connection = model._meta.db_table, schema_editor.connection
        if self.index.name not in notes.indexes_then(connection, table):
            run(schema_editor, f'DROP INDEX IF EXISTS "{self.index.name}"')

    def _is_there(self, connection, model) -> bool:
        """Under this name, as it should be, and whole: a build that was interrupted leaves a dead index."""
        columns_wanted = [model._meta.get_field(name).column for name in self.index.fields]
        if notes.indexes_of(connection, model._meta.db_table).get(self.index.name) != columns_wanted:
            return False
        with connection.cursor() as cursor:
            is_partial, is_whole = cursor.execute(_INDEX[connection.vendor], [self.index.name]).fetchone()
        return bool(is_whole) and bool(is_partial) == (self.index.condition is not None)


_INDEX = {
    "postgresql": "SELECT indpred IS NOT NULL, indisvalid FROM pg_index WHERE indexrelid = %s::regclass",
    "sqlite": "SELECT sql LIKE '%% WHERE %%', 1 FROM sqlite_master WHERE type = 'index' AND name = %s",
}
