"""OpenCities: a list of meetings, and a question to the site's own service for the documents of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import quote, urljoin

from lxml.html import HtmlElement

from pipeline.errors import DocumentError
from pipeline.work.fetch.base import Fetcher, Option, Pages
from pipeline.work.fetch.dates import find_date, find_time, undated
from pipeline.work.fetch.pages import links, target_of, text_of
from pipeline.work.fetch.refs import DocRef, is_cancelled, is_file, kind_of, url_identity

_SERVICE = "/OCServiceHandler.axd?url=ocsvc/Public/meetings/documentrenderer&keywords=&cvid="
MOST_PAGES = 100


@dataclass(frozen=True)
class Entry:
    number: str
    title: str
    when: str


class OpenCities(Fetcher):
    name = "opencities"
    label = "OpenCities"
    # One request a meeting: small slices, so that a backfill keeps what it has got.
    step = timedelta(days=182)
    options = (Option("body", "name of the meeting body, for a list that has only one"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        listed = "data-cvid" in html and ("minutes-trigger" in html or "minutes-date" in html)
        return 0.9 if listed else 0.3 if "OCServiceHandler.axd" in html else 0.0

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        for entry in self._entries(since):
            day = find_date(entry.when)
            if day is None or since <= day <= until:
                yield from self._documents(entry)

    def _entries(self, since: date) -> Iterator[Entry]:
        """Newest first, page by page, until they are older than asked for."""
        address, pages = self.url, Pages(self, MOST_PAGES)
        while address:
            page = self.client.page(address)
            tree = self.tree(page.text, page.url)
            found = tuple(entries(tree))
            if not pages.is_new(found or address):
                return
            yield from found
            days = [day for entry in found if (day := find_date(entry.when))]
            address = "" if days and max(days) < since else _next_page(tree)

    def _documents(self, entry: Entry) -> Iterator[DocRef]:
        address = urljoin(self.url, f"{_SERVICE}{quote(entry.number)}")
        try:
            answer = self.client.page(address).json()
        except DocumentError as error:
            self.note(f"the documents of a meeting cannot be read: {error}")
            return
        yield from self.refs(str(answer.get("html") or ""), entry)

    def refs(self, html: str, entry: Entry) -> Iterator[DocRef]:
        """The files of one meeting."""
        for link in links(self.tree(html, self.url)):
            if is_file(link.url):
                yield DocRef(
                    external_id=url_identity(link.url),
                    url=link.url,
                    title=f"{entry.title} {link.text or link.heading}",
                    body=self.settings["body"] or undated(entry.title),
                    date=find_date(entry.when),
                    time=find_time(entry.when),
                    kind=kind_of(link.text, link.heading, link.url.rpartition("/")[2]),
                    cancelled=is_cancelled(entry.title),
                )


def entries(tree: HtmlElement) -> Iterator[Entry]:
    for trigger in tree.xpath("//*[@data-cvid]"):
        day = text_of(next(iter(trigger.xpath(".//*[contains(@class, 'minutes-date')]")), None))
        kind = text_of(next(iter(trigger.xpath(".//*[contains(@class, 'meeting-type')]")), None))
        text = text_of(trigger)
        yield Entry(trigger.get("data-cvid"), kind or undated(text), day or text)


def _next_page(tree: HtmlElement) -> str:
    pager = "//a[@rel='next'] | //*[contains(@class, 'next')]/a | //a[contains(@class, 'next')]"
    return next((target for anchor in tree.xpath(pager) if (target := target_of(anchor))), "")
