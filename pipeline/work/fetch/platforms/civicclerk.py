"""CivicClerk: the OData feed of events with their published files."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from pipeline.work.fetch.base import Fetcher, Option, Pages, is_under
from pipeline.work.fetch.dates import read_moment
from pipeline.work.fetch.refs import DocRef, clean, is_cancelled, kind_of

MOST_PAGES = 500


class CivicClerk(Fetcher):
    name = "civicclerk"
    label = "CivicClerk"
    options = (
        Option("api", "address of the API, where it is not the portal's own host"),
        Option("categories", "numbers of the categories to list; all where empty", list, ()),
    )

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        return 0.95 if is_under(url, ".civicclerk.com") else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        return f"https://{_host(url, 'portal')}/"

    def api(self) -> str:
        address = self.settings["api"] or self.url
        return f"{urlsplit(address).scheme}://{_host(address, 'api')}/v1"

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        wanted = f"startDateTime ge {since}T00:00:00Z and startDateTime le {until}T23:59:59Z"
        page = self.client.page(
            f"{self.api()}/Events", params={"$filter": wanted, "$orderby": "startDateTime asc, eventName asc"}
        )
        pages = Pages(self, MOST_PAGES)
        while pages.is_new(page.content):
            feed = page.json()
            yield from self.refs(feed)
            following = feed.get("@odata.nextLink")
            if not following:
                return
            page = self.client.page(following)

    def refs(self, feed: Mapping[str, Any]) -> Iterator[DocRef]:
        yield from self.each(feed.get("value") or (), self._event_refs)

    def _event_refs(self, event: Mapping[str, Any]) -> Iterator[DocRef]:
        if self.settings["categories"] and event.get("categoryId") not in self.settings["categories"]:
            return
        # The stamps end in Z but are the city's own clock.
        day, hour = read_moment(event.get("startDateTime") or event.get("eventDate"))
        name = clean(event.get("eventName"))
        for file in event.get("publishedFiles") or ():
            if not file.get("fileId"):
                continue
            what = str(file.get("type") or "")
            yield DocRef(
                external_id=str(file["fileId"]),
                url=f"{self.api()}/Meetings/GetMeetingFileStream(fileId={file['fileId']},plainText=false)",
                title=clean(file.get("name")) or f"{name} {what}",
                body=clean(event.get("categoryName") or event.get("eventCategoryName")) or name,
                date=day,
                time=hour,
                kind=kind_of(what, file.get("name") or ""),
                cancelled=bool(event.get("isDeleted")) or is_cancelled(name, event.get("eventNotice") or ""),
                revision=file.get("publishOn") or "",
            )


def _host(url: str, door: str) -> str:
    """The city's portal or API, from any address of it: `city.portal.`, `city.api.` or just `city.`."""
    host = urlsplit(url).netloc
    city, vendor, _ = host.partition(".civicclerk.com")
    return f"{city.partition('.')[0]}.{door}.civicclerk.com" if vendor else host
