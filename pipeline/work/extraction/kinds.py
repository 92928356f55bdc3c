"""Every kind of fact as one object: its rule, its table and columns, and what Datasette is told of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class FactKind:
    """`facts` are the names that the rule gives to what it finds; all of them are rows of one table."""

    table: str
    columns: dict[str, type]
    facts: tuple[str, ...] = ()
    # Where the rule is, as an entry point is written: who only reads the tables does not load it.
    rule: str = ""
    indexed: tuple[str, ...] = ()
    # A row that is part of another has the column that says of which, and that one's table.
    part_of: tuple[str, str] | None = None
    datasette: dict[str, Any] = field(default_factory=dict)


def _text(*columns: str) -> dict[str, type]:
    return dict.fromkeys(columns, str)


ATTENDANCE = FactKind(
    "attendance",
    _text("name", "title", "role", "presence"),
    facts=("person",),
    rule="pipeline.work.extraction.proceedings:find",
    indexed=("name",),
    datasette={"title": "Attendance", "facets": ["presence", "name"]},
)
MOTIONS = FactKind(
    "motions",
    _text("mover", "seconder", "result")
    | dict.fromkeys(("ayes", "noes", "abstentions", "absent"), int)
    | _text("flags"),
    facts=("motion",),
    rule="pipeline.work.extraction.proceedings:find",
    indexed=("mover", "seconder", "result"),
    datasette={
        "title": "Motions",
        "description": "Read by rules, not by people: look at the page. `flags` says what does not add up.",
        "facets": ["result", "mover"],
    },
)
LEGISLATION = FactKind(
    "legislation",
    _text("kind", "number", "title"),
    facts=("ordinance", "resolution"),
    rule="pipeline.work.extraction.legislation:find",
    indexed=("kind", "number"),
    datasette={"title": "Ordinances and resolutions", "facets": ["kind"]},
)
MONEY = FactKind(
    "money",
    {"amount": float},
    facts=("money",),
    rule="pipeline.work.extraction.money:find",
    indexed=("amount",),
    datasette={"title": "Amounts of money", "sort_desc": "amount"},
)
ADDRESSES = FactKind(
    "addresses",
    _text("address", "street", "city", "state", "zip"),
    facts=("address",),
    rule="pipeline.work.extraction.addresses:find",
    indexed=("street",),
    datasette={"title": "Addresses", "facets": ["street"]},
)
DATES = FactKind(
    "dates",
    _text("date"),
    facts=("date",),
    rule="pipeline.work.extraction.dates:find",
    indexed=("date",),
    datasette={"title": "Dates", "sort_desc": "date"},
)
AGENDA_ITEMS = FactKind(
    "agenda_items",
    _text("number", "title"),
    facts=("agenda_item",),
    rule="pipeline.work.extraction.agenda:find",
    datasette={"title": "Agenda items"},
)
# What the extractors of other packages find.
OTHER_FACTS = FactKind(
    "other_facts",
    _text("kind", "value"),
    indexed=("kind",),
    datasette={"title": "Other facts", "facets": ["kind"]},
)
VOTES = FactKind(
    "votes",
    _text("motion_id", "name", "vote"),
    indexed=("motion_id", "name", "vote"),
    part_of=("motion_id", MOTIONS.table),
    datasette={
        "title": "Votes",
        "description": "Each name under each motion.",
        "facets": ["vote", "name"],
    },
)
KINDS = (
    ATTENDANCE, MOTIONS, LEGISLATION, MONEY, ADDRESSES, DATES, AGENDA_ITEMS, OTHER_FACTS, VOTES,
)  # fmt: skip


def kind_of(fact: str) -> FactKind:
    """The kind whose table a fact of this name goes to."""
    return _BY_FACT.get(fact, OTHER_FACTS)


def rules() -> Iterator[str]:
    """Each rule once, however many kinds it finds."""
    return iter(dict.fromkeys(kind.rule for kind in KINDS if kind.rule))


_BY_FACT = {fact: kind for kind in KINDS for fact in kind.facts}
