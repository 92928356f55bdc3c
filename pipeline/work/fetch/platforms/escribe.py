"""eScribe: the calendar's own JSON method, with every document link of a meeting."""

import json
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any
from urllib.parse import urljoin

from pipeline.errors import SourceError
from pipeline.work.fetch.base import Fetcher, is_under
from pipeline.work.fetch.dates import find_date, find_time, read_moment
from pipeline.work.fetch.refs import HTML, PDF, DocRef, clean, is_cancelled, kind_of, url_identity

_NOT_DOCUMENTS = ("video", "audio", "livestream", "delegation", "comment")


class EScribe(Fetcher):
    name = "escribe"
    label = "eScribe"

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        if is_under(url, ".escribemeetings.com"):
            return 0.95
        return 0.6 if "MeetingsCalendarView.aspx" in html else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        return urljoin(url, "/")

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        answer = self.client.post(
            urljoin(self.url, "/MeetingsCalendarView.aspx/GetCalendarMeetings"),
            json={
                "calendarStartDate": f"{since}T00:00:00",
                "calendarEndDate": f"{until + timedelta(days=1)}T00:00:00",
            },
        )
        yield from self.refs(answer.json())

    def refs(self, answer: Mapping[str, Any]) -> Iterator[DocRef]:
        meetings = answer.get("d")
        if isinstance(meetings, str):  # older servers pack the list once more
            meetings = json.loads(meetings)
        if not isinstance(meetings, list):
            raise SourceError(f"{self.url} answered without a list of meetings", code="wrong_page")
        yield from self.each(meetings, self._meeting_refs)

    def _meeting_refs(self, meeting: Mapping[str, Any]) -> Iterator[DocRef]:
        stamp = str(meeting.get("StartDate") or "").replace("/", "-")
        day, hour = read_moment(stamp)
        spoken = meeting.get("FormattedStart") or ""
        name = clean(meeting.get("MeetingName"))
        for link in meeting.get("MeetingDocumentLink") or ():
            address, what = link.get("Url") or "", str(link.get("Type") or "")
            if not address or any(word in what.lower() for word in _NOT_DOCUMENTS):
                continue
            url = urljoin(self.url, address)
            yield DocRef(
                external_id=url_identity(url).partition("/")[2],
                url=url,
                title=clean(link.get("Title")) or name,
                body=clean(meeting.get("MeetingType")) or name,
                date=day or find_date(spoken),
                time=hour or find_time(spoken),
                kind=kind_of(what, link.get("Title") or ""),
                cancelled=is_cancelled(name, link.get("Title") or "", str(meeting.get("TimeOverride") or "")),
                content_hint=HTML if "html" in str(link.get("Format")).lower() else PDF,
            )
