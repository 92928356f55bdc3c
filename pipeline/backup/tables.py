"""Tables as rows of JSON that any database takes again: written chunk by chunk, read chunk by chunk."""

from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from django.core.management.color import no_style
from django.db import DatabaseError, connection, models
from django.utils.duration import duration_iso_string

from pipeline.backup import moment
from pipeline.backup.manifest import Manifest, Table
from pipeline.backup.objects import Objects
from pipeline.backup.target import BackupError

# Rows of one object. In the order of their keys, so that what did not change is the same object again.
CHUNK = 2000
AT_ONCE = 500
Said = Callable[[str], None]


# ---- Out ----------------------------------------------------------------------------------------------


def dump(manifest: Manifest, objects: Objects, alias: str, say: Said) -> None:
    for model in moment.tables_at(manifest.migrations):
        table = _dump_table(model, objects, alias)
        manifest.tables.append(table)
        if table.rows:
            say(f"{table.table}: {table.rows:,} rows")


def _dump_table(model: type[models.Model], objects: Objects, alias: str) -> Table:
    names = [field.attname for field in model._meta.concrete_fields]
    everything = model._base_manager.using(alias).order_by("pk").values_list(*names)
    rows, count, chunks = everything.iterator(chunk_size=CHUNK), 0, []
    while some := list(islice(rows, CHUNK)):
        count += len(some)
        if model._meta.label == "sites.Document":
            objects.notebook.note_documents(_stems(names, some))
        chunks.append(objects.keep_lines([[plain(value) for value in row] for row in some]))
    return Table(model._meta.label, model._meta.db_table, count, chunks)


def _stems(names: list[str], rows: list[tuple[Any, ...]]) -> Iterator[tuple[str, str]]:
    site, path = names.index("site_id"), names.index("path")
    return ((row[site], stem_of(row[path])) for row in rows if row[path])


def stem_of(path: str) -> str:
    """`pdfs/Council/2024.pdf`, `txt/Council/2024/` and `facts/Council/2024.json` belong together."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    top = 1 if parts[:1] == ["_agendas"] else 0
    return "/".join(parts[:top] + parts[top + 1 :])


def plain(value: Any) -> Any:
    match value:
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return duration_iso_string(value)
        case UUID() | Decimal():
            return str(value)
        case bytes() | memoryview():
            raise BackupError("a table has a column of bytes, which a back-up does not carry")
    return value


# ---- In -----------------------------------------------------------------------------------------------


def load(manifest: Manifest, objects: Objects, say: Said) -> None:
    """Every table as it was. Inside one transaction of the caller's: all of it or nothing."""
    known = {model._meta.label: model for model in moment.tables_at(manifest.migrations)}
    _empty(list(known.values()))
    for table in manifest.tables:
        _load_table(known[table.model], table, objects)
        if table.rows:
            say(f"{table.table}: {table.rows:,} rows")
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(known.values())):
            cursor.execute(statement)


def _empty(known: list[type[models.Model]]) -> None:
    """What the migrations put there comes back with the back-up's rows. Foreign keys wait for the end."""
    there = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for name in [*(model._meta.db_table for model in known), "django_session"]:
            if name in there:
                cursor.execute(f"DELETE FROM {connection.ops.quote_name(name)}")  # noqa: S608


def _load_table(model: type[models.Model], table: Table, objects: Objects) -> None:
    for field in model._meta.concrete_fields:
        # The model is of this restore alone: no time is set anew.
        for automatic in ("auto_now", "auto_now_add"):
            if hasattr(field, automatic):
                setattr(field, automatic, False)
    rows = (_row(model, values) for chunk in table.chunks for values in objects.lines(chunk))
    try:
        while some := list(islice(rows, AT_ONCE)):
            model._base_manager.bulk_create(some, batch_size=AT_ONCE)
        found = model._base_manager.count()
    except DatabaseError as error:
        said = str(error).strip()
        raise BackupError(f"the database does not take a row of {table.table}: {said}") from error
    if found != table.rows:
        raise BackupError(f"{table.table}: {found:,} rows arrived, and {table.rows:,} were backed up")


def _row(model: type[models.Model], values: list[Any]) -> models.Model:
    fields = model._meta.concrete_fields
    pairs = zip(fields, values, strict=True)
    return model(**{field.attname: _value(field, value) for field, value in pairs})


def _value(field: models.Field, value: Any) -> Any:
    return value if isinstance(field, models.JSONField) else field.to_python(value)
