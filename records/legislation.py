"""Ordinances and resolutions, each with every page that names it."""

from dataclasses import dataclass

from records.meetings import CURRENT, Place
from records.published import Records

PER_PAGE = 100


@dataclass(frozen=True)
class Legislation:
    kind: str
    number: str
    title: str
    mentions: int
    first: str
    last: str

    @property
    def name(self) -> str:
        return f"{self.kind.capitalize()} {self.number}"


@dataclass(frozen=True)
class Mention:
    date: str
    body: str
    document_kind: str
    meeting: str
    text: str
    place: Place


LISTED = f"""
SELECT legislation.kind, legislation.number, max(coalesce(legislation.title, '')), count(*),
       min(nullif(documents.date, '')) AS first, max(coalesce(documents.date, '')) AS last
FROM legislation JOIN documents ON documents.id = legislation.document_id
WHERE {CURRENT} AND coalesce(legislation.number, '') <> '' AND (?1 = '' OR legislation.kind = ?1)
  AND (?2 = '' OR instr(lower(legislation.number || ' ' || coalesce(legislation.title, '')), lower(?2)) > 0)
GROUP BY legislation.kind, legislation.number
"""


def legislation(
    records: Records, *, kind: str = "", words: str = "", page: int = 1
) -> tuple[list[Legislation], bool]:
    """A page of it, what was named last first; and whether there is more."""
    rows = records.rows(
        f"{LISTED} ORDER BY last DESC, legislation.kind, legislation.number DESC LIMIT ?3 OFFSET ?4",
        *(kind, words, PER_PAGE + 1, (page - 1) * PER_PAGE),
    )
    found = [
        Legislation(kind, number, title, mentions, first or "", last)
        for kind, number, title, mentions, first, last in rows
    ]
    return found[:PER_PAGE], len(found) > PER_PAGE


def mentions(records: Records, kind: str, number: str) -> list[Mention]:
    """Every page that names it, in the order of time: from the first reading on."""
    rows = records.rows(
        "SELECT documents.date, documents.body, documents.kind, documents.meeting_id, legislation.text,"
        ' legislation.document_id, legislation.page, legislation.start, legislation."end"'
        " FROM legislation JOIN documents ON documents.id = legislation.document_id"
        f" WHERE legislation.kind = ? AND legislation.number = ? AND {CURRENT}"
        " ORDER BY documents.date, legislation.document_id, legislation.page, legislation.start",
        kind,
        number,
    )
    return [
        Mention(date or "", body or "", in_kind or "", meeting, text or "", Place(records.site_id, *place))
        for date, body, in_kind, meeting, text, *place in rows
    ]


def title_of(records: Records, kind: str, number: str) -> str:
    row = records.row(
        "SELECT max(coalesce(title, '')) FROM legislation WHERE kind = ? AND number = ?", kind, number
    )
    return (row[0] if row else "") or ""
