"""The tables of facts in a deployed database: one for each kind, with a row for each place it was read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlite_utils import Database

PLACE: dict[str, type] = {
    "id": str, "document_id": str, "page": int, "start": int, "end": int, "text": str, "rule": str,
    "confidence": float,
}  # fmt: skip


@dataclass(frozen=True)
class FactTable:
    name: str
    columns: dict[str, type] = field(default_factory=dict)
    indexed: tuple[str, ...] = ()


NUMBERED = FactTable("legislation", {"kind": str, "number": str, "title": str}, ("kind", "number"))
TABLES = {
    "person": FactTable("attendance", {"name": str, "title": str, "role": str, "presence": str}, ("name",)),
    "motion": FactTable(
        "motions",
        {
            "mover": str, "seconder": str, "result": str, "ayes": int, "noes": int, "abstentions": int,
            "absent": int, "flags": str,
        },
        ("mover", "seconder", "result"),
    ),
    "ordinance": NUMBERED,
    "resolution": NUMBERED,
    "money": FactTable("money", {"amount": float}, ("amount",)),
    "address": FactTable(
        "addresses", {"address": str, "street": str, "city": str, "state": str, "zip": str}, ("street",)
    ),
    "date": FactTable("dates", {"date": str}, ("date",)),
    "agenda_item": FactTable("agenda_items", {"number": str, "title": str}),
}  # fmt: skip
OTHER = FactTable("other_facts", {"kind": str, "value": str}, ("kind",))
VOTES = FactTable("votes", {"motion_id": str, "name": str, "vote": str}, ("motion_id", "name", "vote"))


def create(database: Database) -> None:
    for table in unique_tables():
        keys = [("document_id", "documents", "id")]
        keys += [("motion_id", "motions", "id")] if table is VOTES else []
        created = database.table(table.name)
        created.create(PLACE | table.columns, pk="id", foreign_keys=keys)
        for column in ("document_id", *table.indexed):
            created.create_index([column])


def unique_tables() -> Iterator[FactTable]:
    yield from {table.name: table for table in (*TABLES.values(), OTHER, VOTES)}.values()


def votes_of(motion: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each name under a motion with how it voted."""
    for vote, names in (motion.get("votes") or {}).items():
        for name in names:
            yield name, vote
