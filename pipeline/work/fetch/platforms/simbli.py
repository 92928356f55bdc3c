"""Simbli eBoard: the listing page carries tokens, and its service answers them with the meetings."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cached_property
from html import unescape
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

from pipeline.errors import SourceError, StageError
from pipeline.work.fetch.base import Fetcher, Option, Pages
from pipeline.work.fetch.dates import find_date, find_time, read_moment, undated
from pipeline.work.fetch.refs import AGENDA, HTML, DocRef, clean, is_cancelled

_LISTING = "/SB_Meetings/SB_MeetingListing.aspx"
_API = "/Services/api/GetMeetingListing"
_TOKENS = {
    "ConnectionString": re.compile(r"var\s{1,9}constr\s{0,9}=\s{0,9}[\"']([^\"']{1,2000})[\"']"),
    "SecurityToken": re.compile(r"var\s{1,9}sToken\s{0,9}=\s{0,9}[\"']([^\"']{1,2000})[\"']"),
}
PAGE, MOST_PAGES = 50, 200


class Simbli(Fetcher):
    name = "simbli"
    label = "Simbli eBoard"
    # The service lists everything, newest first, and knows no dates to ask for.
    step = None
    options = (Option("body", "name of the board, where a meeting's title does not say"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        host = urlsplit(url).hostname or ""
        return 0.95 if host.endswith("eboardsolutions.com") and _number(url) else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        return urljoin(url, f"{_LISTING}?S={_number(url)}")

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        pages = Pages(self, MOST_PAGES)
        for start in count(0, PAGE):
            answer = self.client.post(
                urljoin(self.url, _API), json=self._question | {"RecordStart": start}
            ).json()
            found = _meetings(answer)
            if not found or not pages.is_new(str(found)):
                return
            refs = [*self.refs(found)]
            yield from refs
            days = [ref.date for ref in refs if ref.date]
            if len(found) < PAGE or (days and max(days) < since):
                return

    @cached_property
    def _question(self) -> dict[str, Any]:
        if not _number(self.url):
            raise StageError(f"{self.url} does not name a school: …?S=NUMBER", code="bad_url")
        page = self.client.page(self.home(self.url))
        tokens = {name: pattern.search(page.text) for name, pattern in _TOKENS.items()}
        if not all(tokens.values()):
            raise SourceError(f"{self.url} does not show its list to programs", code="wrong_page")
        asked = {"ListingType": "0", "SortColName": "DateTime", "IsSortDesc": True, "RecordCount": PAGE}
        said = {name: token.group(1) for name, token in tokens.items() if token}
        return asked | said | {"SchoolID": _number(self.url), "IsUserLoggedIn": False, "FilterExp": ""}

    def refs(self, meetings: list[Mapping[str, Any]]) -> Iterator[DocRef]:
        yield from self.each(meetings, self._meeting_refs)

    def _meeting_refs(self, meeting: Mapping[str, Any]) -> Iterator[DocRef]:
        number = meeting.get("Master_MeetingID")
        title = clean(unescape(meeting.get("MM_MeetingTitle") or ""))
        when = meeting.get("DateTime") or meeting.get("MM_DateTime") or ""
        day, hour = read_moment(when)
        if number:
            yield DocRef(
                external_id=str(number),
                url=urljoin(self.url, f"/SB_Meetings/ViewMeeting.aspx?S={_number(self.url)}&MID={number}"),
                title=title,
                body=self.settings["body"] or undated(title) or clean(meeting.get("ML_TypeTitle")),
                date=day or find_date(when),
                time=hour or find_time(when),
                kind=AGENDA,
                cancelled=is_cancelled(title),
                content_hint=HTML,
            )


def _number(url: str) -> str:
    query = {name.lower(): values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    return query.get("s", "") if query.get("s", "").isdigit() else ""


def _meetings(answer: Any) -> list[Mapping[str, Any]]:
    if isinstance(answer, Mapping):
        answer = answer.get("MeetingList") or answer.get("Data") or answer.get("data") or []
    return answer if isinstance(answer, list) else []
