"""What is new, for feed readers and calendars: Atom of a site, a body or a search; iCalendar of meetings."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from records.meetings import CURRENT, Meeting
from records.published import PublishedDocument, PublishedSite, Records
from records.results import Hit

ENTRIES = 50
SUMMARY_CHARACTERS = 400
MOST_EVENTS = 1000
# A line of iCalendar has at most 75 octets, the first of a continuation being a space.
LINE_OCTETS = 74
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def documents_feed(records: Records, site: PublishedSite, body: str, base: str, own: str) -> str:
    """The documents that came in last."""
    found = records.documents(
        f"WHERE {CURRENT} AND (?1 = '' OR body = ?1) ORDER BY fetched_at DESC, date DESC, id LIMIT ?2",
        *(body, ENTRIES),
    )
    title = f"{body}, {site.title}" if body else site.title
    home = base + reverse("records:site", args=(site.id,))
    feed = Atom1Feed(title=f"New records: {title}", link=home, description=None, feed_url=base + own)
    for document in found:
        link = base + reverse("records:document", args=(site.id, document.id))
        page = next(iter(records.pages(document.id)), None)
        feed.add_item(
            title=_printable(_title(document)),
            link=link,
            unique_id=link,
            description=_printable((page.text if page else "")[:SUMMARY_CHARACTERS]),
            updateddate=moment_of(document),
        )
    return feed.writeString("utf-8")


def search_feed(words: str, hits: Iterable[Hit], base: str, page: str, own: str) -> str:
    """The newest pages that a search finds."""
    feed = Atom1Feed(
        title=f"Search: {_printable(words) or 'everything'}", link=base + page, description=None,
        feed_url=base + own,
    )  # fmt: skip
    for hit in islice(hits, ENTRIES):
        link = base + reverse("records:page", args=(hit.document.site, hit.document.id, hit.page.number))
        feed.add_item(
            title=_printable(f"{hit.site_title}: {_title(hit.document)}, page {hit.page.number}"),
            link=base + hit.url,
            unique_id=link,
            description=_printable("".join(piece.text for piece in hit.snippet)),
            updateddate=moment_of(hit.document),
        )
    return feed.writeString("utf-8")


def _title(document: PublishedDocument) -> str:
    said = [document.body, document.kind, document.date]
    return f"{document.name} ({', '.join(filter(None, said))})"


def moment_of(document: PublishedDocument) -> datetime:
    """When it came in; where nobody knows, its meeting's day."""
    for told in (document.fetched_at, document.date):
        try:
            moment = datetime.fromisoformat(told)
        except ValueError:
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return EPOCH


def _printable(text: str) -> str:
    """Without what XML cannot hold, which scanned pages do."""
    return "".join(character for character in text if character in "\t\n" or character >= " ").replace(
        "\x7f", ""
    )


# ---- Calendar -----------------------------------------------------------------------------------------


def calendar_of(site: PublishedSite, meetings: Iterable[Meeting], base: str) -> str:
    """Each meeting as a day: the records do not say when a meeting ended."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Clerk//Meetings//EN",
        f"X-WR-CALNAME:{_escaped(site.title)}",
    ]
    for meeting in islice((each for each in meetings if each.date), MOST_EVENTS):
        lines += _event(site, meeting, base)
    return "".join(f"{folded}\r\n" for line in [*lines, "END:VCALENDAR"] for folded in _folded(line))


def _event(site: PublishedSite, meeting: Meeting, base: str) -> list[str]:
    try:
        day = date.fromisoformat(meeting.date)
    except ValueError:
        return []
    url = base + reverse("records:meeting", args=(site.id, meeting.id))
    return [
        "BEGIN:VEVENT",
        f"UID:{meeting.id}@{site.id}",
        # The day itself, not the moment of asking: the same meeting is the same text tomorrow.
        f"DTSTAMP:{day:%Y%m%d}T000000Z",
        f"DTSTART;VALUE=DATE:{day:%Y%m%d}",
        f"DTEND;VALUE=DATE:{day + timedelta(days=1):%Y%m%d}",
        f"SUMMARY:{_escaped(f'{meeting.name}, {site.title}')}",
        f"DESCRIPTION:{_escaped(', '.join(meeting.kinds) or 'documents')}",
        f"URL:{url}",
        "END:VEVENT",
    ]


def _escaped(text: str) -> str:
    for character in "\\;,":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _folded(line: str) -> list[str]:
    parts, part = [], ""
    for character in line:
        if len((part + character).encode()) > LINE_OCTETS:
            parts.append(part)
            part = " "
        part += character
    return [*parts, part]
