"""Meetings as they were deployed: when they were, their documents, and what was decided there."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from records.published import PublishedDocument, Records
from records.results import page_url

# What a newer version took the place of is still to be read, but it is no part of what is counted.
CURRENT = "NOT coalesce(documents.superseded, 0)"
# An agenda and a packet tell of what was decided elsewhere, or is yet to be: it would be counted twice.
DECIDING = f"{CURRENT} AND coalesce(documents.kind, '') NOT IN ('agenda', 'packet')"
KINDS = {"agenda": "Agenda", "minutes": "Minutes", "packet": "Agenda packet", "other": "Other documents"}
# The words of a vote as people say them, in the order in which they are shown.
VOTES = {"aye": "Aye", "no": "No", "abstain": "Abstained", "recuse": "Recused", "absent": "Absent"}
WORDS_OF_FLAGS = (
    (r"(\w+): (\d+) named, (\d+) counted", r"\2 are named as voting \1, but \3 are counted"),
    (r"voted twice: (.+?)(?=, voted|, moved|$)", r"\1 is written down with two votes"),
    (r"voted while absent: (.+?)(?=, voted|, moved|$)", r"\1 voted, but is said to be absent"),
    (r"(\d+) votes, (\d+) members", r"\1 votes are counted, but there are \2 members"),
    (r"passed with (\d+) to (\d+)", r"it is said to have passed, with \1 to \2"),
    (r"failed with (\d+) to (\d+)", r"it is said to have failed, with \1 to \2"),
    (r"(.+): a name over the end of a line", r"the name “\1” may run over the end of a line"),
)


@dataclass(frozen=True)
class Meeting:
    """One body on one day. `kinds` says what there is of it."""

    site: str
    id: str
    body: str
    date: str
    documents: int
    pages: int
    kinds: tuple[str, ...]
    motions: int = 0

    @property
    def name(self) -> str:
        return self.body or "Meeting"


@dataclass(frozen=True)
class Place:
    """Where something was read. Its address marks these characters of the page's text."""

    site: str
    document: str
    page: int
    start: int
    end: int

    @property
    def url(self) -> str:
        return f"{page_url(self.site, self.document, self.page)}?at={self.start}-{self.end}"


@dataclass(frozen=True)
class Motion:
    id: str
    place: Place
    text: str
    mover: str
    seconder: str
    result: str
    ayes: int | None
    noes: int | None
    abstentions: int | None
    absent: int | None
    flags: str
    # Each vote in words with the names under it.
    votes: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def tally(self) -> str:
        counted = ((self.ayes, "aye"), (self.noes, "no"), (self.abstentions, "abstained"))
        return ", ".join(f"{number} {word}" for number, word in counted if number is not None)

    @property
    def doubts(self) -> str:
        return in_words(self.flags)


@dataclass(frozen=True)
class Attendance:
    name: str
    title: str
    role: str
    presence: str
    place: Place


@dataclass(frozen=True)
class AgendaItem:
    number: str
    title: str
    place: Place


@dataclass(frozen=True)
class Body:
    name: str
    meetings: int
    first: str
    last: str


@dataclass(frozen=True)
class SiteFigures:
    """What there is of a site, and since when."""

    documents: int
    pages: int
    meetings: int
    motions: int
    first: str
    last: str


def in_words(flags: str) -> str:
    """What does not add up, as a sentence would say it."""
    for pattern, words in WORDS_OF_FLAGS:
        flags = re.sub(pattern, words, flags)
    return flags


def overview(records: Records) -> SiteFigures:
    row = records.row(
        "SELECT count(*), coalesce(sum(pages), 0), count(DISTINCT meeting_id), min(nullif(date, '')),"
        f" max(date) FROM documents WHERE {CURRENT}"
    )
    motions = records.row(
        f"SELECT count(*) FROM motions JOIN documents ON documents.id = motions.document_id WHERE {DECIDING}"
    )
    documents, pages, meetings, first, last = row or (0, 0, 0, "", "")
    return SiteFigures(documents, pages, meetings, motions[0] if motions else 0, first or "", last or "")


def bodies(records: Records) -> list[Body]:
    rows = records.rows(
        "SELECT coalesce(nullif(documents.body, ''), meetings.body, '') AS name,"
        " count(DISTINCT documents.meeting_id) AS number, min(nullif(documents.date, '')),"
        " max(documents.date) FROM documents LEFT JOIN meetings ON meetings.id = documents.meeting_id"
        f" WHERE {CURRENT} GROUP BY name ORDER BY number DESC, name"
    )
    return [Body(name, number, first or "", last or "") for name, number, first, last in rows]


def years(records: Records) -> list[tuple[int, int]]:
    """Each year with its number of meetings, the newest first."""
    rows = records.rows(
        "SELECT substr(date, 1, 4) AS year, count(DISTINCT meeting_id) FROM documents"
        f" WHERE date <> '' AND {CURRENT} GROUP BY year ORDER BY year DESC"
    )
    return [(int(year), number) for year, number in rows if year.isdigit()]


