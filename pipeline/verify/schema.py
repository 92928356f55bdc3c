"""Tables, columns, defaults, indexes, constraints, trigger and migrations, as the models want them."""

from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import CheckConstraint, Field, Model, UniqueConstraint

from pipeline.models import DocumentState, Intervention, ReconcileRun, Run, RunStage
from pipeline.verify import introspection
from pipeline.verify.introspection import Constraint
from pipeline.verify.problem import Problem, among
from sites.models import Document, Site, Source

MODELS: tuple[type[Model], ...] = (
    Site,
    Source,
    Document,
    Run,
    RunStage,
    Intervention,
    DocumentState,
    ReconcileRun,
)
TRIGGER = "trg_dps_legal_moves"
MIGRATE = "manage.py migrate (or verify --apply-migrations)"
ALTER = "ALTER TABLE … ALTER COLUMN, as `manage.py sqlmigrate` prints it"
RECREATE = "create it again as the migrations do; `manage.py sqlmigrate` prints the statement"


def problems(may_wait: tuple[str, ...] = ()) -> Iterator[Problem]:
    """`may_wait` are migrations, by how their names begin, that need not be applied."""
    with connection.cursor() as cursor:
        there = introspection.names(cursor)
        wanted = {model._meta.db_table for model in MODELS}
        yield from among("missing tables", sorted(wanted - there), MIGRATE)
        present = [model for model in MODELS if model._meta.db_table in there]
        yield from _columns(cursor, present)
        yield from _indexes(cursor, present)
        if DocumentState in present:
            yield from _trigger(cursor)
    yield from _migrations(may_wait)


def is_usable() -> bool:
    """Whether every table and column is there, so that the data can be asked about."""
    with connection.cursor() as cursor:
        there = introspection.names(cursor)
        return all(model._meta.db_table in there and not _missing_columns(cursor, model) for model in MODELS)


# ---- Columns ------------------------------------------------------------------------------------------


def _columns(cursor: Any, present: list[type[Model]]) -> Iterator[Problem]:
    missing = [column for model in present for column in _missing_columns(cursor, model)]
    yield from among("missing columns", missing, MIGRATE)
    without = [column for model in present for column in _without_default(cursor, model)]
    yield from among("columns without their database default", without, "ALTER TABLE … SET DEFAULT")
    changed = [column for model in present for column in _changed_columns(cursor, model)]
    yield from among("columns of another type, or that may be empty and must not", changed, ALTER)


def _fields(model: type[Model]) -> list["Field[Any, Any]"]:
    return list(model._meta.local_concrete_fields)


def _missing_columns(cursor: Any, model: type[Model]) -> list[str]:
    found = introspection.columns(cursor, model._meta.db_table)
    return [f"{model._meta.db_table}.{field.column}" for field in _fields(model) if field.column not in found]


def _without_default(cursor: Any, model: type[Model]) -> list[str]:
    found = introspection.columns(cursor, model._meta.db_table)
    return [
        f"{model._meta.db_table}.{field.column}"
        for field in _fields(model)
        if field.has_db_default() and field.column in found and found[field.column] is None
    ]


def _changed_columns(cursor: Any, model: type[Model]) -> Iterator[str]:
    table = model._meta.db_table
    found, wanted = introspection.shapes(cursor, table), introspection.wanted_shapes(cursor, _fields(model))
    for column, shape in wanted.items():
        if column in found and found[column] != shape:
            yield f"{table}.{column}: {found[column]} instead of {shape}"


# ---- Indexes and constraints --------------------------------------------------------------------------


def _indexes(cursor: Any, present: list[type[Model]]) -> Iterator[Problem]:
    missing, changed = [], []
    for model in present:
        found = introspection.constraints(cursor, model._meta.db_table)
        for wanted in (*model._meta.indexes, *model._meta.constraints):
            name = f"{wanted.name} on {model._meta.db_table}"
            if wanted.name not in found:
                missing.append(name)
            elif not _is_as_wanted(model, wanted, found[wanted.name]):
                changed.append(name)
    yield from among("missing indexes and constraints", missing, RECREATE)
    yield from among("indexes and constraints that are not what they should be", changed, RECREATE)
    yield from among("indexes that PostgreSQL holds to be invalid", _invalid(cursor), "REINDEX INDEX …")


def _is_as_wanted(model: type[Model], wanted: Any, found: Constraint) -> bool:
    if isinstance(wanted, CheckConstraint):
        return found.check
    by_name = {field.name: str(field.column) for field in _fields(model)}
    columns = tuple(by_name[name.lstrip("-")] for name in wanted.fields)
    unique = isinstance(wanted, UniqueConstraint)
    return found == Constraint(columns, unique, partial=wanted.condition is not None)


def _invalid(cursor: Any) -> list[str]:
    """Left behind by a CREATE INDEX CONCURRENTLY that failed: kept up to date and never used."""
    if connection.vendor != "postgresql":
        return []
    cursor.execute("SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid ORDER BY 1")
    return [name for (name,) in cursor.fetchall()]


# ---- The trigger, and what is not applied -------------------------------------------------------------


def _trigger(cursor: Any) -> Iterator[Problem]:
    if connection.vendor == "postgresql":
        cursor.execute("SELECT 1 FROM pg_trigger WHERE tgname = %s AND tgenabled <> 'D'", [TRIGGER])
    else:
        cursor.execute("SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = %s", [TRIGGER])
    if cursor.fetchone() is None:
        mend = "manage.py verify --apply-migrations creates it again"
        yield Problem("the trigger that refuses illegal moves is missing or disabled", 1, mend, (TRIGGER,))


def restore_trigger() -> None:
    """As its migration does: on PostgreSQL in place of what is there, on SQLite where it is missing."""
    migration = import_module("pipeline.migrations.0002_legal_moves")
    migration.create(None, SimpleNamespace(connection=connection))


def unapplied() -> list[str]:
    # Not by a plan: that stops at the newest applied one and misses a hole behind it.
    loader = MigrationLoader(connection)
    missing = set(loader.graph.nodes) - set(loader.applied_migrations)
    return sorted(f"{app}.{name}" for app, name in missing)


def _migrations(may_wait: tuple[str, ...]) -> Iterator[Problem]:
    missing = [name for name in unapplied() if not name.startswith(may_wait)]
    yield from among("unapplied migrations", missing, MIGRATE)
