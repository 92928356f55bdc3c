"""BoardDocs: the meetings list of each committee, or the XML feed; an agenda is a page to be posted for."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lxml.html import HtmlElement

from pipeline.errors import DocumentError, StageError
from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.dates import find_date, find_time
from pipeline.work.fetch.pages import parse, text_of
from pipeline.work.fetch.refs import HTML, DocRef, clean, is_cancelled

_BASE = re.compile(r"^(https?://[^?#]*?/Board\.nsf)", re.I)
_COMMITTEE = re.compile(r"^[A-Z0-9]{12}$")


class BoardDocs(Fetcher):
    name = "boarddocs"
    label = "BoardDocs"
    step = None
    options = (
        Option("committees", "ids of the committees to list; those on the public page where empty", list, ()),
    )

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        host = urlsplit(url).hostname or ""
        if _BASE.match(url):
            return 0.95 if host.endswith("boarddocs.com") else 0.8
        return 0.3 if host.endswith("boarddocs.com") else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        base = _BASE.match(url)
        return f"{base.group(1)}/Public" if base else url

    @classmethod
    def request_for(cls, url: str) -> tuple[str, dict[str, str] | None]:
        base, query = _BASE.match(url), parse_qs(urlsplit(url).query)
        if not base or "id" not in query:
            raise DocumentError(f"{url} is not a BoardDocs meeting", code="bad_url")
        form = {"id": query["id"][0], "current_committee_id": query.get("committee", [""])[0]}
        return f"{base.group(1)}/PRINT-AgendaDetailed?open", form

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        committees = self._chosen(self._committees())
        if not committees:
            yield from self.feed_refs(self.client.page(f"{self._base()}/XML-ActiveMeetings").text)
        for number, name in committees.items():
            answer = self.client.post(
                f"{self._base()}/BD-GetMeetingsList?open", data={"current_committee_id": number}
            )
            yield from self.refs(answer.json(), number, name)

    def _chosen(self, offered: dict[str, str]) -> dict[str, str]:
        return {number: offered.get(number, "") for number in self.settings["committees"]} or offered

    def _base(self) -> str:
        base = _BASE.match(self.url)
        if not base:
            raise StageError(f"{self.url} is not a BoardDocs address (…/Board.nsf/Public)", code="bad_url")
        return base.group(1)

    def _committees(self) -> dict[str, str]:
        """The committees that the public page offers, by id."""
        page = self.client.page(f"{self._base()}/Public")
        tree = parse(page.text, page.url)
        offered = tree.xpath("//*[@committeeid] | //*[@id='committee-select' or @name='committeeid']//option")
        found = {(item.get("committeeid") or item.get("value") or ""): text_of(item) for item in offered}
        return {number: name for number, name in found.items() if _COMMITTEE.match(number)}

    def refs(self, meetings: list[dict[str, Any]], committee: str = "", name: str = "") -> Iterator[DocRef]:
        for meeting in meetings:
            if meeting.get("unique"):
                yield self._ref(
                    meeting["unique"], committee, meeting.get("name"), name, meeting.get("numberdate")
                )

    def feed_refs(self, xml: str) -> Iterator[DocRef]:
        """The feed is often not well-formed: read as HTML, which closes what was left open."""
        for meeting in parse(re.sub(r"^\s*<\?xml[^>]*\?>", "", xml)).iter("meeting"):
            described = clean(_child(meeting, "description"))
            start = meeting.find("start")
            day = _child(start, "date") if start is not None else ""
            ref = self._ref(meeting.get("id"), meeting.get("bodyid") or "", _child(meeting, "name"), "", day)
            yield _with(ref, body=meeting.get("bodyname") or ref.body, described=described)

    def _ref(self, number: str, committee: str, title: str | None, body: str, day: str | None) -> DocRef:
        return DocRef(
            external_id=number,
            url=f"{self._base()}/goto?open&id={number}{'&committee=' + committee if committee else ''}",
            title=clean(title),
            body=clean(body) or clean(title),
            date=find_date(day or "") or find_date(title or ""),
            time=find_time(title or ""),
            kind="agenda",
            cancelled=is_cancelled(title or ""),
            content_hint=HTML,
        )


def _child(element: HtmlElement, tag: str) -> str:
    found = element.find(tag)
    return text_of(found) if found is not None else ""


def _with(ref: DocRef, *, body: str, described: str) -> DocRef:
    values: Mapping[str, Any] = vars(ref) | {"body": clean(body), "time": ref.time or find_time(described)}
    return DocRef(**values)
