"""Feeds and calendars: for whoever wants to follow without an account."""

from django.http import HttpRequest, HttpResponse

from records import feeds, meetings
from records.access import readers
from records.asking import BY_DATE, asked_in
from records.published import records_of
from records.results import results_of

ATOM, CALENDAR = "application/atom+xml; charset=utf-8", "text/calendar; charset=utf-8"


@readers
def site_feed(request: HttpRequest, site_id: str) -> HttpResponse:
    with records_of(site_id) as records:
        feed = feeds.documents_feed(
            records, records.site(), _body(request), base_of(request), request.get_full_path()
        )
    return HttpResponse(feed, content_type=ATOM)


@readers
def search_feed(request: HttpRequest) -> HttpResponse:
    asked = asked_in(request.GET).with_(sort=BY_DATE)
    found = results_of(asked, limit=feeds.ENTRIES)
    own = request.get_full_path()
    feed = feeds.search_feed(asked.words, found.hits, base_of(request), asked.url, own)
    return HttpResponse(feed, content_type=ATOM)


@readers
def calendar(request: HttpRequest, site_id: str) -> HttpResponse:
    with records_of(site_id) as records:
        listed = meetings.meetings(records, body=_body(request), limit=feeds.MOST_EVENTS)
        found = feeds.calendar_of(records.site(), listed, base_of(request))
    return HttpResponse(found, content_type=CALENDAR)


def _body(request: HttpRequest) -> str:
    return request.GET.get("body", "")[:300].replace("\0", "")


def base_of(request: HttpRequest) -> str:
    return request.build_absolute_uri("/").rstrip("/")
