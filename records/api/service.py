"""The API as a whole: its operations, its headers, and what it says when it refuses."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control, patch_vary_headers
from ninja import NinjaAPI
from ninja.errors import ValidationError
from ninja.operation import Operation

from records.access import PUBLIC_SECONDS, is_public, readers
from records.api import meetings, search, sites
from records.api.access import Reader, TooMany
from records.api.base import NotModified

ABOUT = """
The records of municipalities: documents, pages, meetings, motions, votes and people, and a search over every
page.

Everything is read by machine from what the municipalities publish; each fact names its place on a page.
Lists are given in parts: ask again with `cursor` set to the `next` of the answer before. Answers carry an
ETag: send it back as `If-None-Match`, and what has not changed is answered with 304 and no body. Dates are
`YYYY-MM-DD`.

Where the records are not public, and for more requests per minute, send `Authorization: Bearer <token>`.
"""


class RecordsApi(NinjaAPI):
    def create_response(self, request: HttpRequest, data: Any, **options: Any) -> HttpResponse:
        response = super().create_response(request, data, **options)
        with_headers(request, response)
        return response

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """The function's name alone: generated clients keep theirs when a module moves."""
        return operation.view_func.__name__


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


for part in (sites, meetings, search):
    api.add_router("", part.router)
