"""BoardBook and Sparq (one engine): an organisation's list of meetings; agendas and minutes are pages."""

import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import urlsplit

from lxml.html import HtmlElement

from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.dates import find_date, find_time
from pipeline.work.fetch.pages import Link, links, text_of
from pipeline.work.fetch.refs import (
    HTML,
    PDF,
    DocRef,
    body_in,
    clean,
    convened,
    is_cancelled,
    is_file,
    kind_of,
)

_HOSTS = (".boardbook.org", ".sparqdata.com")
_DOCUMENT = re.compile(r"/Public/(?P<kind>Agenda|Minutes)/(?P<organisation>\d+)", re.I)
_MEETING = re.compile(r"[?&]meeting=(\d+)", re.I)
_PUBLIC_VIEW = re.compile(r"\s+(?:Public View|Meetings)\b.*$", re.I)


class BoardBook(Fetcher):
    name = "boardbook"
    label = "BoardBook"
    step = None
    options = (Option("body", "name of the meeting body, where a meeting is only called 'Regular'"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        if f".{urlsplit(url).hostname or ''}".endswith(_HOSTS) and "/public/" in urlsplit(url).path.lower():
            return 0.95
        return 0.85 if "Sparq Data Solutions" in html and _DOCUMENT.search(html) else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        document = _DOCUMENT.search(url)
        if not document:
            return url
        return f"{url[: document.start()]}/Public/Organization/{document.group('organisation')}"

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        page = self.client.page(self.url)
        yield from self.refs(page.text, page.url)

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        tree = self.tree(html, url)
        title = clean(tree.xpath("string(//h1)")) or clean(tree.xpath("string(//title)"))
        organisation = _PUBLIC_VIEW.sub("", title)
        for row in tree.xpath("//tr[td]"):
            for link in links(row):
                if _MEETING.search(link.url) or is_file(link.url):
                    yield from self._ref(link, row, organisation)

    def _ref(self, link: Link, row: HtmlElement, organisation: str) -> Iterator[DocRef]:
        document, meeting = _DOCUMENT.search(link.url), _MEETING.search(link.url)
        if not document and not is_file(link.url):
            return
        first = row.xpath("./td[1]/div[1]") or row.xpath("./td[1]")
        said = text_of(first[0])
        name = said.partition(" - ")[2].strip() or said
        kind = kind_of(document.group("kind") if document else link.text)
        yield DocRef(
            external_id=f"{kind}-{meeting.group(1)}" if document and meeting else link.url,
            url=link.url,
            title=f"{name} {link.text}",
            body=self.settings["body"] or (convened(name) if body_in(name) else organisation),
            date=find_date(said),
            time=find_time(said),
            kind=kind,
            cancelled=is_cancelled(text_of(row)),
            content_hint=HTML if document else PDF,
        )
