"""IQM2 (Accela, Granicus): the citizens' calendar as a list."""

import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import parse_qs, urljoin, urlsplit

from lxml.html import HtmlElement

from pipeline.work.fetch.base import Fetcher, Option, is_under
from pipeline.work.fetch.dates import find_date, find_time
from pipeline.work.fetch.pages import links, text_of
from pipeline.work.fetch.refs import AGENDA, MINUTES, OTHER, PACKET, DocRef, clean, is_cancelled, kind_of

_ROW = "//div[contains(concat(' ', normalize-space(@class), ' '), ' MeetingRow ')]"
# FileOpen.aspx?Type=…, for links that say only "PDF" or show a picture.
_KINDS = {"1": PACKET, "12": MINUTES, "14": AGENDA, "15": MINUTES}
_BOARD = re.compile(r"Board: ?(.+?) ?(?:Type:|Status:|$)")


class Iqm2(Fetcher):
    name = "iqm2"
    label = "IQM2"
    options = (Option("group", "number of the meeting group to list; all where empty", int),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        if is_under(url, ".iqm2.com"):
            return 0.95
        return 0.8 if "Detail_Meeting.aspx" in html and "FileOpen.aspx" in html else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        return urljoin(url, "/Citizens/Calendar.aspx")

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        query = {"From": _day(since), "To": _day(until), "View": "List"}
        if self.settings["group"]:
            query["DepartmentID"] = str(self.settings["group"])
        page = self.client.page(urljoin(self.url, "/Citizens/Calendar.aspx"), params=query)
        yield from self.refs(page.text, page.url)

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        inside = "/citizens/" in url.lower()
        tree = self.tree(html, url if inside else urljoin(url, "/Citizens/Calendar.aspx"))
        for row in tree.xpath(_ROW):
            yield from _row_refs(row)


def _row_refs(row: HtmlElement) -> Iterator[DocRef]:
    when = text_of(next(iter(row.xpath(".//*[contains(@class, 'RowLink')]")), None))
    tooltip = clean(" ".join(row.xpath(".//*[contains(@class, 'RowLink')]//@title")))[:2000]
    name = text_of(next(iter(row.xpath(".//*[contains(@class, 'RowDetails')]")), None))
    board = _BOARD.search(tooltip)
    for link in links(row):
        query = {key.lower(): values[0] for key, values in parse_qs(urlsplit(link.url).query).items()}
        if "fileopen.aspx" not in link.url.lower() or "id" not in query:
            continue
        file_type = query.get("type", "0")
        yield DocRef(
            external_id=f"{file_type}-{query['id']}",
            url=link.url,
            title=f"{name} {link.text}",
            body=clean(board.group(1)) if board else name.partition(" - ")[0],
            date=find_date(when) or find_date(tooltip),
            time=find_time(when.partition(",")[2] or when),
            kind=_kind(link.text, file_type),
            cancelled=is_cancelled(text_of(row), tooltip),
        )


def _kind(label: str, file_type: str) -> str:
    named = MINUTES if label.lower() == "summary" else kind_of(label)
    return named if named != OTHER else _KINDS.get(file_type, OTHER)


def _day(day: date) -> str:
    return f"{day.month}/{day.day}/{day.year}"
