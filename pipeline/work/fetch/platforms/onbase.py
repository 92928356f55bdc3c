"""OnBase Agenda Online (Hyland): the meeting search."""

import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import parse_qs, urljoin, urlsplit

from lxml.html import HtmlElement

from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.dates import find_date, find_time, read_date
from pipeline.work.fetch.pages import Link, links, row_around, text_of
from pipeline.work.fetch.refs import HTML, OTHER, PDF, DocRef, is_cancelled, kind_of

# `/OnBaseAgendaOnline`, `/AgendaOnline`; in the vendor's cloud `/221agendaonline`, `/211agendaonlinecouncil`.
_APP = re.compile(r"^(https?://[^/?#]+/(?:[^/?#]+/)*?[^/?#]*AgendaOnline[^/?#]*)", re.I)
_DOCUMENT = re.compile(r"/(?:Meetings/ViewMeeting|Documents/(?:Downloadfile|ViewAgenda))", re.I)
# The third is the summary of what was decided.
_KINDS = {"1": "agenda", "2": "minutes", "3": "minutes", "5": "packet"}
_SUMMARY = re.compile(r"^\W*(?:meeting\s+|action\s+)?summary\W*$", re.I)


class OnBase(Fetcher):
    name = "onbase"
    label = "OnBase Agenda Online"
    options = (Option("types", "numbers of the meeting types to list; all where empty", list, ()),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        if _APP.match(url):
            return 0.95
        return 0.8 if _DOCUMENT.search(html) and "agendaonline" in html.lower() else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        app = _APP.match(url)
        return f"{app.group(1)}/Meetings/Search" if app else url

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        query = {
            "dropid": "11",
            "mtids": ",".join(str(number) for number in self.settings["types"]) or "all",
            "dropsv": f"{since:%m/%d/%Y} 00:00:00",
            "dropev": f"{until:%m/%d/%Y} 23:59:59",
        }
        page = self.client.page(self.home(self.url).partition("?")[0], params=query)
        yield from self.refs(page.text, page.url)

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        tree = self.tree(html, url)
        anchors = (link.element for link in links(tree) if _DOCUMENT.search(link.url))
        for row in dict.fromkeys(_row(anchor) for anchor in anchors):
            yield from _row_refs(row)


def _row(anchor: HtmlElement) -> HtmlElement:
    """The whole row: a cell for small screens repeats its date and would pass for a row."""
    return next(anchor.iterancestors("tr"), row_around(anchor))


def _row_refs(row: HtmlElement) -> Iterator[DocRef]:
    name, kind_of_meeting, when = _described(row)
    found: dict[str, DocRef] = {}
    for link in links(row):
        ref = _ref(link, name, kind_of_meeting, when)
        # One document is offered as a page and as a PDF, and once for each screen size.
        if ref and (ref.external_id not in found or found[ref.external_id].content_hint == HTML):
            found[ref.external_id] = ref
    yield from found.values()


def _described(row: HtmlElement) -> list[str]:
    """Name, type and time of the meeting: by the marks on the cells, else by what is in them."""
    marked = [
        text_of(next(iter(row.xpath(f".//*[@data-sortable-type='{part}']")), None))
        for part in ("mtgName", "mtgType", "mtgTime")
    ]
    if any(marked):
        return marked
    texts = [text for text in (text_of(cell) for cell in row.xpath("./td | ./th")) if text]
    when = next((text for text in texts if find_date(text) and find_time(text)), text_of(row))
    names = [text for text in texts[:2] if text != when]
    return [*names, *[""] * (2 - len(names)), when]


def _ref(link: Link, name: str, meeting_type: str, when: str) -> DocRef | None:
    query = {key.lower(): values[0] for key, values in parse_qs(urlsplit(link.url).query).items()}
    number = query.get("meetingid") or query.get("id")
    doctype = query.get("doctype") or query.get("documenttype") or "1"
    url = _document_address(link.url, number or "", doctype)
    if not number or not url:
        return None
    kind = "minutes" if _SUMMARY.match(link.text) else kind_of(link.text, link.element.get("title") or "")
    return DocRef(
        external_id=f"{number}-{doctype}",
        url=url,
        title=name,
        body=meeting_type or name,
        date=read_date(when) or read_date(name),
        time=find_time(when.partition(" ")[2]),
        kind=kind if kind != OTHER else _KINDS.get(doctype) or kind_of(doctype),
        cancelled=is_cancelled(name, link.element.get("title") or ""),
        content_hint=PDF if "DownloadFileBytes" in url else HTML,
    )


def _document_address(url: str, number: str, doctype: str) -> str:
    """The document itself: the list links to a frame around it, or to a page that waits for it."""
    if re.search(r"/Documents/DownloadFile/", url, re.I):
        return re.sub(r"/Documents/DownloadFile/", "/Documents/DownloadFileBytes/", url, flags=re.I)
    if re.search(r"/Meetings/ViewMeeting", url, re.I):
        return urljoin(url, f"../Documents/ViewAgenda?meetingId={number}&doctype={doctype}")
    return url if re.search(r"/Documents/(?:ViewAgenda|DownloadFileBytes)", url, re.I) else ""
