"""The tables of facts in a deployed database: one for each kind, with a row for each place it was read."""

from collections.abc import Iterator
from typing import Any

from sqlite_utils import Database

from pipeline.work.extraction.kinds import KINDS

PLACE: dict[str, type] = {
    "id": str, "document_id": str, "page": int, "start": int, "end": int, "text": str, "rule": str,
    "confidence": float,
}  # fmt: skip
NAMES = tuple(kind.table for kind in KINDS)


def create(database: Database) -> None:
    for kind in KINDS:
        keys = [("document_id", "documents", "id")]
        keys += [(*kind.part_of, "id")] if kind.part_of else []
        created = database.table(kind.table)
        created.create(PLACE | kind.columns, pk="id", foreign_keys=keys)
        for column in ("document_id", *kind.indexed):
            created.create_index([column])


def votes_of(motion: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each name under a motion with how it voted."""
    for vote, names in (motion.get("votes") or {}).items():
        for name in names:
            yield name, vote
