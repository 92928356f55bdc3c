"""Legistar's web API: https://webapi.legistar.com/v1/{client}/Events."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from pipeline.errors import StageError
from pipeline.work.fetch.base import Fetcher, Option, Pages
from pipeline.work.fetch.dates import find_time, read_moment
from pipeline.work.fetch.refs import DocRef, clean, is_cancelled

PAGE, MOST_PAGES = 1000, 200
_FILES = (
    ("agenda", "EventAgendaFile", "EventAgendaLastPublishedUTC"),
    ("minutes", "EventMinutesFile", "EventMinutesLastPublishedUTC"),
)


class LegistarApi(Fetcher):
    name = "legistar_api"
    label = "Legistar web API"
    options = (
        Option("token", "the API token, for the few clients that ask for one"),
        Option("body", "list only this meeting body, by its exact name"),
    )

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        return 1.0 if urlsplit(url).hostname == "webapi.legistar.com" else 0.0

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        day_after = until + timedelta(days=1)
        wanted = f"EventDate ge datetime'{since}' and EventDate lt datetime'{day_after}'"
        pages = Pages(self, MOST_PAGES)
        for start in count(0, PAGE):
            events = self._page({"$filter": wanted, "$orderby": "EventId", "$top": PAGE, "$skip": start})
            if not pages.is_new(tuple(str(event) for event in events)):
                return
            yield from self.refs(events)
            if len(events) < PAGE:
                return

    def _page(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        if self.settings["token"]:
            query["token"] = self.settings["token"]
        return self.client.page(f"{self._api()}/Events", params=query).json()

    def _api(self) -> str:
        parts = urlsplit(self.url)
        folders = [part for part in parts.path.split("/") if part]
        if len(folders) < 2:
            raise StageError(f"{self.url} does not name a client: …/v1/CLIENT", code="bad_url")
        return f"{parts.scheme}://{parts.netloc}/{folders[0]}/{folders[1]}"

    def refs(self, events: list[dict[str, Any]]) -> Iterator[DocRef]:
        yield from self.each(events, self._event_refs)

    def _event_refs(self, event: Mapping[str, Any]) -> Iterator[DocRef]:
        if self.settings["body"] in (None, "", event.get("EventBodyName")):
            yield from _event_refs(event)


def _event_refs(event: Mapping[str, Any]) -> Iterator[DocRef]:
    body = clean(event.get("EventBodyName"))
    for kind, field, published in _FILES:
        if event.get(field):
            yield DocRef(
                external_id=f"{kind}-{event['EventId']}",
                url=event[field],
                title=f"{body} {kind.title()}",
                body=body,
                date=read_moment(event.get("EventDate"))[0],
                time=find_time(event.get("EventTime") or ""),
                kind=kind,
                cancelled=is_cancelled(
                    event.get("EventComment") or "", event.get("EventAgendaStatusName") or ""
                ),
                revision=event.get(published) or "",
            )
