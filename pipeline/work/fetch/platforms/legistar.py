"""Legistar's calendar pages; scraper-legistar reads the tables, our client fetches them."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

from legistar.events import LegistarEventsScraper
from lxml.html import HtmlElement

from pipeline.errors import SourceError
from pipeline.work.fetch.base import Fetcher, Option, Pages
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.dates import find_time, read_date
from pipeline.work.fetch.pages import parse, resolve
from pipeline.work.fetch.refs import HTML, PDF, DocRef, clean, is_cancelled, kind_of, url_identity

# View.ashx?M=…: the kinds whose column title may say anything. IC is a calendar entry, no document.
_KINDS = {"A": "agenda", "AADA": "agenda", "M": "minutes", "MADA": "minutes", "PA": "packet"}
_PAGES = {"AADA", "MADA"}
MOST_PAGES = 200


class Reader(LegistarEventsScraper):
    """The library's table parser. Its own page getter turns certificate checks off, so it is not used."""

    def __init__(self, client: Client, url: str) -> None:
        super().__init__()
        self.client = client
        self.EVENTSPAGE = url
        self.BASE_URL = urljoin(url, "/").rstrip("/")

    def lxmlize(self, url: str, payload: Mapping[str, Any] | None = None) -> HtmlElement:
        page = self.client.post(url, data=payload) if payload else self.client.page(url)
        return self.tree(page.text, url)

    def tree(self, html: str, url: str) -> HtmlElement:
        tree = parse(html, url)
        for anchor in tree.iter("a"):
            if anchor.get("href"):
                anchor.set("href", resolve(anchor, anchor.get("href")) or "#")
        for header in tree.xpath("//th[starts-with(@class, 'rgHeader')]"):
            if not header.text_content().strip() and not header.xpath(".//input | .//img"):
                header.text = "unnamed"  # the library would stop at it
        return tree

    def rows(self, tree: HtmlElement) -> Iterator[dict[str, Any]]:
        grids = tree.xpath("//table[contains(@class, 'rgMasterTable')]")
        calendars = [grid for grid in grids if "gridCalendar" in (grid.get("id") or "")]
        for table in calendars or [
            grid for grid in grids if grid.xpath(".//a[contains(@href, 'View.ashx')]")
        ]:
            for row, _, _ in self.parseDataTable(table):
                yield row


class Legistar(Fetcher):
    name = "legistar"
    label = "Legistar calendar"
    options = (Option("body", "list only this meeting body, by its exact name"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        host = urlsplit(url).hostname or ""
        if host.endswith(".legistar.com") and host != "webapi.legistar.com":
            return 0.95
        return 0.8 if "gridCalendar" in html and "View.ashx?M=" in html else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        return url if "DepartmentDetail.aspx" in url else urljoin(url, "/Calendar.aspx")

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        reader = Reader(self.client, self.url)
        for trees in self._listings(reader, since, until):
            pages = Pages(self, MOST_PAGES)
            for tree in trees:
                rows = [*reader.rows(tree)]
                if not pages.is_new(str(rows)):
                    break
                yield from self._refs(rows, _page_body(tree))

    def _listings(self, reader: Reader, since: date, until: date) -> Iterator[Iterator[HtmlElement]]:
        """The pages of each search; the library follows their pager for as long as there is one."""
        if "DepartmentDetail.aspx" in self.url:
            yield reader.pages(self.url)
            return
        start = reader.lxmlize(self.url)
        if not start.xpath("//input[@name='__VIEWSTATE']"):
            raise SourceError(f"{self.url} is not a Legistar calendar", code="wrong_page")
        for year in range(until.year, since.year - 1, -1):
            yield reader.eventSearch(start, year)

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        reader = Reader(self.client, url)
        tree = reader.tree(html, url)
        yield from self._refs(reader.rows(tree), _page_body(tree))

    def _refs(self, rows: Iterable[dict[str, Any]], page_body: str) -> Iterator[DocRef]:
        yield from self.each(rows, lambda row: self._row_refs(row, page_body))

    def _row_refs(self, row: Mapping[str, Any], page_body: str) -> Iterator[DocRef]:
        values = {clean(key): value for key, value in row.items()}
        body = clean(_label(values.get("Name"))) or page_body
        if self.settings["body"] in (None, "", body):
            yield from _row_refs(values, body)


def _row_refs(values: Mapping[str, Any], body: str) -> Iterator[DocRef]:
    texts = {key: _label(value) for key, value in values.items()}
    day = next((read_date(text) for key, text in texts.items() if "date" in key.lower()), None)
    hour = next((find_time(text) for key, text in texts.items() if "time" in key.lower()), None)
    # New York writes "Deferred" where the time should be.
    off = is_cancelled(*texts.values()) or any(text.strip() == "Deferred" for text in texts.values())
    for column, value in values.items():
        address = (value.get("url") if isinstance(value, dict) else None) or ""
        query = parse_qs(urlsplit(address).query)
        code, number = (query.get(name, [""])[0] for name in ("M", "ID"))
        elsewhere = urlsplit(address).path.lower().endswith(".pdf")
        if not elsewhere and ("view.ashx" not in address.lower() or code in ("", "IC")):
            continue
        yield DocRef(
            external_id=url_identity(address) if elsewhere else f"{code}-{number}",
            url=address,
            title=f"{body} {column}",
            body=body,
            date=day,
            time=hour,
            kind=_KINDS.get(code) or kind_of(column),
            cancelled=off,
            content_hint=HTML if code in _PAGES else PDF,
        )


def _label(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("label") or "")
    return str(value or "")


def _page_body(tree: HtmlElement) -> str:
    """A page of one body names it in its title, after the city's name."""
    return clean(tree.xpath("string(//title)")).rpartition(" - ")[2]
