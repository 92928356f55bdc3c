"""CivicPlus Agenda Center; civic-scraper reads the rows, and no document link on the page is left out."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any
from urllib.parse import urljoin, urlsplit

from civic_scraper.platforms.civic_plus.parser import Parser

from pipeline.work.fetch.base import Fetcher, Option
from pipeline.work.fetch.pages import Link, links, shallow, text_of
from pipeline.work.fetch.refs import HTML, PDF, DocRef, clean, is_cancelled, kind_of

_FILE = re.compile(
    r"/AgendaCenter/ViewFile/(?P<kind>\w+)/_(?P<month>\d\d)(?P<day>\d\d)(?P<year>\d{4})-", re.I
)
_CATEGORY = re.compile(r"/AgendaCenter/[^/?]*-(\d+)/?(?:[?#].*)?$", re.I)


class CivicPlus(Fetcher):
    name = "civicplus"
    label = "CivicPlus Agenda Center"
    options = (Option("categories", "numbers of the categories to list; all where empty", list, ()),)

    @classmethod
    def detect(cls, url: str, html: str) -> float:
        if "/agendacenter" in urlsplit(url).path.lower():
            return 0.95
        if "/AgendaCenter/ViewFile/" in html:
            return 0.9
        return 0.5 if "civicplus" in html.lower() and "AgendaCenter" in html else 0.0

    @classmethod
    def home(cls, url: str) -> str:
        return url if _CATEGORY.search(url) else urljoin(url, "/AgendaCenter")

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        named = _CATEGORY.search(self.url)
        wanted = self.settings["categories"] or ([named.group(1)] if named else ["all"])
        query = {
            "term": "",
            "CIDs": ",".join(str(number) for number in wanted),
            "startDate": f"{since:%m/%d/%Y}",
            "endDate": f"{until:%m/%d/%Y}",
            "dateRange": "",
            "dateSelector": "",
        }
        page = self.client.page(urljoin(self.url, "/AgendaCenter/Search/"), params=query)
        yield from self.refs(page.text, page.url)

    def refs(self, html: str, url: str) -> Iterator[DocRef]:
        tree = self.tree(html, url)
        found = {link.url: link for link in links(tree) if _FILE.search(link.url)}
        for row in _rows(html):
            link = found.pop(urljoin(url, row["url_path"]), None)
            if link is not None:
                yield self._ref(link, row["committee_name"], row["meeting_title"], row["meeting_date"].date())
        for link in found.values():
            yield self._ref(link, _body(link), link.element.get("aria-label") or link.text, None)

    def _ref(self, link: Link, body: str, title: str, day: date | None) -> DocRef:
        file = _FILE.search(link.url)
        assert file is not None
        packet = "packet=true" in link.url.lower()
        page = "html=true" in link.url.lower() or "html" in (link.element.get("class") or "").split()
        return DocRef(
            external_id=link.url[file.start() + len("/AgendaCenter/ViewFile/") :],
            url=link.url,
            title=title,
            body=clean(body).lstrip("▼ "),
            date=day or _date(file),
            kind="packet" if packet else kind_of(file.group("kind")),
            cancelled=is_cancelled(title),
            content_hint=HTML if page and not packet else PDF,
        )


def _rows(html: str) -> list[dict[str, Any]]:
    """civic-scraper's rows, on a page freed of what it stumbles over (a bad row would cost all)."""
    parser = Parser(shallow(html))
    for division in parser._get_divs_by_board():
        if not division.tbody or not (division.h2 or division.h3):
            division.decompose()
            continue
        for row in division.tbody.find_all("tr"):
            name = row.a.get("name", "") if row.a else ""
            if not row.p or not _real_date(name):
                row.decompose()
        for anchor in division.find_all("a", href=re.compile("^/AgendaCenter/ViewFile")):
            if not re.match(r"/AgendaCenter/ViewFile/(?:agenda|minutes)/", anchor["href"], re.I):
                anchor.decompose()
    return parser.parse()


def _body(link: Link) -> str:
    """The title of the category that the link stands in: a row may have a heading of its own, its date."""
    title = link.element.xpath("ancestor::div[starts-with(@id, 'cat')][1]//*[self::h2 or self::h3][1]")
    return text_of(title[0]) if title else link.heading


def _real_date(name: str) -> bool:
    parts = re.match(r"_(?P<month>\d\d)(?P<day>\d\d)(?P<year>\d{4}).", name)
    return parts is not None and _date(parts) is not None


def _date(file: re.Match[str]) -> date | None:
    try:
        return date(int(file.group("year")), int(file.group("month")), int(file.group("day")))
    except ValueError:
        return None
