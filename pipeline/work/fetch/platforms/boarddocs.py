"""BoardDocs: the meetings of each committee, or the XML feed; its documents are pages to be posted for."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lxml.html import HtmlElement

from pipeline.errors import DocumentError, StageError
from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.dates import find_date, find_time
from pipeline.work.fetch.pages import parse, text_of
from pipeline.work.fetch.refs import AGENDA, HTML, MINUTES, DocRef, clean, is_cancelled, kind_of

_BASE = re.compile(r"^(https?://[^?#]*?/Board\.nsf)", re.I)
_COMMITTEE = re.compile(r"^[A-Z0-9]{12}$")
_PAGES = {AGENDA: "PRINT-AgendaDetailed", MINUTES: "BD-GetMinutes"}


class BoardDocs(Fetcher):
    name = "boarddocs"
    label = "BoardDocs"
    # One request a meeting: small slices, so that a backfill keeps what it has got.
    step = timedelta(days=91)
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
        if "/$file/" in url.lower():  # an attachment
            return url, None
        if not base or "id" not in query:
            raise DocumentError(f"{url} is not a BoardDocs meeting", code="bad_url")
        form = {"id": query["id"][0], "current_committee_id": query.get("committee", [""])[0]}
        return f"{base.group(1)}/{_PAGES[query.get('document', [AGENDA])[0]]}?open", form

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        for agenda in self._agendas:
            if agenda.date is None or since <= agenda.date <= until:
                yield from self.meeting_refs(agenda, self._meeting_page(agenda))

    @cached_property
    def _agendas(self) -> list[DocRef]:
        """Every meeting there is: the lists know no dates to ask for."""
        committees = self._chosen(self._committees())
        if not committees:
            return list(self.feed_refs(self.client.page(f"{self._base()}/XML-ActiveMeetings").text))
        return [ref for number, name in committees.items() for ref in self._committee_refs(number, name)]

    def _committee_refs(self, number: str, name: str) -> Iterator[DocRef]:
        address = f"{self._base()}/BD-GetMeetingsList?open"
        yield from self.refs(
            self.client.post(address, data={"current_committee_id": number}).json(), number, name
        )

    def _meeting_page(self, agenda: DocRef) -> str:
        _, form = self.request_for(agenda.url)
        try:
            return self.client.post(f"{self._base()}/BD-GetMeeting?open", data=form).text
        except DocumentError:  # a meeting without a page of its own: its agenda may be there all the same
            return ""

    def meeting_refs(self, agenda: DocRef, html: str) -> Iterator[DocRef]:
        """What the meeting's own page has buttons for; the lists do not say whether there are minutes."""
        tree = parse(html)
        offered = {kind_of(name) for name in tree.xpath("//*[starts-with(@id, 'btn-')]/@id")}
        described = text_of(next(iter(tree.xpath("//*[@class='meeting-description']")), None))
        ref = replace(agenda, time=agenda.time or find_time(described))
        if AGENDA in offered or MINUTES not in offered:
            yield ref
        if MINUTES in offered:
            identity, url = f"{ref.external_id}-minutes", f"{ref.url}&document={MINUTES}"
            yield replace(ref, external_id=identity, url=url, kind=MINUTES)

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
            body = clean(meeting.get("bodyname")) or ref.body
            yield replace(ref, body=body, time=ref.time or find_time(described))

    def _ref(self, number: str, committee: str, title: str | None, body: str, day: str | None) -> DocRef:
        return DocRef(
            external_id=number,
            url=f"{self._base()}/goto?open&id={number}{'&committee=' + committee if committee else ''}",
            title=clean(title),
            body=clean(body) or clean(title),
            date=find_date(day or "") or find_date(title or ""),
            time=find_time(title or ""),
            kind=AGENDA,
            cancelled=is_cancelled(title or ""),
            content_hint=HTML,
        )


def _child(element: HtmlElement, tag: str) -> str:
    found = element.find(tag)
    return text_of(found) if found is not None else ""
