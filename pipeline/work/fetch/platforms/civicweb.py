"""CivicWeb (Diligent, iCompass): the meetings service, and a question for each meeting's documents."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from html import unescape
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.dates import find_time, read_date, read_moment, undated
from pipeline.work.fetch.refs import HTML, OTHER, PDF, DocRef, clean, is_cancelled, kind_of

# Diligent Community is the same engine under newer names.
_HOSTS = (".civicweb.net", ".community.diligentoneplatform.com", ".diligent.community")
_SERVICE = "/Services/MeetingsService.svc/meetings"
_KINDS = {1: "agenda", 4: "agenda", 2: "minutes", 10: "minutes"}


class CivicWeb(Fetcher):
    name = "civicweb"
    label = "CivicWeb, Diligent Community"
    # One request a meeting: small slices, so that a backfill keeps what it has got.
    step = timedelta(days=91)
    options = (Option("types", "numbers of the meeting types to list; all where empty", list, ()),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        if f".{urlsplit(url).hostname or ''}".endswith(_HOSTS):
            return 0.95
        return 0.7 if "MeetingsService.svc" in html or "/Portal/MeetingInformation.aspx" in html else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        return urljoin(url, "/Portal/")

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        for meeting in named(self.meetings(since, until)):
            found = self.client.page(urljoin(self.url, f"{_SERVICE}/{meeting['Id']}/meetingDocuments")).json()
            yield from self.refs(meeting, found or [])

    def meetings(self, since: date, until: date) -> list[dict[str, Any]]:
        query = {"from": since.isoformat(), "to": until.isoformat()}
        return self.wanted(self.client.page(urljoin(self.url, _SERVICE), params=query).json() or [])

    def wanted(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Published meetings of the types asked for."""
        types = self.settings["types"]
        return [
            row
            for row in rows
            if row.get("Id") and row.get("Published", True) and (not types or _type(row) in types)
        ]

    def refs(self, meeting: Mapping[str, Any], documents: list[dict[str, Any]]) -> Iterator[DocRef]:
        title = clean(meeting.get("Name"))
        day, hour = read_moment(meeting.get("MeetingDateTime"))
        for document in documents:
            name = clean(unescape(document.get("Name") or "")) or title
            page = bool(document.get("Html"))
            kind = kind_of(name)
            yield DocRef(
                external_id=str(document["Id"]),
                url=self._address(document["Id"], name, page),
                title=name,
                body=clean(meeting.get("MeetingTypeName")) or undated(title),
                date=day or read_date(meeting.get("MeetingDate") or ""),
                time=hour or find_time(meeting.get("MeetingTime") or ""),
                kind=kind if kind != OTHER else _KINDS.get(document.get("DocumentType") or 0, OTHER),
                cancelled=is_cancelled(title, name),
                content_hint=HTML if page else PDF,
            )

    def _address(self, number: int, name: str, page: bool) -> str:
        # The number names the document. The name is for people, and the server refuses some signs in it.
        readable = quote(clean(re.sub(r"[^\w.,()-]", " ", name)))
        return urljoin(self.url, f"/document/{number}/{readable}.{'html' if page else 'pdf'}")


def _type(meeting: Mapping[str, Any]) -> Any:
    return meeting.get("MeetingTypeId") or meeting.get("TypeId")


def named(meetings: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Meetings that carry only the number of their type, with the name that others of that type have."""
    names = {_type(row): row["MeetingTypeName"] for row in meetings if row.get("MeetingTypeName")}
    for row in meetings:
        name = row.get("MeetingTypeName") or names.get(_type(row))
        yield row | {"MeetingTypeName": name} if name else row
