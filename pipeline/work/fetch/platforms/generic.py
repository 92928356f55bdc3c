"""A city's own pages, where no platform is recognised: files wherever they are named, and agenda pages."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from functools import cached_property
from itertools import chain
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml.html import HtmlElement

from pipeline.errors import DocumentError
from pipeline.work.fetch.base import Fetcher, Option, compiled
from pipeline.work.fetch.dates import find_date, find_day, find_file_date, find_time, only_date
from pipeline.work.fetch.following import Followed, further
from pipeline.work.fetch.named_files import named_files
from pipeline.work.fetch.pages import Link, links, panel_of, parse, short_text
from pipeline.work.fetch.refs import (
    HTML,
    OTHER,
    PDF,
    DocRef,
    body_in,
    clean,
    is_cancelled,
    is_file,
    kind_of,
    url_identity,
)

# Document stores and shared folders: their addresses do not say what is kept there.
_STORES = re.compile(
    r"/DocumentCenter/View/\d+|/Archive\.aspx\?ADID=\d+|/showpublisheddocument/\d+|/showdocument\?id=\d+"
    r"|/ImageRepository/Document\?|/download(?:file|document)?(?:\.\w+)?[/?]|//(?:www\.)?dropbox\.com/"
    r"|//drive\.google\.com/(?:file/d/|open\?|uc\?)|//docs\.google\.com/document/d/"
    r"|//[\w.-]+\.sharepoint\.com/|//onedrive\.live\.com/|//1drv\.ms/|//(?:app\.)?box\.com/s/",
    re.I,
)
_DRIVE = re.compile(
    r"^https://drive\.google\.com/(?:file/d/|(?:open|uc)\?(?:[^#]{1,200}&)?id=)([\w-]+)", re.I
)
_DOCS = re.compile(r"^https://docs\.google\.com/document/d/([\w-]+)", re.I)
# What is no record although it stands beside one.
_ELSEWHERE = re.compile(
    r"(?:^|\.)(?:youtube|youtu|vimeo|facebook|twitter|x|instagram|zoom|webex|gotomeeting|swagit)\.[a-z]+$",
    re.I,
)
_OTHER_FILES = re.compile(
    r"\.(?:jpe?g|png|gif|svg|ics|zip|mp[34]|m4[av]|wav|mov|wmv|xlsx?|pptx?|csv|xml)$", re.I
)
# What stands among the minutes and is none.
_NO_RECORD = re.compile(
    r"\b(?:notice|audit|budget|by-?laws|calendar|schedule|handbook|policy|map|application|form|rules)\b", re.I
)
_NOTICE = re.compile(r"\bnotice\b", re.I)
_POSTED = re.compile(r"\b(?:posted|updated|uploaded|published|revised|modified)\b", re.I)
_LONE_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# In one listing, at a pause each.
MOST_FOLLOWED = 100
_ROWS = ("tr", "li", "p", "dd", "article", "section", "div")


class Generic(Fetcher):
    name = "generic"
    label = "Page of PDF links"
    step = None
    options = (
        Option("body", "name of the meeting body, where the page does not say"),
        Option("match", "regular expression (RE2) that a link's address or text must match", pattern=True),
        Option("pages", "further addresses with links, read like the first", list, ()),
        Option(
            "follow", "read the archives by year and the meetings' pages that the page links to", bool, True
        ),
        Option("all_links", "follow links that do not end in .pdf as well (needs `match`)", bool, False),
    )

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        count = sum(1 for link in links(parse(html, url)) if is_record(link))
        return min(0.4, 0.1 + count / 50) if count else 0.0

    @classmethod
    def request_for(cls, url: str) -> tuple[str, dict[str, str] | None]:
        """Shared folders show a file in a page of their own unless they are asked for the file itself."""
        drive = _DRIVE.match(url)
        if drive:
            return f"https://drive.google.com/uc?export=download&id={drive.group(1)}", None
        written = _DOCS.match(url)
        if written:
            return f"https://docs.google.com/document/d/{written.group(1)}/export?format=pdf", None
        host = (urlsplit(url).hostname or "").lower()
        if host.endswith("dropbox.com"):
            return re.sub(r"([?&])dl=0", r"\1dl=1", url), None
        if host.endswith(".sharepoint.com") and "/:" in url and "download=1" not in url:
            return f"{url}{'&' if '?' in url else '?'}download=1", None
        return url, None

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        read: set[str] = set()
        waiting = deque(Followed(address) for address in (self.url, *self.settings["pages"]))
        given = len(waiting)
        while waiting:
            step = waiting.popleft()
            if url_identity(step.url) in read:
                continue
            if len(read) >= MOST_FOLLOWED + given:
                self.note(f"more than {MOST_FOLLOWED} pages to follow: the rest was not read")
                return
            tree = self._read(step, optional=len(read) >= given)
            read.add(url_identity(step.url))
            if tree is not None:
                yield from self._step_refs(tree, step)
                # Meetings' pages lead to each other and to everything else: they are not followed further.
                if self.settings["follow"] and step.day is None:
                    waiting.extend(further(tree, tree.get("data-base"), since))

    def _read(self, step: Followed, *, optional: bool) -> HtmlElement | None:
        """A page that was only followed may be gone; the listing goes on without it."""
        try:
            page = self.client.page(step.url)
        except DocumentError as error:
            if not optional:
                raise
            self.note(f"a page that it links to cannot be read: {error}")
            return None
        return self.tree(page.text, page.url)

    def _step_refs(self, tree: HtmlElement, step: Followed) -> Iterator[DocRef]:
        for ref in self._refs(tree, step.url):
            if step.day is None:
                yield ref
            else:
                body = self.settings["body"] or body_in(step.meeting) or ref.body
                yield replace(ref, date=step.day, body=body)

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        yield from self._refs(self.tree(html, url), url)

    def _refs(self, tree: HtmlElement, url: str) -> Iterator[DocRef]:
        names = [clean(tree.xpath(f"string(//{tag})")) for tag in ("h1", "title")]
        page_name = next((body_in(name) for name in names if body_in(name)), "") or names[0] or names[1]
        seen = {url_identity(url)}
        for link in chain(links(tree), named_files(tree)):
            identity = url_identity(link.url)
            if identity not in seen and self.wanted(link):
                seen.add(identity)
                yield self.ref(link, identity, page_name)

    def wanted(self, link: Link) -> bool:
        if self._match and not self._match.search(f"{link.url} {link.text}"):
            return False
        return is_record(link) or is_page(link) or bool(self.settings["all_links"] and self._match)

    @cached_property
    def _match(self) -> Any:
        return compiled(self.settings["match"]) if self.settings["match"] else None

    def ref(self, link: Link, identity: str, page_name: str) -> DocRef:
        file_name = PurePosixPath(unquote(urlsplit(link.url).path.replace("+", " "))).stem
        row, heading = row_text(link.element), panel_of(link.element) or link.heading
        kind, title = kind_of(link.text, file_name, _folder(link.url)), link.text or file_name
        return DocRef(
            external_id=identity,
            url=link.url,
            title=title,
            body=self.settings["body"] or body_in(heading) or page_name,
            date=_date_of(link, file_name, row, heading),
            time=find_time(link.text),
            kind=kind if kind != OTHER or _NO_RECORD.search(title) else _only_kind(row, heading),
            cancelled=is_cancelled(link.text, file_name),
            content_hint=HTML if is_page(link) else PDF,
        )


def is_record(link: Link) -> bool:
    # Document stores give no suffix: there only what says that it is a record.
    return is_file(link.url) or (
        bool(_STORES.search(link.url)) and kind_of(link.text, unquote(urlsplit(link.url).path)) != OTHER
    )


def is_page(link: Link) -> bool:
    """An agenda that is a page, or behind a short address: it says what it is, and of which day."""
    text = link.text
    if len(text) > 120 or (_only_kind(text) == OTHER and not _NOTICE.search(text)) or is_record(link):
        return False
    parts = urlsplit(link.url)
    if (
        _OTHER_FILES.search(parts.path)
        or _ELSEWHERE.search(parts.hostname or "")
        or not parts.path.strip("/")
    ):
        return False
    row = row_text(link.element)
    return bool(find_date(text) or find_date(parts.path) or (len(row) < 400 and find_date(row)))


def _date_of(link: Link, file_name: str, row: str, heading: str) -> date | None:
    """The row of a table or list speaks for the meeting; a file may be named after the day it was made."""
    said = find_date(link.when) or find_date(link.text)
    if said is None and not _POSTED.search(row) and link.element.tag == "a":
        said = only_date(row)
    texts = (link.text, file_name, row, heading)
    named = said or find_file_date(file_name) or find_date(row) or find_date(heading)
    return (
        named or _date_under(heading, texts) or _date_under(_folder_of_year(link.url), (link.text, file_name))
    )


def _folder_of_year(url: str) -> str:
    """`/minutes/2018/Feb22.pdf`: the year of the file; WordPress has folders by the day of the upload."""
    path = urlsplit(url).path
    return "" if "/wp-content/" in path else path.rpartition("/")[0]


def _folder(url: str) -> str:
    """The folder that a file lies in, those of years and months apart: `/agenda/2019/7.pdf` is an agenda."""
    folders = (part for part in reversed(urlsplit(url).path.split("/")[:-1]) if not part.isdigit())
    return next(folders, "") if is_file(url) else ""


def _only_kind(*texts: str) -> str:
    """The kind that a row or heading names; "Agendas & Minutes" names none."""
    short = [text for text in texts if len(text) < 200]
    return kind_of(*(text for text in short if not ("agenda" in text.lower() and "minutes" in text.lower())))


def _date_under(heading: str, texts: Iterable[str]) -> date | None:
    """The year stands in the heading and the day beside the link."""
    year = _LONE_YEAR.search(heading)
    days = (find_day(text, int(year.group())) for text in texts) if year else ()
    return next(filter(None, days), None)


def row_text(element: HtmlElement) -> str:
    """The words of the smallest row, item or paragraph around the link that names a date, or is a row."""
    for ancestor in element.iterancestors(*_ROWS):
        text = short_text(ancestor, 600)
        if text is None:
            break
        if ancestor.tag in ("tr", "li") or find_date(text):
            return text
    return ""
