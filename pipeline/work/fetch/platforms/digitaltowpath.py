"""Digital Towpath; civic-scraper reads the pages, our client fetches them."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from civic_scraper.platforms.digital_tow_path import utils

from pipeline.work.fetch.base import Fetcher
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.dates import find_date, find_time
from pipeline.work.fetch.pages import shallow
from pipeline.work.fetch.refs import DocRef, clean, is_cancelled, url_identity


class Response:
    """What civic-scraper expects of an answer."""

    def __init__(self, text: str) -> None:
        self.text = text

    def raise_for_status(self) -> None:
        """Our client has raised already."""


class Session:
    """Our client in the place of the session that civic-scraper would open itself."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def get(self, url: str, headers: Any = None, timeout: Any = None) -> Response:
        return Response(shallow(self._client.page(_quoted(url)).text))


# The pause between two requests is our client's business, a host and for all workers.
utils.REQUEST_DELAY = 0


class DigitalTowpath(Fetcher):
    name = "digitaltowpath"
    label = "Digital Towpath"
    # One request a meeting: small slices, so that a backfill keeps what it has got.
    step = timedelta(days=182)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        return 0.9 if "dtp-meeting" in html else 0.6 if "/meetings/meetings/" in url else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        return urljoin(url, "/")

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        session = Session(self.client)
        seen: set[str] = set()
        for category in utils.get_categories(urljoin(self.url, "/"), session=session):
            for meeting in self._meetings(category["url"], session, since, until):
                if meeting["detail_id"] not in seen:
                    seen.add(meeting["detail_id"])
                    address = urljoin(self.url, meeting["url"])
                    yield from self.refs(
                        utils.get_meeting_details(address, session=session), meeting["detail_id"]
                    )

    def _meetings(self, url: str, session: Session, since: date, until: date) -> Iterator[dict[str, str]]:
        """The meetings of one body, from the page of each year in the range."""
        base = urljoin(self.url, url).rstrip("/").rpartition("/")[0]
        for year in range(until.year, since.year - 1, -1):
            found, _ = utils.get_meetings_for_category_year(f"{base}/{year}", session=session)
            for meeting in found:
                day = find_date(meeting["title"])
                if day is None or since <= day <= until:
                    yield meeting

    def refs(self, details: dict[str, Any], number: str) -> Iterator[DocRef]:
        title = clean(details.get("meeting_title"))
        for document in details["documents"]:
            url = _quoted(urljoin(self.url, document["url"]))
            yield DocRef(
                external_id=f"{number}-{url_identity(url).partition('/')[2]}",
                url=url,
                title=f"{title} {document['type'].title()}",
                body=clean(details.get("committee_name")) or title,
                date=details.get("meeting_date"),
                time=find_time(details.get("meeting_time") or ""),
                kind=document["type"],
                cancelled=is_cancelled(title, document["name"]),
            )


def _quoted(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(path=quote(unquote(parts.path))).geturl()
