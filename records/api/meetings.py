"""Meetings, motions, votes and people of a site."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from ninja import Path, Router

from records import meetings, people
from records.api import queries, schemas
from records.api.base import (
    Cursor,
    Day,
    Limit,
    SiteId,
    Text,
    answers,
    links_of,
    part,
    reading,
)
from records.api.cursors import key_in
from records.api.queries import Links

router = Router()


@router.get("/sites/{site}/meetings", response=answers(schemas.Page[schemas.MeetingOut]))
def list_meetings(
    request: HttpRequest,
    site: Path[SiteId],
    body: Text = "",
    since: Day = "",
    until: Day = "",
    cursor: Cursor = "",
    limit: Limit = 50,
) -> Any:
    """Meetings, the newest first."""
    links, key = links_of(request), key_in(cursor, str, str)
    with reading(request, site) as records:
        found = meetings.meetings(records, since=since, until=until, body=body)
    # Newest day first, ids within a day upward: what follows the last one given.
    rest = [
        each
        for each in found
        if not key or (each.date < key[0] or (each.date == key[0] and each.id > key[1]))
    ]
    return part(rest, limit, key=_by_day, shape=lambda meeting: _meeting_out(meeting, links))


def _by_day(each: Any) -> tuple[str, str]:
    return each.date, each.id


def _meeting_out(meeting: meetings.Meeting, links: Links) -> dict[str, Any]:
    url = links.to(reverse("records:meeting", args=(meeting.site, meeting.id)))
    return {**vars(meeting), "kinds": list(meeting.kinds), "url": url}


@router.get("/sites/{site}/motions", response=answers(schemas.Page[schemas.MotionOut]))
def list_motions(
    request: HttpRequest,
    site: Path[SiteId],
    since: Day = "",
    until: Day = "",
    result: Text = "",
    cursor: Cursor = "",
    limit: Limit = 50,
) -> Any:
    """Motions with every vote by name, the newest first."""
    links, key = links_of(request), key_in(cursor, str, str)
    with reading(request, site) as records:
        found = queries.motions(records, links, key, limit, since=since, until=until, result=result)
    return part(found, limit, key=_by_day)


@router.get("/sites/{site}/votes", response=answers(schemas.Page[schemas.CastOut]))
def list_votes(
    request: HttpRequest,
    site: Path[SiteId],
    name: Text = "",
    since: Day = "",
    until: Day = "",
    cursor: Cursor = "",
    limit: Limit = 50,
) -> Any:
    """Each name under each motion, the newest first; of one person where `name` is given."""
    links, key = links_of(request), key_in(cursor, str, str)
    with reading(request, site) as records:
        found = queries.casts(records, links, key, limit, name=name, since=since, until=until)
    return part(found, limit, key=_by_day)


@router.get("/sites/{site}/people", response=answers(schemas.Page[schemas.PersonOut]))
def list_people(request: HttpRequest, site: Path[SiteId], cursor: Cursor = "", limit: Limit = 50) -> Any:
    """Members who were there or voted, by name."""
    links, key = links_of(request), key_in(cursor, str)
    with reading(request, site) as records:
        everyone = sorted(people.people(records), key=lambda person: person.name)
    rest = [person for person in everyone if not key or person.name > key[0]]
    return part(
        rest, limit, key=lambda person: (person.name,), shape=lambda person: _person_out(site, person, links)
    )


def _person_out(site: str, person: people.Person, links: Links) -> dict[str, Any]:
    return {**vars(person), "url": links.to(reverse("records:person", args=(site, person.name)))}
