"""What was read out of the records, as tables that can be sorted and taken home."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from records.meetings import CURRENT, DECIDING, Place
from records.published import Records

PER_PAGE = 100
# Beyond this a download is the way, not the next page.
MOST_SHOWN = 100_000
# A cell that a spreadsheet would run as a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Column:
    """`expression` is what is asked of the database; `name` is the heading, and the name in a download."""

    name: str
    expression: str
    label: str
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    about: str
    source: str
    where: str
    columns: tuple[Column, ...]
    first: str
    # What is looked for by the box above the table.
    searched: str
    descending: bool = True

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)


DATE = Column("date", "coalesce(documents.date, '')", "Date")
BODY = Column("body", "coalesce(documents.body, '')", "Body")


def _text(table: str, name: str, label: str) -> Column:
    return Column(name, f"coalesce({table}.{name}, '')", label)


def _joined(table: str) -> str:
    return f"{table} JOIN documents ON documents.id = {table}.document_id"


TABLES = {
    table.name: table
    for table in (
        Table(
            "motions",
            "Motions",
            "What was moved, by whom, and how it ended.",
            _joined("motions"),
            DECIDING,
            (
                DATE,
                BODY,
                _text("motions", "text", "Motion"),
                _text("motions", "mover", "Moved by"),
                _text("motions", "seconder", "Seconded by"),
                _text("motions", "result", "Result"),
                Column("ayes", "motions.ayes", "Ayes", numeric=True),
                Column("noes", "motions.noes", "Noes", numeric=True),
                _text("motions", "flags", "What does not add up"),
            ),
            "date",
            "motions.text",
        ),
        Table(
            "votes",
            "Votes",
            "Each name under each motion.",
            f"{_joined('votes')} JOIN motions ON motions.id = votes.motion_id",
            DECIDING,
            (
                DATE,
                BODY,
                _text("votes", "name", "Name"),
                _text("votes", "vote", "Vote"),
                _text("motions", "text", "Motion"),
                _text("motions", "result", "Result"),
            ),
            "date",
            "votes.name",
        ),
        Table(
            "attendance",
            "Attendance",
            "Who was there, as the roll says.",
            _joined("attendance"),
            DECIDING,
            (
                DATE,
                BODY,
                _text("attendance", "name", "Name"),
                _text("attendance", "title", "Title"),
                _text("attendance", "role", "Role"),
                _text("attendance", "presence", "Presence"),
            ),
            "date",
            "attendance.name",
        ),
        Table(
            "money",
            "Money",
            "Every amount that a page names.",
            _joined("money"),
            CURRENT,
            (
                Column("amount", "money.amount", "Amount", numeric=True),
                _text("money", "text", "As written"),
                DATE,
                BODY,
            ),
            "amount",
            "money.text",
        ),
        Table(
            "addresses",
            "Places",
            "Every address that a page names.",
            _joined("addresses"),
            CURRENT,
            (
                _text("addresses", "address", "Address"),
                _text("addresses", "street", "Street"),
                _text("addresses", "city", "City"),
                DATE,
                BODY,
            ),
            "street",
            "addresses.address",
            descending=False,
        ),
    )
}


@dataclass(frozen=True)
class Asked:
    """How the table is wanted."""

    sort: str
    descending: bool
    words: str = ""
    page: int = 1


@dataclass(frozen=True)
class Row:
    values: tuple[Any, ...]
    place: Place


@dataclass(frozen=True)
class Found:
    rows: tuple[Row, ...]
    total: int


def asked_of(table: Table, told: QueryDict) -> Asked:
    """Whatever the address says; what cannot be is left out."""
    column = table.column(told.get("sort", "")) or table.column(table.first)
    assert column is not None  # a table is sorted by a column of its own
    descending = {"asc": False, "desc": True}.get(told.get("order", ""), table.descending)
    page = told.get("page", "")
    number = int(page) if page.isascii() and page.isdigit() and len(page) < 6 else 1
    words = told.get("q", "")[:200].replace("\0", "").strip()
    return Asked(column.name, descending, words, min(max(number, 1), MOST_SHOWN // PER_PAGE))


def found_in(records: Records, table: Table, asked: Asked) -> Found:
    """One page of the table."""
    values = _words(asked)
    row = records.row(f"SELECT count(*) FROM {table.source} WHERE {_where(table)}", *values)
    limits = (PER_PAGE, (asked.page - 1) * PER_PAGE)
    rows = records.rows(f"{_query(table, asked)} LIMIT ? OFFSET ?", *values, *limits)
    return Found(tuple(_row(records.site_id, each) for each in rows), row[0] if row else 0)


def all_rows(records: Records, table: Table, asked: Asked) -> Iterator[Row]:
    rows = records.connection.execute(_query(table, asked), _words(asked))
    return (_row(records.site_id, row) for row in rows)


def _query(table: Table, asked: Asked) -> str:
    key = table.name
    place = f'{key}.document_id, {key}.page, {key}.start, {key}."end"'
    columns = ", ".join((place, *(column.expression for column in table.columns)))
    sort = table.column(asked.sort)
    assert sort is not None  # checked when it was asked
    order = f"{sort.expression} {'DESC' if asked.descending else 'ASC'}, {key}.rowid"
    return f"SELECT {columns} FROM {table.source} WHERE {_where(table)} ORDER BY {order}"


def _where(table: Table) -> str:
    return f"{table.where} AND (? = '' OR instr(lower({table.searched}), lower(?)) > 0)"


def _words(asked: Asked) -> tuple[str, str]:
    return asked.words, asked.words


def _row(site_id: str, row: Any) -> Row:
    document, page, start, end, *values = tuple(row)
    return Row(tuple(values), Place(site_id, document, page or 1, start or 0, end or 0))


class Echo:
    """A file that gives back what is written, so that a download is sent while it is read."""

    def write(self, value: str) -> str:
        return value


def csv_lines(table: Table, rows: Iterator[Row], base: str) -> Iterator[str]:
    writer = csv.writer(Echo())
    yield writer.writerow([*(column.name for column in table.columns), "url"])
    for row in rows:
        yield writer.writerow([*map(harmless, row.values), f"{base}{row.place.url}"])


def harmless(value: Any) -> Any:
    """Text as text: a spreadsheet must not run what somebody wrote into a document."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
