"""Which links of a city's own page lead to more of it: archives by year, next pages, a page for a meeting."""

import re
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from lxml.html import HtmlElement

from pipeline.work.fetch.dates import find_date
from pipeline.work.fetch.pages import Link, links
from pipeline.work.fetch.refs import OTHER, is_file, kind_of, url_identity

_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_ARCHIVE = re.compile(
    r"^\W*(?:(?:city|town|village|county|board|council|meeting|commission|committee|view|past|previous|older|archived?"
    r"|archives?|all|agendas?|minutes|packets?|and|&|of|for|the|meetings?|documents?|records?|page|(?:19|20)\d\d)\W*){1,8}$",
    re.I,
)
_RECORDS = re.compile(r"archive|agenda|minutes|packet|meeting", re.I)
_MEETING = re.compile(r"meeting|hearing|session|workshop|retreat|council|board|commission|committee", re.I)
_NEXT = re.compile(r"^\W*(?:next|older)(?:\s+(?:page|posts|entries|events))?\W*$", re.I)


@dataclass(frozen=True)
class Followed:
    """A page to read, and the meeting that it is of, if it is of one."""

    url: str
    meeting: str = ""
    day: date | None = None


def further(tree: HtmlElement, url: str, since: date) -> list[Followed]:
    """What is worth following on a page, archives first; only on its host, nothing older than asked for."""
    host, found = urlsplit(url).hostname, dict[str, Followed]()
    for link in links(tree):
        if urlsplit(link.url).hostname != host or is_file(link.url):
            continue
        step = _archive(link, since) or _meeting(link, since)
        if step is not None:
            found.setdefault(url_identity(link.url), step)
    found.pop(url_identity(url), None)
    return sorted(found.values(), key=lambda step: (step.day is not None, -(step.day or since).toordinal()))


def _archive(link: Link, since: date) -> Followed | None:
    text = link.text
    if link.element.get("rel") == "next" or _NEXT.match(text):
        return Followed(link.url)
    if len(text) > 60 or find_date(text) or not _ARCHIVE.match(text):
        return None
    # Without a year "Agendas" may be any entry of the site's menu, and years part other things, too.
    year, about = _YEAR.search(text), f"{text} {urlsplit(link.url).path}"
    return Followed(link.url) if year and int(year.group()) >= since.year and _RECORDS.search(about) else None


def _meeting(link: Link, since: date) -> Followed | None:
    day = find_date(link.text)
    about = f"{link.text} {urlsplit(link.url).path}"
    # What says that it is an agenda is a document itself.
    if day is None or day < since or len(link.text) > 200 or kind_of(link.text) != OTHER:
        return None
    if not _MEETING.search(about):
        return None
    return Followed(link.url, link.text, day)
