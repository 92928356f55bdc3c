"""Swagit: lists of recordings; those with an agenda or minutes beside the video are listed."""

import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import urlsplit

from lxml.html import HtmlElement

from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.dates import find_date, find_time, undated
from pipeline.work.fetch.pages import Link, links, panel_of, text_of
from pipeline.work.fetch.refs import (
    HTML,
    OTHER,
    PDF,
    DocRef,
    body_in,
    is_cancelled,
    is_file,
    kind_of,
    url_identity,
)

_DOCUMENT = re.compile(r"/videos/(?P<video>\d+)/(?P<kind>agenda|minutes|packet)/?$", re.I)
_VIDEO = re.compile(r"/videos/\d+/?$", re.I)


class Swagit(Fetcher):
    name = "swagit"
    label = "Swagit"
    step = None
    options = (Option("body", "name of the meeting body, for a list that has only one"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        host, path = urlsplit(url).hostname or "", urlsplit(url).path
        if not host.endswith(".swagit.com"):
            return 0.0
        return 0.95 if "/views/" in path or not _VIDEO.search(path) else 0.5

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        page = self.client.page(self.url)
        yield from self.refs(page.text, page.url)

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        for row in self.tree(html, url).xpath("//tr[td]"):
            for link in links(row):
                yield from self._ref(link, row)

    def _ref(self, link: Link, row: HtmlElement) -> Iterator[DocRef]:
        document = _DOCUMENT.search(urlsplit(link.url).path)
        kind = kind_of(document.group("kind") if document else link.text, link.url.rpartition("/")[2])
        if kind == OTHER or not (document or is_file(link.url)):
            return
        text = text_of(row)
        name = next((item.text for item in links(row) if _VIDEO.search(urlsplit(item.url).path)), "") or text
        yield DocRef(
            external_id=f"{kind}-{document.group('video')}" if document else url_identity(link.url),
            url=link.url,
            title=f"{undated(name)} {kind.title()}",
            body=self.settings["body"] or body_in(panel_of(link.element)) or undated(name),
            date=find_date(text),
            time=find_time(text),
            kind=kind,
            cancelled=is_cancelled(text),
            content_hint=PDF if is_file(link.url) else HTML,
        )
