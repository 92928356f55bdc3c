"""Granicus ViewPublisher pages: every agenda and minutes viewer link, with the row it stands in."""

import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import parse_qs, urljoin, urlsplit

from lxml.html import HtmlElement

from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.dates import find_date, find_time, undated
from pipeline.work.fetch.pages import Link, links, panel_of, row_around, text_of
from pipeline.work.fetch.refs import HTML, OTHER, PDF, DocRef, body_in, clean, is_cancelled, kind_of

_VIEWERS = {
    "agendaviewer.php": "agenda",
    "minutesviewer.php": "minutes",
    "generatedagendaviewer.php": "agenda",
}
_NAMES = (
    ".//*[contains(concat(' ', normalize-space(@class), ' '), ' committee ')]",
    ".//*[starts-with(@headers, 'Name')]",
    ".//*[contains(concat(' ', translate(@class, 'N', 'n'), ' '), ' name ')]",
)
# What a name carries besides the body: a date, a time, a remark in brackets.
_TAIL = re.compile(r"\s+(?:on\s+)?(?:\d{4}-\d\d-\d\d|\d{1,2}:\d\d\s*[ap]\.?m\.?).*$|\s+-?\s*\(.*$", re.I)


class Granicus(Fetcher):
    name = "granicus"
    label = "Granicus ViewPublisher"
    step = None
    options = (Option("body", "name of the meeting body, for a view that has only one"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        parts = urlsplit(url)
        if (parts.hostname or "").endswith(".granicus.com") and "viewpublisher.php" in parts.path.lower():
            return 0.95
        if any(name in html.lower() for name in ("agendaviewer.php", "mediaplayer.php?view_id")):
            return 0.8
        return 0.4 if (parts.hostname or "").endswith(".granicus.com") else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        view = parse_qs(urlsplit(url).query).get("view_id", [""])[0]
        return urljoin(url, f"/ViewPublisher.php?view_id={view}") if view else url

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        page = self.client.page(self.url)
        yield from self.refs(page.text, page.url)

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        seen: set[str] = set()
        for link in links(self.tree(html, url)):
            kind = _kind(link)
            identity = _identity(link.url)
            if kind and identity not in seen:
                seen.add(identity)
                yield self._ref(link, identity, kind)

    def _ref(self, link: Link, identity: str, kind: str) -> DocRef:
        row = row_around(link.element)
        text = clean(" ".join([text_of(row), *row.xpath(".//img/@alt")]))
        name = _name(row)
        return DocRef(
            external_id=identity,
            url=link.url,
            title=name or text[:200],
            body=self.settings["body"]
            or body_in(panel_of(link.element))
            or undated(_TAIL.sub("", name))
            or body_in(link.heading),
            # A name that says the day knows better than the day of the upload beside it.
            date=find_date(name) or find_date(_date_cell(row)) or find_date(text),
            time=find_time(_date_cell(row)) or find_time(name),
            kind=kind,
            cancelled=is_cancelled(text),
            content_hint=PDF if ".pdf" in link.url.lower() else HTML,
        )


def _kind(link: Link) -> str:
    """A viewer link, or a document that the city keeps elsewhere and links in the row."""
    script = urlsplit(link.url).path.lower().rpartition("/")[2]
    if script in _VIEWERS:
        return _VIEWERS[script]
    kind = kind_of(link.text, script)
    if script == "documentviewer.php" or (
        script.endswith(".pdf") and find_date(text_of(row_around(link.element)))
    ):
        return kind
    return kind if script == "metaviewer.php" and kind != OTHER else ""


def _identity(url: str) -> str:
    """The clip or event, whichever view it is seen through: the same meeting is in several views."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    script = parts.path.lower().rpartition("/")[2].removesuffix("viewer.php")
    for name in ("file", "doc_id", "meta_id", "event_id", "clip_id"):
        if name in query:
            return f"{script}-{name.removesuffix('_id')}-{query[name][0]}"
    return f"{parts.hostname}{parts.path}?{parts.query}"


def _name(row: HtmlElement) -> str:
    for path in _NAMES:
        for found in row.xpath(path):
            text = text_of(found)
            if text and not find_date(text[:12]):
                return text
    cells = row.xpath("./td | ./th")
    return text_of(cells[0]) if cells and not find_date(text_of(cells[0])) else ""


def _date_cell(row: HtmlElement) -> str:
    marked = ".//*[contains(@headers, 'Date') or contains(@class, 'date') or contains(@class, 'Date')]"
    texts = [text_of(cell) for cell in (*row.xpath(marked)[:1], *row.xpath("./td"))]
    return next((text for text in texts if find_date(text)), texts[0] if texts else "")
