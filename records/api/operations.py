"""The operations of the API. Each answer is of one deployed version, which its ETag names."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import patch_cache_control, patch_vary_headers
from ninja import NinjaAPI, Path, Query
from ninja.errors import HttpError, ValidationError
from pydantic import StringConstraints

from pipeline.stages.deploy import databases_dir
from pipeline.work.index import generations
from records import meetings, people
from records.access import PUBLIC_SECONDS, is_public, readers
from records.api import queries, schemas
from records.api.access import Reader, TooMany
from records.api.cursors import cursor_for, key_in
from records.api.queries import Links, document_out
from records.asking import BY_DATE, asked_in
from records.published import SITE_NAME, PublishedDocument, Records, database_of, opened
from records.results import results_of
from sites.models import Site

MOST = 100
# Raise it when an answer changes its form: what clients have kept is then out of date.
VERSION = 1
FAILURES = frozenset({401, 404, 422, 429})
ABOUT = """
The records of municipalities: documents, pages, meetings, motions, votes and people, and a search over every
page.

Everything is read by machine from what the municipalities publish; each fact names its place on a page.
Lists are given in parts: ask again with `cursor` set to the `next` of the answer before. Answers carry an
ETag: send it back as `If-None-Match`, and what has not changed is answered with 304 and no body. Dates are
`YYYY-MM-DD`.

Where the records are not public, and for more requests per minute, send `Authorization: Bearer <token>`.
"""
Text = Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\\x00]*$")]
Cursor = Annotated[str, StringConstraints(max_length=500, pattern=r"^[A-Za-z0-9_-]*$")]
Day = Annotated[str, StringConstraints(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$")]
SiteId = Annotated[str, StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]
DocumentId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
Limit = Annotated[int, Query(ge=1, le=MOST)]


class NotModified(Exception):
    """The client has this very answer."""


class RecordsApi(NinjaAPI):
    def create_response(self, request: HttpRequest, data: Any, **options: Any) -> HttpResponse:
        response = super().create_response(request, data, **options)
        with_headers(request, response)
        return response


def with_headers(request: HttpRequest, response: HttpResponse) -> None:
    etag = getattr(request, "version_etag", "")
    if etag and response.status_code in (200, 304):
        response["ETag"] = etag
    if is_public() and not request.headers.get("Authorization") and response.status_code in (200, 304):
        patch_cache_control(response, public=True, max_age=PUBLIC_SECONDS)
    else:
        patch_cache_control(response, private=True, no_cache=True)
    patch_vary_headers(response, ["Authorization"])


api = RecordsApi(
    title="Clerk records",
    version="1",
    description=ABOUT,
    auth=Reader(),
    urls_namespace="api",
    docs_url="/docs",
    docs_decorator=readers,
)


@api.exception_handler(NotModified)
def not_modified(request: HttpRequest, error: NotModified) -> HttpResponse:
    response = HttpResponse(status=304)
    with_headers(request, response)
    return response


@api.exception_handler(TooMany)
def too_many(request: HttpRequest, error: TooMany) -> HttpResponse:
    response = api.create_response(request, {"detail": str(error)}, status=429)
    response["Retry-After"] = str(error.wait)
    return response


@api.exception_handler(ValidationError)
def not_understood(request: HttpRequest, error: ValidationError) -> HttpResponse:
    said = "; ".join(f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors)
    return api.create_response(request, {"detail": said}, status=422)


def links_of(request: HttpRequest) -> Links:
    return Links(request.build_absolute_uri("/").rstrip("/"))


@contextmanager
def reading(request: HttpRequest, site_id: str) -> Iterator[Records]:
    """The site's records; stops early where the client has the answer of this version."""
    database = database_of(site_id)
    if database is None:
        raise HttpError(404, "Nothing of this site is published.")
    stat = database.stat()
    know(request, site_id, database.stem, stat.st_mtime_ns, stat.st_ino)
    with opened(site_id) as records:
        if records is None:
            raise HttpError(404, "Nothing of this site is published.")
        yield records


def know(request: HttpRequest, *version: object) -> None:
    """Name this answer by what it is made from; whoever has it already need not get it again."""
    told = repr((VERSION, request.get_full_path(), *version)).encode()
    etag = f'W/"{hashlib.blake2b(told, digest_size=12).hexdigest()}"'
    request.version_etag = etag  # type: ignore[attr-defined]
    if etag in (part.strip() for part in request.headers.get("If-None-Match", "").split(",")):
        raise NotModified


