"""Joins the compiled text and the facts of every document, whichever was ready first, into one database."""

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import SourceError, StageError
from pipeline.work.database import schema
from pipeline.work.database.compilation import stable_id
from pipeline.work.database.fact_tables import NAMES, PLACE, votes_of
from pipeline.work.database.file import changing, copy_database, filling, writing
from pipeline.work.extraction import read_facts
from pipeline.work.extraction.kinds import OTHER_FACTS, VOTES, FactKind, kind_of
from pipeline.work.files import path_value, replacing


@dataclass(frozen=True)
class Assembled:
    pages: int
    documents: int
    facts: int
    # The same text and facts give the same digest.
    digest: str
    seconds: float


@dataclass(frozen=True)
class FactsFile:
    """A document's id and the file of its facts; `expected` where it was written, and so must be there."""

    document_id: str
    path: Path
    expected: bool = False


def assemble(
    database: Path,
    facts_files: Iterable[FactsFile],
    output: Path,
    before: Callable[[], None] = lambda: None,
) -> Assembled:
    """Bring the facts in `database` up to date and write a copy for readers to `output`.

    `before` is asked before the database changes: a job that was fenced off stops there.
    """
    started = time.monotonic()
    with writing(database):
        if not schema.is_current(database):
            raise StageError(
                f"{database.name} is missing or not a compiled database", code="no_compiled_text"
            )
        with changing(database) as connection:
            _update_facts(connection, facts_files)
            before()
        with replacing(output) as building:
            copy_database(database, building)
            facts, digest = _finish(building)
            holds = schema.counts_in(building)
            assert holds is not None  # it was just written
    return Assembled(holds.pages, holds.documents, facts, digest, time.monotonic() - started)


def _update_facts(connection: sqlite3.Connection, facts_files: Iterable[FactsFile]) -> None:
    connection.execute("CREATE TEMP TABLE offered (id PRIMARY KEY, fingerprint, path)")
    connection.executemany("INSERT OR REPLACE INTO offered VALUES (?, ?, ?)", _offers(facts_files))
    connection.execute(
        "DELETE FROM offered WHERE fingerprint IS NULL OR id NOT IN (SELECT id FROM documents)"
    )
    connection.execute(
        "CREATE TEMP TABLE gone AS SELECT _extracted.id FROM _extracted LEFT JOIN offered USING (id)"
        " WHERE offered.fingerprint IS NOT _extracted.fingerprint"
    )
    for name in NAMES:
        connection.execute(f"DELETE FROM {name} WHERE document_id IN (SELECT id FROM gone)")  # noqa: S608
    connection.execute("DELETE FROM _extracted WHERE id IN (SELECT id FROM gone)")
    _insert_new(connection)


def _insert_new(connection: sqlite3.Connection) -> None:
    new = connection.execute("SELECT id, path FROM offered WHERE id NOT IN (SELECT id FROM _extracted)")
    for document_id, path in new.fetchall():
        for kind, row in _rows(document_id, read_facts(Path(os.fsdecode(path)))["facts"]):
            columns = (*PLACE, *kind.columns)
            names, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" * len(columns))
            values = [row.get(name) for name in columns]
            connection.execute(f"INSERT INTO {kind.table} ({names}) VALUES ({marks})", values)  # noqa: S608
    unknown = "SELECT id, fingerprint FROM offered WHERE id NOT IN (SELECT id FROM _extracted)"
    connection.execute(f"INSERT INTO _extracted {unknown}")


def _offers(facts_files: Iterable[FactsFile]) -> Iterator[tuple[str, str | None, str | bytes]]:
    missing: list[Path] = []
    for file in facts_files:
        fingerprint = _fingerprint(file.path)
        if fingerprint is None and file.expected:
            missing.append(file.path)
        yield file.document_id, fingerprint, path_value(file.path)
    if missing:
        # They may come back, and without them what readers see of these documents would shrink.
        raise SourceError(
            f"the facts of {len(missing)} documents are not in storage, {missing[0]} first",
            code="missing_facts",
        )


def _fingerprint(path: Path) -> str | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"


def _rows(document_id: str, facts: list[dict[str, Any]]) -> Iterator[tuple[FactKind, dict[str, Any]]]:
    for number, fact in enumerate(facts):
        fact_id = stable_id(document_id, number, fact["kind"], fact["page"], fact["start"])
        row = fact | {"id": fact_id, "document_id": document_id, "flags": ", ".join(fact.get("flags", ()))}
        kind = kind_of(fact["kind"])
        if kind is OTHER_FACTS:
            row["value"] = json.dumps(
                {name: fact[name] for name in fact if name not in PLACE}, ensure_ascii=False
            )
        yield kind, row
        for position, (name, vote) in enumerate(votes_of(fact)):
            yield (
                VOTES,
                row | {"id": f"{fact_id}-{position}", "motion_id": fact_id, "name": name, "vote": vote},
            )


def _finish(building: Path) -> tuple[int, str]:
    """Count, name the content, and take out what readers do not need."""
    with filling(building) as connection:
        digest = hashlib.sha256(str(schema.VERSION).encode())
        for name in ("site", *schema.OWN_TABLES):
            for row in connection.execute(f"SELECT * FROM {name} ORDER BY 1"):  # noqa: S608
                digest.update(repr(row).encode())
        facts = sum(
            connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]  # noqa: S608
            for name in NAMES
        )
        # Whoever indexes the published file must see what changed without reading every text.
        connection.execute("ALTER TABLE documents ADD COLUMN fingerprint TEXT")
        connection.execute(
            "UPDATE documents SET fingerprint = (SELECT fingerprint FROM _compiled WHERE id = documents.id)"
        )
        for name in schema.OWN_TABLES:
            connection.execute(f"DROP TABLE {name}")
    return facts, digest.hexdigest()
