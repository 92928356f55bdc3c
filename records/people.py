"""People as the records name them: how each voted, what each moved, and who was there."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from records.meetings import DECIDING, MOTION, VOTES, Motion, Place, motion_of
from records.published import Records

PRESENT = ("present", "late", "remote")


@dataclass(frozen=True)
class Person:
    name: str
    votes: int
    meetings: int
    first: str
    last: str


@dataclass(frozen=True)
class Cast:
    """One vote of a person, under the motion it was cast on."""

    date: str
    body: str
    meeting: str
    vote: str
    motion: Motion

    @property
    def word(self) -> str:
        return VOTES.get(self.vote, self.vote)


@dataclass(frozen=True)
class Presence:
    date: str
    body: str
    meeting: str
    presence: str
    place: Place


@dataclass(frozen=True)
class Year:
    """A person's year: each vote in words with its number, and the meetings."""

    year: str
    votes: tuple[tuple[str, int], ...]
    total: int
    present: int
    meetings: int


NAMES = f"""
SELECT name, sum(voted) AS votes, count(DISTINCT meeting_id) AS meetings, min(nullif(date, '')), max(date)
FROM (
    SELECT votes.name, 1 AS voted, documents.meeting_id, documents.date
    FROM votes JOIN documents ON documents.id = votes.document_id WHERE {DECIDING}
    UNION ALL
    SELECT attendance.name, 0, documents.meeting_id, documents.date
    FROM attendance JOIN documents ON documents.id = attendance.document_id
    WHERE {DECIDING} AND attendance.role = 'member'
)
WHERE name <> '' GROUP BY name
"""


def people(records: Records, limit: int = -1) -> list[Person]:
    """Members who were there or voted, those with the most meetings first."""
    rows = records.rows(f"{NAMES} ORDER BY meetings DESC, votes DESC, name LIMIT ?", limit)
    return [
        Person(name, votes, meetings, first or "", last or "") for name, votes, meetings, first, last in rows
    ]


def votes_of(records: Records, name: str, *, year: str = "", limit: int = -1) -> list[Cast]:
    """How the person voted, the newest first."""
    rows = records.rows(
        f"SELECT documents.date, documents.body, documents.meeting_id, votes.vote, {MOTION}"
        " FROM votes JOIN documents ON documents.id = votes.document_id"
        " JOIN motions ON motions.id = votes.motion_id"
        f" WHERE votes.name = ?1 AND {DECIDING} AND (?2 = '' OR substr(documents.date, 1, 4) = ?2)"
        " ORDER BY documents.date DESC, votes.document_id, motions.page, motions.start LIMIT ?3",
        *(name, year, limit),
    )
    return [_cast(records.site_id, tuple(row)) for row in rows]


def _cast(site_id: str, row: tuple[Any, ...]) -> Cast:
    date, body, meeting, vote, *motion = row
    return Cast(date or "", body or "", meeting, vote or "", motion_of(site_id, motion))


def attendance_of(records: Records, name: str) -> list[Presence]:
    """Each meeting where the roll names the person, the newest first; once, however often it is said."""
    rows = records.rows(
        "SELECT documents.date, documents.body, documents.meeting_id, attendance.presence,"
        ' attendance.document_id, attendance.page, attendance.start, attendance."end"'
        " FROM attendance JOIN documents ON documents.id = attendance.document_id"
        f" WHERE attendance.name = ? AND {DECIDING} ORDER BY documents.date DESC, attendance.rowid",
        name,
    )
    found: dict[str, Presence] = {}
    for date, body, meeting, presence, *place in rows:
        told = Presence(date or "", body or "", meeting, presence or "", Place(records.site_id, *place))
        found.setdefault(meeting, told)
    return list(found.values())


def by_year(casts: list[Cast], attendance: list[Presence]) -> list[Year]:
    """How the person voted and was there over time, the newest year first."""
    dates = [*(cast.date for cast in casts), *(each.date for each in attendance)]
    years = sorted({date[:4] for date in dates}, reverse=True)
    return [_year(year, casts, attendance) for year in years]


def _year(year: str, casts: list[Cast], attendance: list[Presence]) -> Year:
    votes = Counter(cast.vote for cast in casts if cast.date[:4] == year)
    there = [each for each in attendance if each.date[:4] == year]
    order = [*VOTES, *sorted(votes.keys() - VOTES.keys())]
    told = tuple((VOTES.get(vote, vote), votes[vote]) for vote in order if votes[vote])
    present = sum(each.presence in PRESENT for each in there)
    return Year(year or "no date", told, votes.total(), present, len(there))
