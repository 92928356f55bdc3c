"""The search over every page."""

from typing import Annotated, Any

from django.conf import settings
from django.http import HttpRequest
from ninja import Query, Router

from pipeline.work.index import generations
from records.api import schemas
from records.api.base import Cursor, Day, Text, answers, know, links_of
from records.api.cursors import cursor_for, key_in
from records.api.queries import document_out
from records.asking import BY_DATE, asked_in
from records.results import results_of

router = Router()


@router.get("/search", response=answers(schemas.SearchOut))
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
            document=document_out(hit.document, links),
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
