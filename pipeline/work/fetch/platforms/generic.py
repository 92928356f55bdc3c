"""Any page with links to PDFs, when no platform is recognised."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml.html import HtmlElement

from pipeline.work.fetch.base import Fetcher, Option, compiled
from pipeline.work.fetch.dates import find_date, find_day, find_time
from pipeline.work.fetch.pages import Link, links, panel_of, parse, short_text
from pipeline.work.fetch.refs import (
    OTHER,
    DocRef,
    body_in,
    clean,
    is_cancelled,
    is_pdf,
    kind_of,
    url_identity,
)

_STORES = re.compile(
    r"/DocumentCenter/View/\d+|/Archive\.aspx\?ADID=\d+|/showpublisheddocument/\d+|/showdocument\?id=\d+"
    r"|/ImageRepository/Document\?|/download(?:file|document)?(?:\.\w+)?[/?]|//(?:www\.)?dropbox\.com/"
    r"|//drive\.google\.com/(?:file/d/|open\?id=)",
    re.I,
)
_DRIVE = re.compile(r"^https://drive\.google\.com/(?:file/d/|open\?id=)([\w-]+)", re.I)
_LONE_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ROWS = ("tr", "li", "p", "dd", "article", "section", "div")


class Generic(Fetcher):
    name = "generic"
    label = "Page of PDF links"
    step = None
    options = (
        Option("body", "name of the meeting body, where the page does not say"),
        Option("match", "regular expression (RE2) that a link's address or text must match", pattern=True),
        Option("pages", "further addresses with links, read like the first", list, ()),
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
        if (urlsplit(url).hostname or "").endswith("dropbox.com"):
            return re.sub(r"([?&])dl=0", r"\1dl=1", url), None
        return url, None

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        for address in (self.url, *self.settings["pages"]):
            page = self.client.page(address)
            yield from self.refs(page.text, page.url)

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        tree = self.tree(html, url)
        names = [clean(tree.xpath(f"string(//{tag})")) for tag in ("h1", "title")]
        page_name = next((body_in(name) for name in names if body_in(name)), "") or names[0] or names[1]
        seen: set[str] = set()
        for link in links(tree):
            identity = url_identity(link.url)
            if identity not in seen and self.wanted(link):
                seen.add(identity)
                yield self.ref(link, identity, page_name)

    def wanted(self, link: Link) -> bool:
        if self._match and not self._match.search(f"{link.url} {link.text}"):
            return False
        return is_record(link) or bool(self.settings["all_links"] and self._match)

    @cached_property
    def _match(self) -> Any:
        return compiled(self.settings["match"]) if self.settings["match"] else None

    def ref(self, link: Link, identity: str, page_name: str) -> DocRef:
        file_name = PurePosixPath(unquote(urlsplit(link.url).path.replace("+", " "))).stem
        row, heading = row_text(link.element), panel_of(link.element) or link.heading
        texts = (link.text, file_name, row, heading)
        kind = kind_of(link.text, file_name)
        return DocRef(
            external_id=identity,
            url=link.url,
            title=link.text or file_name,
            body=self.settings["body"] or body_in(heading) or page_name,
            date=next(filter(None, map(find_date, texts)), None) or _date_under(heading, texts),
            time=find_time(link.text),
            kind=kind if kind != OTHER else _only_kind(row if len(row) < 200 else "", heading),
            cancelled=is_cancelled(link.text, file_name),
        )


def is_record(link: Link) -> bool:
    # Document stores give no suffix: there only what says that it is a record.
    return is_pdf(link.url) or (
        bool(_STORES.search(link.url)) and kind_of(link.text, unquote(urlsplit(link.url).path)) != OTHER
    )


def _only_kind(*texts: str) -> str:
    """The kind that a row or heading names; "Agendas & Minutes" names none."""
    return kind_of(*(text for text in texts if not ("agenda" in text.lower() and "minutes" in text.lower())))


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
