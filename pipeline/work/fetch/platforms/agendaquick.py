"""Destiny AgendaQuick: a table of meetings for each month; agendas are pages, with files beside them."""

from collections.abc import Iterator
from datetime import date, timedelta
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from lxml.html import HtmlElement

from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.dates import find_date, find_time
from pipeline.work.fetch.pages import Link, links, text_of
from pipeline.work.fetch.refs import (
    AGENDA,
    HTML,
    MINUTES,
    OTHER,
    PDF,
    DocRef,
    is_cancelled,
    is_file,
    kind_of,
    url_identity,
)

_SCRIPT = "agenda_publish.cfm"
_KINDS = {"ag": AGENDA, "min": MINUTES, "mi": MINUTES}


class AgendaQuick(Fetcher):
    name = "agendaquick"
    label = "Destiny AgendaQuick"
    # One request a month.
    step = timedelta(days=182)
    options = (Option("body", "list only this meeting body, by its exact name"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        parts = urlsplit(url)
        if parts.path.lower().endswith(f"/{_SCRIPT}"):
            return 0.95
        return 0.8 if f"{_SCRIPT}?" in html and "dsp=ag" in html else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        number = parse_qs(urlsplit(url).query).get("id", [""])[0]
        return urljoin(url, f"/{_SCRIPT}?id={number}") if _SCRIPT in url.lower() else url

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        number = parse_qs(urlsplit(self.url).query).get("id", [""])[0]
        year, month = until.year, until.month
        while (year, month) >= (since.year, since.month):
            query = urlencode({"id": number, "mt": "ALL", "get_month": month, "get_year": year})
            page = self.client.page(urljoin(self.url, f"/{_SCRIPT}?{query}"))
            yield from self.refs(page.text, page.url)
            year, month = (year, month - 1) if month > 1 else (year - 1, 12)

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        for row in self.tree(html, url).xpath("//table[@id='meeting-table' or @id='list']//tr[td]"):
            yield from self._row_refs(row)

    def _row_refs(self, row: HtmlElement) -> Iterator[DocRef]:
        cells = [text_of(cell) for cell in row.xpath("./td")]
        when = next((text for text in cells if find_date(text)), "")
        body = next((text for text in cells if text and text != when and not find_date(text)), "")
        if self.settings["body"] in (None, "", body):
            for link in links(row):
                yield from self._ref(link, body, when, " ".join(cells))

    def _ref(self, link: Link, body: str, when: str, row: str) -> Iterator[DocRef]:
        query = {key.lower(): values[0] for key, values in parse_qs(urlsplit(link.url).query).items()}
        kind = _KINDS.get(query.get("dsp", "").lower(), OTHER)
        named = kind_of(link.text, link.element.get("title") or "")
        if not is_file(link.url) and (kind == OTHER or "seq" not in query):
            return
        yield DocRef(
            external_id=url_identity(link.url) if is_file(link.url) else f"{kind}-{query['seq']}",
            url=link.url,
            title=f"{body} {(kind if kind != OTHER else named).title()}",
            body=body,
            date=find_date(when),
            time=find_time(when) or find_time(row),
            kind=kind if kind != OTHER else named,
            cancelled=is_cancelled(row),
            content_hint=PDF if is_file(link.url) else HTML,
        )
