"""Calendar feeds (iCalendar), of Google and Outlook, too: the files that their events attach or link to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from html import unescape
from urllib.parse import parse_qs, quote, unquote, urlsplit

from pipeline.errors import SourceError
from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.dates import find_date, read_moment
from pipeline.work.fetch.pages import Link, links, parse
from pipeline.work.fetch.platforms.generic import Generic, is_record
from pipeline.work.fetch.refs import DocRef, clean, convened, is_cancelled, is_file, kind_of, url_identity

_GOOGLE = "https://calendar.google.com/calendar/ical/{}/public/basic.ics"
_OUTLOOK = re.compile(
    r"^(https://outlook\.(?:office365|office|live)\.com/(?:owa/)?calendar/[^?#]+)/calendar\.html", re.I
)
_ADDRESS = re.compile(r"https?://[^\s<>\"'\\]{4,2000}")
_ESCAPED = re.compile(r"\\([nN,;\\])")
MOST_EVENTS = 50_000


@dataclass
class Event:
    """The parts of a VEVENT that matter here."""

    uid: str = ""
    start: str = ""
    summary: str = ""
    status: str = ""
    texts: list[str] = field(default_factory=list)
    attached: list[tuple[str, str]] = field(default_factory=list)


class Calendar(Fetcher):
    name = "calendar"
    label = "Calendar feed"
    step = None
    options = (Option("body", "name of the meeting body, for a calendar that has only one"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        if html.lstrip()[:15].upper() == "BEGIN:VCALENDAR":
            return 0.95
        return 0.9 if cls.home(url) != url or urlsplit(url).path.lower().endswith(".ics") else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        """The feed behind a calendar that a page shows in a frame."""
        parts = urlsplit(url)
        source = parse_qs(parts.query).get("src", [""])[0]
        if parts.hostname == "calendar.google.com" and parts.path.endswith("/embed") and source:
            return _GOOGLE.format(quote(source, safe=""))
        outlook = _OUTLOOK.match(url)
        return f"{outlook.group(1)}/calendar.ics" if outlook else url

    @classmethod
    def request_for(cls, url: str) -> tuple[str, dict[str, str] | None]:
        return Generic.request_for(url)

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        page = self.client.page(self.home(self.url))
        yield from self.refs(page.text, page.url)

    def refs(self, feed: str, url: str) -> Iterator[DocRef]:
        if "BEGIN:VCALENDAR" not in feed[:1000].upper():
            raise SourceError(f"{url} is not a calendar feed", code="wrong_page")
        yield from self.each(events_of(feed), self._event_refs)

    def _event_refs(self, event: Event) -> Iterator[DocRef]:
        day, hour = read_moment(_stamp(event.start))
        for link in _links_of(event):
            yield DocRef(
                external_id=f"{event.uid}#{url_identity(link.url)}",
                url=link.url,
                title=f"{event.summary} {link.text}",
                body=self.settings["body"] or convened(event.summary),
                date=day or find_date(event.summary),
                time=hour,
                kind=kind_of(link.text, unquote(link.url.rpartition("/")[2])),
                cancelled=event.status == "CANCELLED" or is_cancelled(event.summary),
            )


def events_of(feed: str) -> Iterator[Event]:
    """Each event of a feed; lines that were folded are one."""
    event: Event | None = None
    lines = re.sub(r"\r?\n[ \t]", "", feed).splitlines()
    count = 0
    for line in lines:
        if line == "BEGIN:VEVENT":
            event, count = Event(), count + 1
        elif line == "END:VEVENT" and event is not None:
            yield event
            event = None
        elif event is not None:
            _note(event, line)
        if count > MOST_EVENTS:
            raise SourceError(f"a calendar of more than {MOST_EVENTS} events", code="too_large")


def _note(event: Event, line: str) -> None:
    name, _, value = line.partition(":")
    name, _, parameters = name.partition(";")
    if name == "ATTACH" and value.startswith("http"):
        label = re.search(r"FILENAME=\"?([^\";:]{1,300})", parameters, re.I)
        event.attached.append((value, label.group(1) if label else ""))
    elif name in ("DESCRIPTION", "URL", "LOCATION", "X-ALT-DESC"):
        event.texts.append(_plain(line.partition(":")[2] if name != "URL" else value))
    elif name in ("UID", "SUMMARY", "STATUS", "DTSTART"):
        setattr(event, {"DTSTART": "start"}.get(name, name.lower()), clean(_plain(value)))


def _plain(value: str) -> str:
    return _ESCAPED.sub(lambda match: "\n" if match.group(1) in "nN" else match.group(1), value)


def _stamp(start: str) -> str:
    """`20260602T183000Z` as other code reads it; the clock is taken for the city's own."""
    moment = re.match(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d))?", start)
    if not moment:
        return start
    year, month, day, hour, minute = moment.groups()
    return f"{year}-{month}-{day}" + (f"T{hour}:{minute}:00" if hour else "")


def _links_of(event: Event) -> list[Link]:
    """Attachments; in the description what is a file, or says that it is a record."""
    found: dict[str, Link] = {}
    for url, name in event.attached:
        found.setdefault(url_identity(url), Link(url, name, parse("")))
    for text in event.texts:
        linked = [link for link in links(parse(unescape(text))) if is_record(link)]
        bare = (
            [Link(url, "", parse("")) for url in _ADDRESS.findall(text) if is_file(url)] if not linked else []
        )
        for link in (*linked, *bare):
            found.setdefault(url_identity(link.url), link)
    return [*found.values()]
