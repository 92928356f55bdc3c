"""Sites, their documents and pages."""

from typing import Annotated, Any

from django.http import HttpRequest
from django.urls import reverse
from ninja import Path, Router
from ninja.errors import HttpError

from pipeline.stages.deploy import databases_dir
from records import meetings
from records.api import queries, schemas
from records.api.base import (
    Cursor,
    Day,
    DocumentId,
    Limit,
    SiteId,
    Text,
    answers,
    links_of,
    part,
    reading,
)
from records.api.cursors import cursor_for, key_in
from records.api.queries import Links, document_out
from records.published import SITE_NAME, PublishedDocument, Records
from sites.models import Site

router = Router()


# ---- Sites --------------------------------------------------------------------------------------------


@router.get("/sites", response=answers(schemas.Page[schemas.SiteOut]))
def list_sites(request: HttpRequest, state: Text = "", cursor: Cursor = "", limit: Limit = 50) -> Any:
    """Sites whose records are published, by name."""
    links, after = links_of(request), key_in(cursor, str)
    published = {link.stem for link in databases_dir().glob("[!.]*.db") if link.is_symlink()}
    rows = Site.objects.filter(pk__in=published).order_by("pk")
    rows = rows.filter(state=state) if state else rows
    rows = rows.filter(pk__gt=after[0]) if after else rows
    found = list(rows[: limit + 1])
    return part(found, limit, key=lambda site: (site.pk,), shape=lambda site: _site_out(site, links))


def _site_out(site: Site, links: Links) -> schemas.SiteOut:
    return schemas.SiteOut(
        id=site.pk,
        name=site.name or site.pk,
        state=site.state or "",
        kind=site.kind or "",
        country=site.country or "",
        url=links.to(reverse("records:site", args=(site.pk,))) if SITE_NAME.fullmatch(site.pk) else "",
    )


@router.get("/sites/{site}", response=answers(schemas.SiteDetail))
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


@router.get("/sites/{site}/documents", response=answers(schemas.Page[schemas.DocumentOut]))
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
    return part(
        found,
        limit,
        key=lambda document: (document.date, document.id),
        shape=lambda document: document_out(document, links),
    )


@router.get("/sites/{site}/documents/{document}", response=answers(schemas.DocumentOut))
def get_document(request: HttpRequest, site: Path[SiteId], document: Path[DocumentId]) -> Any:
    """One version of one document."""
    with reading(request, site) as records:
        return document_out(_document(records, document), links_of(request))


def _document(records: Records, document_id: str) -> PublishedDocument:
    found = records.document(document_id)
    if found is None:
        raise HttpError(404, "No such document is published.")
    return found


@router.get("/sites/{site}/documents/{document}/pages", response=answers(schemas.Page[schemas.PageOut]))
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


@router.get("/sites/{site}/documents/{document}/pages/{page}", response=answers(schemas.PageOut))
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