def get(path: str, answer: Any) -> Any:
    return api.get(path, response={200: answer, FAILURES: schemas.Error})


# ---- Sites --------------------------------------------------------------------------------------------


@get("/sites", schemas.Page[schemas.SiteOut])
def list_sites(request: HttpRequest, state: Text = "", cursor: Cursor = "", limit: Limit = 50) -> Any:
    """Sites whose records are published, by name."""
    links, after = links_of(request), key_in(cursor, str)
    published = {link.stem for link in databases_dir().glob("[!.]*.db") if link.is_symlink()}
    rows = Site.objects.filter(pk__in=published).order_by("pk")
    rows = rows.filter(state=state) if state else rows
    rows = rows.filter(pk__gt=after[0]) if after else rows
    found = list(rows[: limit + 1])
    items = [_site_out(site, links) for site in found[:limit]]
    return {"items": items, "next": cursor_for(items[-1].id) if len(found) > limit else None}


def _site_out(site: Site, links: Links) -> schemas.SiteOut:
    return schemas.SiteOut(
        id=site.pk,
        name=site.name or site.pk,
        state=site.state or "",
        kind=site.kind or "",
        country=site.country or "",
        url=links.to(reverse("records:site", args=(site.pk,))) if SITE_NAME.fullmatch(site.pk) else "",
    )


@get("/sites/{site}", schemas.SiteDetail)
def get_site(request: HttpRequest, site: Path[SiteId]) -> Any:
    """What there is of a site, and since when."""
    links = links_of(request)
    with reading(request, site) as records:
        told = records.site()
        figures = meetings.overview(records)
        bodies = [vars(body) for body in meetings.bodies(records)]
    who = {"id": site, "name": told.title, "state": told.state, "kind": told.kind, "country": told.country}
    return {**who, **vars(figures), "bodies": bodies, "url": links.to(reverse("records:site", args=(site,)))}


# ---- Documents and pages ------------------------------------------------------------------------------


@get("/sites/{site}/documents", schemas.Page[schemas.DocumentOut])
def list_documents(
    request: HttpRequest,
    site: Path[SiteId],
    kind: Text = "",
    body: Text = "",
    since: Day = "",
    until: Day = "",
    superseded: bool = False,
    cursor: Cursor = "",
    limit: Limit = 50,
) -> Any:
    """Documents, the newest first. `superseded` includes those that a newer version took the place of."""
    links, key = links_of(request), key_in(cursor, str, str)
    with reading(request, site) as records:
        found = queries.documents(
            records, key, limit, kind=kind, body=body, since=since, until=until, old=superseded
        )
    items = [_document_out(document, links) for document in found[:limit]]
    last = found[limit - 1] if len(found) > limit else None
    return {"items": items, "next": cursor_for(last.date, last.id) if last else None}


def _document_out(document: PublishedDocument, links: Links) -> schemas.DocumentOut:
    path = reverse("records:document", args=(document.site, document.id))
    return document_out(document, links.to(path))


@get("/sites/{site}/documents/{document}", schemas.DocumentOut)
def get_document(request: HttpRequest, site: Path[SiteId], document: Path[DocumentId]) -> Any:
    """One version of one document."""
    with reading(request, site) as records:
        return _document_out(_document(records, document), links_of(request))


def _document(records: Records, document_id: str) -> PublishedDocument:
    found = records.document(document_id)
    if found is None:
        raise HttpError(404, "No such document is published.")
    return found


@get("/sites/{site}/documents/{document}/pages", schemas.Page[schemas.PageOut])
def list_pages(
    request: HttpRequest,
    site: Path[SiteId],
    document: Path[DocumentId],
    cursor: Cursor = "",
    limit: Limit = 20,
) -> Any:
    """The pages of a document with their text, in order."""
    links, key = links_of(request), key_in(cursor, int)
    with reading(request, site) as records:
        _document(records, document)
        numbers = [number for number in records.page_numbers(document) if not key or number > key[0]]
        found = records.texts(document, numbers[:limit])
    items = [_page_out(site, document, page, links) for page in found.values()]
    return {"items": items, "next": cursor_for(numbers[limit - 1]) if len(numbers) > limit else None}


