"""What every operation of the API shares: its parameters, and the version that each answer's ETag names."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query
from ninja.errors import HttpError
from pydantic import StringConstraints

from records.api import schemas
from records.api.cursors import cursor_for
from records.api.queries import Links
from records.published import Records, database_of, opened

MOST = 100
# Raise it when an answer changes its form: what clients have kept is then out of date.
VERSION = 1
FAILURES = frozenset({401, 404, 422, 429})
Text = Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\\x00]*$")]
Cursor = Annotated[str, StringConstraints(max_length=500, pattern=r"^[A-Za-z0-9_-]*$")]
Day = Annotated[str, StringConstraints(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$")]
SiteId = Annotated[str, StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]
DocumentId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
Limit = Annotated[int, Query(ge=1, le=MOST)]


class NotModified(Exception):
    """The client has this very answer."""


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


def part(
    found: Sequence[Any],
    limit: int,
    *,
    key: Callable[[Any], tuple[Any, ...]],
    shape: Callable[[Any], Any] = lambda each: each,
) -> dict[str, Any]:
    """One part of a list, and where the next begins. `found` has one more than the limit if there is more."""
    following = cursor_for(*key(found[limit - 1])) if len(found) > limit else None
    return {"items": [shape(each) for each in found[:limit]], "next": following}


def answers(answer: Any) -> dict[Any, Any]:
    """What an operation may answer with: this, or why not."""
    return {200: answer, FAILURES: schemas.Error}
