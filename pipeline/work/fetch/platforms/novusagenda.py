"""NovusAGENDA: the public meetings grid, for any range of dates."""

import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import parse_qs, urljoin, urlsplit

from lxml.html import HtmlElement

from pipeline.work.fetch.base import Fetcher, Option, Pages, is_under
from pipeline.work.fetch.dates import find_date, find_time
from pipeline.work.fetch.pages import form_fields, row_around, target_of, text_of
from pipeline.work.fetch.refs import HTML, OTHER, PDF, DocRef, body_in, is_cancelled, kind_of

MOST_PAGES = 100
_POSTBACK = re.compile(r"__doPostBack\('([^']+)'")


class NovusAgenda(Fetcher):
    name = "novusagenda"
    label = "NovusAGENDA"
    options = (Option("body", "name of the meeting body, where the grid does not say"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        if is_under(url, ".novusagenda.com"):
            return 0.95
        return 0.8 if "radGridMeetings" in html else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        if "meetingsgeneral.aspx" in url.lower():
            return url
        return urljoin(url, "/agendapublic/meetingsgeneral.aspx")

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        page = self.client.page(self.url)
        tree = self.tree(page.text, page.url)
        address, pages = page.url, Pages(self, MOST_PAGES)
        page = self.client.post(address, data=_search(tree, since, until))
        while True:
            tree = self.tree(page.text, address)
            found = [*self._refs(tree)]
            if not pages.is_new(tuple(found)):
                return
            yield from found
            following = _next_page(tree)
            if not following:
                return
            page = self.client.post(address, data=form_fields(tree) | {"__EVENTTARGET": following})

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        yield from self._refs(self.tree(html, url))

    def _refs(self, tree: HtmlElement) -> Iterator[DocRef]:
        grids = tree.xpath("//table[contains(@id, 'radGridMeetings') and contains(@class, 'rgMasterTable')]")
        if not grids:  # the page for small screens is made of blocks
            blocks = dict.fromkeys(
                row_around(anchor) for anchor in tree.iter("a") if _is_document(target_of(anchor))
            )
            for block in blocks:
                yield from self._row_refs(block, [])
        for grid in grids:
            heads = [text_of(head) for head in grid.xpath(".//th[contains(@class, 'rgHeader')]")]
            for row in grid.xpath(".//tr[contains(@class, 'rgRow') or contains(@class, 'rgAltRow')]"):
                yield from self._row_refs(row, heads)

    def _row_refs(self, row: HtmlElement, heads: list[str]) -> Iterator[DocRef]:
        cells = row.xpath("./td")
        texts = dict(zip((head.lower() for head in heads), (text_of(cell) for cell in cells), strict=False))
        when = next((text for head, text in texts.items() if "date" in head), "") or text_of(row)
        body = next((text for head, text in texts.items() if "type" in head or "name" in head), "")
        body = body or next((body_in(text) for text in row.itertext() if body_in(text)), "")
        found: dict[str, DocRef] = {}
        for anchor in row.iter("a"):
            url = target_of(anchor)
            column = _column(anchor, cells, heads)
            ref = self._ref(url, column, body, when, row) if url else None
            # The same agenda as PDF and as page: the PDF will do.
            if ref and (ref.kind not in found or ref.content_hint == PDF):
                found[ref.kind] = ref
        yield from found.values()

    def _ref(self, url: str, column: str, body: str, when: str, row: HtmlElement) -> DocRef | None:
        query = {name.lower(): values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        as_pdf = "displayagendapdf" in url.lower()
        # A link to minutes may carry the other number too, as 0 or -1.
        without_agenda = not query.get("meetingid", "").strip("0").isdigit()
        minutes = query.get("doctype", "").lower() == "minutes" or (as_pdf and without_agenda)
        number = query.get("minutesmeetingid" if minutes else "meetingid")
        if not number or not _is_document(url):
            return None
        kind = kind_of(column)
        return DocRef(
            external_id=f"{'minutes' if minutes else 'agenda'}-{number}",
            url=url,
            title=f"{body} {column}",
            body=self.settings["body"] or body,
            date=find_date(when),
            time=find_time(when),
            kind="minutes" if minutes else kind if kind != OTHER else "agenda",
            cancelled=is_cancelled(text_of(row)),
            content_hint=PDF if as_pdf else HTML,
        )


def _is_document(url: str) -> bool:
    return any(page in url.lower() for page in ("displayagendapdf", "meetingview.aspx"))


def _column(anchor: HtmlElement, cells: list[HtmlElement], heads: list[str]) -> str:
    around = set(anchor.iterancestors("td"))
    position = next((number for number, cell in enumerate(cells) if cell in around), -1)
    return heads[position] if 0 <= position < len(heads) else text_of(anchor)


def _search(tree: HtmlElement, since: date, until: date) -> dict[str, str]:
    """The search form, filled in for a range of dates."""
    fields = form_fields(tree)
    prefix = next((name.removesuffix("ddlDateRange") for name in fields if name.endswith("ddlDateRange")), "")
    fields[f"{prefix}ddlDateRange"] = "cus"
    for name, day in (("radCalendarFrom", since), ("radCalendarTo", until)):
        fields[f"{prefix}{name}"] = day.isoformat()
        fields[f"{prefix}{name}$dateInput"] = f"{day.month}/{day.day}/{day.year}"
    return fields | {f"{prefix}imageButtonSearch.x": "1", f"{prefix}imageButtonSearch.y": "1"}


def _next_page(tree: HtmlElement) -> str:
    current = "//table[contains(@id, 'radGridMeetings')]//a[contains(@class, 'rgCurrentPage')]"
    following = tree.xpath(f"{current}/following-sibling::a[1]/@href")
    target = _POSTBACK.search(following[0]) if following else None
    return target.group(1) if target else ""