@get("/sites/{site}/documents/{document}/pages/{page}", schemas.PageOut)
def get_page(
    request: HttpRequest,
    site: Path[SiteId],
    document: Path[DocumentId],
    page: Annotated[int, Path(ge=1, le=10**6)],
) -> Any:
    """One page with its text."""
    with reading(request, site) as records:
        _document(records, document)
        found = records.page(document, page)
    if found is None:
        raise HttpError(404, "The document has no such page.")
    return _page_out(site, document, found, links_of(request))


def _page_out(site: str, document: str, page: Any, links: Links) -> schemas.PageOut:
    url = links.to(reverse("records:page", args=(site, document, page.number)))
    return schemas.PageOut(
        site=site,
        document=document,
        page=page.number,
        text=page.text,
        method=page.method,
        confidence=page.confidence,
        url=url,
    )


# ---- Meetings, motions, votes, people -----------------------------------------------------------------


@get("/sites/{site}/meetings", schemas.Page[schemas.MeetingOut])
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
    items = [_meeting_out(meeting, links) for meeting in rest[:limit]]
    last = rest[limit - 1] if len(rest) > limit else None
    return {"items": items, "next": cursor_for(last.date, last.id) if last else None}


def _meeting_out(meeting: meetings.Meeting, links: Links) -> dict[str, Any]:
    url = links.to(reverse("records:meeting", args=(meeting.site, meeting.id)))
    return {**vars(meeting), "kinds": list(meeting.kinds), "url": url}


@get("/sites/{site}/motions", schemas.Page[schemas.MotionOut])
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
    last = found[limit - 1] if len(found) > limit else None
    return {"items": found[:limit], "next": cursor_for(last.date, last.id) if last else None}


@get("/sites/{site}/votes", schemas.Page[schemas.CastOut])
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
    last = found[limit - 1] if len(found) > limit else None
    return {"items": found[:limit], "next": cursor_for(last.date, last.id) if last else None}


@get("/sites/{site}/people", schemas.Page[schemas.PersonOut])
def list_people(request: HttpRequest, site: Path[SiteId], cursor: Cursor = "", limit: Limit = 50) -> Any:
    """Members who were there or voted, by name."""
    links, key = links_of(request), key_in(cursor, str)
    with reading(request, site) as records:
        everyone = sorted(people.people(records), key=lambda person: person.name)
    rest = [person for person in everyone if not key or person.name > key[0]]
    items = [
        {**vars(person), "url": links.to(reverse("records:person", args=(site, person.name)))}
        for person in rest[:limit]
    ]
    return {"items": items, "next": cursor_for(rest[limit - 1].name) if len(rest) > limit else None}


# ---- Search -------------------------------------------------------------------------------------------


@get("/search", schemas.SearchOut)
def search(
    request: HttpRequest,
    q: Annotated[str, Query(max_length=1000)] = "",
    site: Annotated[list[Text], Query(max_length=200)] = [],  # noqa: B006
    state: Annotated[list[Text], Query(max_length=200)] = [],  # noqa: B006
    body: Annotated[list[Text], Query(max_length=200)] = [],  # noqa: B006
    kind: Annotated[list[Text], Query(max_length=200)] = [],  # noqa: B006
    since: Day = "",
    until: Day = "",
    sort: Annotated[str, Query(pattern=r"^(rank|new)$")] = BY_DATE,
    cursor: Cursor = "",
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
) -> Any:
    """Pages that answer, the newest first or by rank: words, "phrases", -minus, OR, beginnings*."""
    links, key = links_of(request), key_in(cursor, int)
    _know_index(request)
    asked = asked_in(request.GET).with_(sort=sort)
    asked = asked.with_(**{"after" if sort == BY_DATE else "page": key[0]}) if key else asked
    found = results_of(asked, limit=limit)
    items = [
        schemas.HitOut(
            site=hit.document.site,
            document=_document_out(hit.document, links),
            page=hit.page.number,
            snippet="".join(piece.text for piece in hit.snippet),
            url=links.to(hit.url),
        )
        for hit in found.hits
    ]
    following = found.next and (found.next.after if sort == BY_DATE else found.next.page)
    return {"total": found.counts.total, "items": items, "next": cursor_for(following) if following else None}


def _know_index(request: HttpRequest) -> None:
    folder = generations.serving(settings.SEARCH_INDEX_DIR)
    stat = (folder / "meta.json").stat() if folder else None
    know(request, folder and folder.name, stat and stat.st_mtime_ns)
