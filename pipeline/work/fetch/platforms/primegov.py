"""PrimeGov: the public portal's lists of archived and upcoming meetings."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urljoin

from pipeline.errors import DocumentError
from pipeline.work.fetch.base import Fetcher, Option, is_under
from pipeline.work.fetch.dates import find_time, read_date, read_moment
from pipeline.work.fetch.refs import HTML, PDF, DocRef, clean, is_cancelled, kind_of

_API = "/api/v2/PublicPortal/"
_PAGE_OUTPUT = 3


class PrimeGov(Fetcher):
    name = "primegov"
    label = "PrimeGov"
    options = (Option("committees", "numbers of the committees to list; all where empty", list, ()),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        if is_under(url, ".primegov.com"):
            return 0.95
        return 0.7 if "/api/v2/PublicPortal" in html or "/Public/CompiledDocument" in html else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        return urljoin(url, "/public/portal")

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        names, today = self._committees(), datetime.now(UTC).date()
        if until >= today:
            yield from self.refs(self._meetings("ListUpcomingMeetings"), names)
        for year in range(min(until.year, today.year), since.year - 1, -1):
            yield from self.refs(self._meetings(f"ListArchivedMeetings?year={year}"), names)

    def _meetings(self, what: str) -> list[dict[str, Any]]:
        return self.client.page(urljoin(self.url, _API + what)).json() or []

    def _committees(self) -> dict[int, str]:
        """Committee names by number; meetings carry only the number."""
        address = urljoin(self.url, "/api/committee/GetCommitteeesListByShowInPublicPortal")
        try:
            found = self.client.page(address).json()
        except DocumentError:  # a portal without that list: its meetings carry titles
            return {}
        return {
            entry["id"]: clean(entry.get("name"))
            for entry in found
            if isinstance(entry, dict) and "id" in entry
        }

    def refs(
        self, meetings: list[dict[str, Any]], names: Mapping[int, str] | None = None
    ) -> Iterator[DocRef]:
        yield from self.each(meetings, lambda meeting: self._meeting_refs(meeting, names or {}))

    def _meeting_refs(self, meeting: Mapping[str, Any], names: Mapping[int, str]) -> Iterator[DocRef]:
        number = meeting.get("committeeId")
        if self.settings["committees"] and number not in self.settings["committees"]:
            return
        committee = names.get(number or 0, "")
        title = clean(meeting.get("title"))
        day, hour = read_moment(meeting.get("dateTime"))
        for document in meeting.get("documentList") or ():
            if not document.get("templateId") and not document.get("id"):
                continue
            template, output = document.get("templateId"), document.get("compileOutputType") or 1
            name = clean(document.get("templateName"))
            yield DocRef(
                # A document published anew gets a new id, its template and output stay.
                external_id=f"{template}-{output}" if template else f"file-{document['id']}",
                url=self._address(document, output),
                title=f"{title} {name}",
                body=committee or title,
                date=day or read_date(meeting.get("date") or ""),
                time=hour or find_time(meeting.get("time") or ""),
                kind=kind_of(name),
                cancelled=is_cancelled(title, name),
                content_hint=HTML if output == _PAGE_OUTPUT else PDF,
                revision=str(document.get("id") or ""),
            )

    def _address(self, document: Mapping[str, Any], output: int) -> str:
        if document.get("link"):
            return urljoin(self.url, document["link"])
        template = document.get("templateId")
        which = (
            f"meetingTemplateId={template}" if template else f"compiledMeetingDocumentFileId={document['id']}"
        )
        if output == _PAGE_OUTPUT:
            return urljoin(self.url, f"/Portal/Meeting?{which}")
        return urljoin(self.url, f"/Public/CompiledDocument?{which}&compileOutputType={output}")
