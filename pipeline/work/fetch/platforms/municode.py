"""Municode Meetings: the publish page, ten meetings at a time."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import count
from pathlib import PurePosixPath
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

from lxml.html import HtmlElement

from pipeline.work.fetch.base import Fetcher, Option, Pages
from pipeline.work.fetch.dates import find_date, find_time, undated
from pipeline.work.fetch.pages import Link, links, row_around, target_of, text_of
from pipeline.work.fetch.refs import HTML, OTHER, PDF, DocRef, clean, is_cancelled, kind_of, url_identity

MOST_PAGES = 300
_LONGEST_CELL = 500
# Words that stand beside a meeting and do not name it.
_LABEL = re.compile(
    r"^(?:\W*(?:pdf|html?|icon|image|agenda|packet|minutes|video|audio|view|download|open|link|file|meeting|details?"
    r"|date|time|event|am|pm|cst|est|mst|pst|cdt|edt|mdt|pdt)\b)*\W*$",
    re.I,
)
_CITY_SITE = re.compile(r"/sites/g/files/vyhlif\d+/f/(?:agendas|minutes|packets|uploads)/", re.I)


class Municode(Fetcher):
    name = "municode"
    label = "Municode Meetings"
    # Pages are numbered, newest first, and know no dates: read until a page is older than asked for.
    options = (Option("body", "name of the meeting body, for a page that has only one"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        host, path = urlsplit(url).hostname or "", urlsplit(url).path.lower()
        # A document's address is on the same host; only the publish page lists.
        if (host == "meetings.municode.com" and "publishpage" in path) or host.endswith(
            ".municodemeetings.com"
        ):
            return 0.95
        if "mccmeetings.blob.core" in html or "municodemeetings" in html:
            return 0.7
        # A city's own site, made by Municode with Drupal.
        return 0.6 if _CITY_SITE.search(html) else 0.0

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        address, pages = _page_address(self.url, 1), Pages(self, MOST_PAGES)
        for number in count(1):
            page = self.client.page(address)
            tree = self.tree(page.text, page.url)
            found = [*self._refs(tree)]
            if not pages.is_new(tuple(found) or number):
                return
            yield from found
            dates = [ref.date for ref in found if ref.date]
            address = _page_address(self.url, number + 1) if number < _last_page(tree) else _next_page(tree)
            if not address or (dates and max(dates) < since):
                return

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        yield from self._refs(self.tree(html, url))

    def _refs(self, tree: HtmlElement) -> Iterator[DocRef]:
        for row in tree.xpath("//tr[td]"):
            yield from without_twins(self._row_refs(row))
        blocks: dict[HtmlElement, list[Link]] = {}
        for link in links(tree):  # the newer pages are made of blocks
            if is_document(link.url) and next(link.element.iterancestors("td"), None) is None:
                blocks.setdefault(row_around(link.element), []).append(link)
        for block, found in blocks.items():
            texts = _block_texts(block)
            yield from without_twins(self._ref(link.url, link.text, texts) for link in found)

    def _row_refs(self, row: HtmlElement) -> Iterator[DocRef]:
        cells = {_column(cell, number): cell for number, cell in enumerate(row.xpath("./td"))}
        texts = {column: text_of(cell)[:_LONGEST_CELL] for column, cell in cells.items()}
        for column, cell in cells.items():
            for link in links(cell):
                if is_document(link.url):
                    yield self._ref(link.url, column, texts)

    def _ref(self, url: str, column: str, texts: dict[str, str]) -> DocRef:
        everything = " ".join(texts.values())
        names = (name for text in texts.values() if (name := undated(text)) and not _LABEL.match(name))
        meeting = undated(texts.get("meeting", "")) or next(names, "")
        kind = kind_of(column)
        page = "adahtmldocument" in url.lower()
        return DocRef(
            external_id=_identity(url),
            url=url,
            title=f"{meeting} {(kind if kind != OTHER else column).title()}",
            body=self.settings["body"] or meeting,
            date=find_date(texts.get("date", "")) or find_date(everything),
            time=find_time(texts.get("time", "")) or find_time(everything),
            kind=kind if kind != OTHER else kind_of(_identity(url), url),
            cancelled=is_cancelled(*texts.values()),
            content_hint=HTML if page else PDF,
        )


def is_document(url: str) -> bool:
    path = urlsplit(url).path.lower()
    return path.endswith(("/d/f", ".pdf")) or "MEET-" in url or "adahtmldocument" in path


def _identity(url: str) -> str:
    """The file's own name: the address around it changes with the storage account."""
    inner = parse_qs(urlsplit(url).query).get("u", [url])[0]
    name = PurePosixPath(urlsplit(inner).path).name
    return name if name.startswith("MEET-") else url_identity(inner)


def _column(cell: HtmlElement, number: int) -> str:
    """What the cell is about: its class says so, in one of two generations of these pages."""
    classes = (cell.get("class") or "").split()
    known = ("meeting", "date", "time", "venue", "agenda", "packet", "minutes")
    return next((name for name in known if name in classes), f"{number} {' '.join(classes)}")


def without_twins(refs: Iterable[DocRef]) -> list[DocRef]:
    """The documents of one meeting: what is there as a PDF and as a page is one document, the PDF."""
    found = [*refs]
    files = {ref.kind for ref in found if ref.content_hint == PDF}
    return [ref for ref in found if ref.content_hint == PDF or ref.kind not in files]


def _block_texts(block: HtmlElement) -> dict[str, str]:
    return {str(number): clean(text) for number, text in enumerate(block.itertext()) if clean(text)}


def _next_page(tree: HtmlElement) -> str:
    """Where the pager of a city's own Municode site leads; empty on its last page."""
    pager = (
        "//li[contains(@class, 'pager-next') or contains(@class, 'pager__item--next')]/a | //a[@rel='next']"
    )
    return next((target_of(anchor) for anchor in tree.xpath(pager)), "")


def _last_page(tree: HtmlElement) -> int:
    numbers = tree.xpath("//select[contains(@id, 'page')]/option/@value")
    return max((int(number) for number in numbers if number.isdigit()), default=1)


def _page_address(url: str, number: int) -> str:
    parts = urlsplit(url)
    query = [(name, value) for name, value in parse_qsl(parts.query) if name != "p"]
    return urlunsplit(parts._replace(query=urlencode([*query, ("p", str(number))])))
