"""OnBoard (Passageways): the public page of a group lists its meetings, each with a page of its own."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cached_property
from urllib.parse import unquote, urlsplit

from pipeline.errors import DocumentError
from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.dates import find_date, find_time
from pipeline.work.fetch.pages import Link, links, row_around, text_of
from pipeline.work.fetch.refs import (
    OTHER,
    DocRef,
    body_in,
    clean,
    is_cancelled,
    is_file,
    kind_of,
    url_identity,
)

_HOST = "public.onboardmeetings.com"
_MEETING = re.compile(r"/Meeting/[^/?]+/(?P<id>[^/?]+)", re.I)
_FILE = re.compile(r"/(?:Document|File|Download|Book|Minutes|Agenda)s?/", re.I)


class OnBoard(Fetcher):
    name = "onboard"
    label = "OnBoard"
    # One request a meeting: small slices, so that a backfill keeps what it has got.
    step = timedelta(days=182)
    options = (Option("body", "name of the group, where its page does not say"),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        return 0.95 if urlsplit(url).hostname == _HOST else 0.0

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        group, meetings = self._group
        for link, when in meetings:
            day = find_date(when)
            if day is None or since <= day <= until:
                yield from self._meeting_refs(link, when, group)

    @cached_property
    def _group(self) -> tuple[str, list[tuple[Link, str]]]:
        """The group's name, and its meetings with what stands beside them; asked for once."""
        page = self.client.page(self.url)
        return self.meetings(page.text, page.url)

    def meetings(self, html: str, url: str) -> tuple[str, list[tuple[Link, str]]]:
        tree = self.tree(html, url)
        name = clean(tree.xpath("string(//h1)")) or clean(tree.xpath("string(//title)"))
        found = {link.url: link for link in links(tree) if _MEETING.search(link.url)}
        return body_in(name) or name, [
            (link, link.text if find_date(link.text) else text_of(row_around(link.element)))
            for link in found.values()
        ]

    def _meeting_refs(self, link: Link, when: str, group: str) -> Iterator[DocRef]:
        try:
            page = self.client.page(link.url)
        except DocumentError as error:
            self.note(f"the page of a meeting cannot be read: {error}")
            return
        yield from self.refs(page.text, page.url, when, group)

    def refs(self, html: str, url: str, when: str, group: str = "") -> Iterator[DocRef]:
        """The files on the page of one meeting."""
        for link in links(self.tree(html, url)):
            kind = kind_of(link.text, unquote(urlsplit(link.url).path))
            if is_file(link.url) or (kind != OTHER and _FILE.search(urlsplit(link.url).path)):
                yield DocRef(
                    external_id=url_identity(link.url),
                    url=link.url,
                    title=link.text,
                    body=self.settings["body"] or group,
                    date=find_date(when),
                    time=find_time(when),
                    kind=kind,
                    cancelled=is_cancelled(when),
                )
