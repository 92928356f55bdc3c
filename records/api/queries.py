"""What the API asks of a site's database, a page at a time."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from records.api.schemas import CastOut, DocumentOut, MotionOut, PlaceOut, VoteOut
from records.meetings import CURRENT, DECIDING, MOTION, Place, motion_of
from records.published import PublishedDocument, Records

Key = tuple[Any, ...] | None


class Links:
    """Absolute addresses, as programs want them."""

    def __init__(self, base: str) -> None:
        self.base = base

    def to(self, path: str) -> str:
        return f"{self.base}{path}"

    def place(self, place: Place) -> PlaceOut:
        return PlaceOut(
            document=place.document, page=place.page, start=place.start, end=place.end, url=self.to(place.url)
        )


def documents(
    records: Records, key: Key, limit: int, *, kind: str, body: str, since: str, until: str, old: bool
) -> list[PublishedDocument]:
    """The newest first, by day and id; those behind the key."""
    day, identity = key or ("", "")
    return records.documents(
        f"WHERE (?1 = '' OR (coalesce(date, ''), id) < (?2, ?1)) AND (?3 OR {CURRENT})"
        " AND (?4 = '' OR kind = ?4) AND (?5 = '' OR body = ?5) AND (?6 = '' OR date >= ?6)"
        " AND (?7 = '' OR date <= ?7) ORDER BY coalesce(date, '') DESC, id DESC LIMIT ?8",
        *(identity, day, int(old), kind, body, since, until, limit + 1),
    )


def motions(
    records: Records, links: Links, key: Key, limit: int, *, since: str, until: str, result: str
) -> list[MotionOut]:
    day, identity = key or ("", "")
    rows = records.rows(
        f"SELECT coalesce(documents.date, ''), coalesce(documents.body, ''), documents.meeting_id, {MOTION}"
        " FROM motions JOIN documents ON documents.id = motions.document_id"
        f" WHERE {DECIDING} AND (?1 = '' OR (coalesce(documents.date, ''), motions.id) < (?2, ?1))"
        " AND (?3 = '' OR documents.date >= ?3) AND (?4 = '' OR documents.date <= ?4)"
        " AND (?5 = '' OR motions.result = ?5)"
        " ORDER BY coalesce(documents.date, '') DESC, motions.id DESC LIMIT ?6",
        *(identity, day, since, until, result, limit + 1),
    )
    votes = _votes(records, [row[3] for row in rows])
    return [_motion(records.site_id, links, tuple(row), votes) for row in rows]


def _votes(records: Records, motion_ids: Sequence[str]) -> dict[str, list[VoteOut]]:
    marks = ", ".join("?" * len(motion_ids))
    rows = records.rows(
        f"SELECT motion_id, name, vote FROM votes WHERE motion_id IN ({marks}) ORDER BY rowid", *motion_ids
    )
    found: dict[str, list[VoteOut]] = defaultdict(list)
    for motion_id, name, vote in rows:
        found[motion_id].append(VoteOut(name=name or "", vote=vote or ""))
    return found


def _motion(site_id: str, links: Links, row: tuple[Any, ...], votes: dict[str, list[VoteOut]]) -> MotionOut:
    date, body, meeting, *rest = row
    motion = motion_of(site_id, rest)
    return MotionOut(
        id=motion.id,
        date=date,
        body=body,
        meeting=meeting,
        text=motion.text,
        mover=motion.mover,
        seconder=motion.seconder,
        result=motion.result,
        ayes=motion.ayes,
        noes=motion.noes,
        abstentions=motion.abstentions,
        absent=motion.absent,
        flags=motion.flags,
        place=links.place(motion.place),
        votes=votes.get(motion.id, []),
    )


def casts(
    records: Records, links: Links, key: Key, limit: int, *, name: str, since: str, until: str
) -> list[CastOut]:
    day, identity = key or ("", "")
    rows = records.rows(
        "SELECT votes.id, coalesce(documents.date, ''), coalesce(documents.body, ''), documents.meeting_id,"
        " coalesce(votes.name, ''), coalesce(votes.vote, ''), votes.motion_id, coalesce(motions.result, ''),"
        ' votes.document_id, votes.page, votes.start, votes."end" FROM votes'
        " JOIN documents ON documents.id = votes.document_id JOIN motions ON motions.id = votes.motion_id"
        f" WHERE {DECIDING} AND (?1 = '' OR (coalesce(documents.date, ''), votes.id) < (?2, ?1))"
        " AND (?3 = '' OR votes.name = ?3) AND (?4 = '' OR documents.date >= ?4)"
        " AND (?5 = '' OR documents.date <= ?5)"
        " ORDER BY coalesce(documents.date, '') DESC, votes.id DESC LIMIT ?6",
        *(identity, day, name, since, until, limit + 1),
    )
    return [_cast(records.site_id, links, tuple(row)) for row in rows]


def _cast(site_id: str, links: Links, row: tuple[Any, ...]) -> CastOut:
    identity, date, body, meeting, name, vote, motion, result, *place = row
    return CastOut(
        id=identity,
        date=date,
        body=body,
        meeting=meeting,
        name=name,
        vote=vote,
        motion=motion,
        result=result,
        place=links.place(Place(site_id, *place)),
    )


def document_out(document: PublishedDocument, links: Links) -> DocumentOut:
    return DocumentOut(
        site=document.site,
        id=document.id,
        meeting=document.meeting,
        title=document.title,
        body=document.body,
        date=document.date,
        kind=document.kind,
        version=document.version,
        superseded=document.superseded,
        pages=document.pages,
        source_url=document.url,
        sha256=document.sha256,
        fetched_at=document.fetched_at,
        url=links.to(reverse("records:document", args=(document.site, document.id))),
    )
