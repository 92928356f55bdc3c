"""SuiteOne: the home page lists every meeting, a table for each body and year."""

import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import urljoin

from lxml.html import HtmlElement

from pipeline.work.fetch.base import Fetcher, Option, is_under
from pipeline.work.fetch.dates import find_date, find_time
from pipeline.work.fetch.pages import links, text_of
from pipeline.work.fetch.refs import DocRef, convened, is_cancelled, kind_of

_FILE = re.compile(r"/event/Get(?P<kind>\w+?)File/[^?]*\?(?P<id>\w+=\d+)", re.I)
_ASIDE = re.compile(r"\s*\(opens in new window\)\s*", re.I)


class SuiteOne(Fetcher):
    name = "suiteone"
    label = "SuiteOne"
    step = None
    options = (Option("body", "name of the meeting body, for a site that has only one"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        if is_under(url, ".suiteonemedia.com"):
            return 0.95
        return 0.9 if _FILE.search(html) else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        return urljoin(url, "/")

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        page = self.client.page(self.url)
        yield from self.refs(page.text, page.url)

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        for row in self.tree(html, url).xpath("//tr[td]"):
            yield from self._row_refs(row)

    def _row_refs(self, row: HtmlElement) -> Iterator[DocRef]:
        cells = row.xpath("./td")
        name = _ASIDE.sub("", text_of(cells[0]))
        when = next((text for text in map(text_of, cells[1:]) if find_date(text)), "")
        for link in links(row):
            file = _FILE.search(link.url)
            if file:
                yield DocRef(
                    external_id=file.group("id").lower(),
                    url=link.url,
                    title=f"{name} {file.group('kind')}",
                    body=self.settings["body"] or convened(name),
                    date=find_date(when),
                    time=find_time(when.partition("|")[2]),
                    kind=kind_of(file.group("kind")),
                    cancelled=is_cancelled(name),
                )