def meetings(
    records: Records, *, since: str = "", until: str = "", body: str = "", limit: int = -1
) -> list[Meeting]:
    """Meetings from one day to another, the newest first; of one body where it is named."""
    rows = records.rows(
        "SELECT documents.meeting_id, coalesce(nullif(max(documents.body), ''), max(meetings.body), ''),"
        " coalesce(max(documents.date), '') AS day, count(*), coalesce(sum(documents.pages), 0),"
        " group_concat(DISTINCT documents.kind)"
        " FROM documents LEFT JOIN meetings ON meetings.id = documents.meeting_id"
        f" WHERE {CURRENT} AND (?1 = '' OR documents.date >= ?1) AND (?2 = '' OR documents.date <= ?2)"
        " AND (?3 = '' OR coalesce(nullif(documents.body, ''), meetings.body, '') = ?3)"
        " GROUP BY documents.meeting_id ORDER BY day DESC, documents.meeting_id LIMIT ?4",
        *(since, until, body, limit),
    )
    counts = _motion_counts(records, [row[0] for row in rows])
    return [_meeting(records.site_id, row, counts) for row in rows]


def _meeting(site_id: str, row: Sequence[Any], counts: dict[str, int]) -> Meeting:
    key, body, day, documents, pages, kinds = row
    listed = tuple(kind for kind in KINDS if kind in (kinds or "").split(","))
    return Meeting(site_id, key, body, day, documents, pages, listed, counts.get(key, 0))


def _motion_counts(records: Records, meeting_ids: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(meeting_ids), 500):
        some = meeting_ids[start : start + 500]
        marks = ", ".join("?" * len(some))
        rows = records.rows(
            "SELECT meeting_id, count(*) FROM documents JOIN motions ON motions.document_id = documents.id"
            f" WHERE meeting_id IN ({marks}) AND {DECIDING} GROUP BY meeting_id",
            *some,
        )
        found |= dict(map(tuple, rows))
    return found


def meeting(records: Records, meeting_id: str) -> tuple[Meeting, list[PublishedDocument]] | None:
    """A meeting with its documents: the agenda first, then minutes and packet."""
    documents = records.documents(f"WHERE meeting_id = ? AND {CURRENT} ORDER BY title, id", meeting_id)
    if not documents:
        return None
    order = list(KINDS)
    documents.sort(key=lambda each: order.index(each.kind) if each.kind in order else len(order))
    row = records.row("SELECT body FROM meetings WHERE id = ?", meeting_id)
    body = next((each.body for each in documents if each.body), "") or (row[0] if row else "")
    kinds = tuple(dict.fromkeys(each.kind for each in documents))
    day = next((each.date for each in documents if each.date), "")
    pages = sum(each.pages for each in documents)
    return Meeting(records.site_id, meeting_id, body, day, len(documents), pages, kinds), documents


# ---- What was decided ---------------------------------------------------------------------------------

MOTION = (
    "motions.id, motions.document_id, motions.page, motions.start, motions.end, motions.text, motions.mover,"
    " motions.seconder, motions.result, motions.ayes, motions.noes, motions.abstentions, motions.absent,"
    " motions.flags"
)


def motions_in(records: Records, document_ids: Sequence[str]) -> list[Motion]:
    """The motions of these documents in the order of their pages, with every vote by name."""
    marks = ", ".join("?" * len(document_ids))
    rows = records.rows(
        f"SELECT {MOTION} FROM motions WHERE document_id IN ({marks}) ORDER BY document_id, page, start",
        *document_ids,
    )
    named = _votes(records, document_ids)
    return [motion_of(records.site_id, row, named.get(row[0], ())) for row in rows]


def _votes(
    records: Records, document_ids: Sequence[str]
) -> dict[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    marks = ", ".join("?" * len(document_ids))
    rows = records.rows(
        f"SELECT motion_id, vote, name FROM votes WHERE document_id IN ({marks}) ORDER BY rowid",
        *document_ids,
    )
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for motion_id, vote, name in rows:
        found[motion_id][vote].append(name)
    return {motion_id: grouped(votes) for motion_id, votes in found.items()}


def grouped(votes: dict[str, list[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    order = [*VOTES, *sorted(votes.keys() - VOTES.keys())]
    return tuple((VOTES.get(vote, vote), tuple(votes[vote])) for vote in order if vote in votes)


def motion_of(site_id: str, row: Sequence[Any], votes: Iterable[tuple[str, tuple[str, ...]]] = ()) -> Motion:
    key, document, page, start, end, text, mover, seconder, result, ayes, noes, abstained, absent, flags = row
    return Motion(
        id=key,
        place=Place(site_id, document, page or 1, start or 0, end or 0),
        text=text or "",
        mover=mover or "",
        seconder=seconder or "",
        result=result or "",
        ayes=ayes,
        noes=noes,
        abstentions=abstained,
        absent=absent,
        flags=flags or "",
        votes=tuple(votes),
    )


def attendance_in(records: Records, document_ids: Sequence[str]) -> list[Attendance]:
    """Who was there; each person once, where several documents say it."""
    marks = ", ".join("?" * len(document_ids))
    rows = records.rows(
        'SELECT name, title, role, presence, document_id, page, start, "end" FROM attendance'
        f" WHERE document_id IN ({marks}) ORDER BY role, rowid",
        *document_ids,
    )
    found: dict[str, Attendance] = {}
    for name, title, role, presence, *place in rows:
        told = Attendance(name or "", title or "", role or "", presence or "", Place(records.site_id, *place))
        found.setdefault(told.name, told)
    return list(found.values())


def agenda_in(records: Records, document_ids: Sequence[str]) -> list[AgendaItem]:
    marks = ", ".join("?" * len(document_ids))
    rows = records.rows(
        'SELECT number, title, document_id, page, start, "end" FROM agenda_items'
        f" WHERE document_id IN ({marks}) ORDER BY document_id, page, start",
        *document_ids,
    )
    return [AgendaItem(row[0] or "", row[1] or "", Place(records.site_id, *row[2:])) for row in rows]
