"""Reading HTML with lxml: links with their visible text, and where they stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from urllib.parse import urldefrag, urljoin, urlsplit

import lxml.etree
import lxml.html
from lxml.html import HtmlElement

from pipeline.work.fetch.dates import find_date
from pipeline.work.fetch.deep_pages import is_bearable, read_deep
from pipeline.work.fetch.refs import clean

_OPENED = re.compile(r"window\.open\(\s*['\"]([^'\"]+)")
_TAB = re.compile(r"tab|accordion", re.I)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "summary")
_LONGEST_HEADING = 500
# What stands around a link is looked for so far up, and in elements of so many parts.
_LEVELS = 100
_PARTS = 1000
# Long descriptions stand in table rows; a row longer than this is a page laid out as a table.
_LONGEST_ROW = 20_000


@dataclass(frozen=True)
class Link:
    url: str
    text: str
    element: HtmlElement
    heading: str = ""
    # When, where the page says it in data rather than in words.
    when: str = ""


def parse(html: str | bytes, base_url: str = "") -> HtmlElement:
    """A tree of any page, however broken; links are resolved against its <base>."""
    if isinstance(html, str):
        html = html.encode("utf-8", "replace")
    tree = _tree(html.replace(b"\x00", b""))
    base = tree.xpath("string(//base/@href)")
    tree.set("data-base", _joined(base_url, base) or base_url)
    short_text.cache_clear()  # it would keep the page before this one in memory
    return tree


def _tree(html: bytes) -> HtmlElement:
    parser = lxml.html.HTMLParser(encoding="utf-8")
    try:
        tree = lxml.html.document_fromstring(html, parser=parser, ensure_head_body=True)
    except lxml.etree.ParserError:  # not one element in it
        tree = lxml.html.document_fromstring(b"<html></html>", ensure_head_body=True)
    if not parser.error_log.filter_from_fatals():
        return tree
    # Tags that are never closed nest until lxml gives up, and leaves out the rest of the page.
    if is_bearable(html):
        return read_deep(html)
    tree.set("data-cut", "")
    return tree


def is_deep(tree: HtmlElement) -> bool:
    """Whether the page was nested deeper than a reader without limits can bear."""
    return tree.get("data-deep") is not None


def is_cut(tree: HtmlElement) -> bool:
    """Whether the page was too much to be read in full."""
    return tree.get("data-cut") is not None


def shallow(html: str) -> str:
    """The page for a library that reads it by itself: as it is, or with its levels laid flat."""
    tree = parse(html)
    return lxml.html.tostring(tree, encoding="unicode") if is_deep(tree) else html


def resolve(element: HtmlElement, href: str) -> str:
    """The absolute address of a link on the page, without its fragment; empty for what is no address."""
    return _joined(element.getroottree().getroot().get("data-base", ""), href)


def _joined(base: str, href: str) -> str:
    try:
        url = urldefrag(urljoin(base, href.strip())).url.replace(" ", "%20")
        if ":" in url[8:]:
            urlsplit(url).port  # noqa: B018 - an impossible port is found out only when it is asked for
    except ValueError:
        return ""
    return url


def links(element: HtmlElement) -> Iterator[Link]:
    """Every link, with the last heading before it; one pass, for pages have thousands of them."""
    heading = ""
    for item in element.iter("a", *_HEADINGS):
        if item.tag != "a":
            heading = short_text(item, _LONGEST_HEADING) or spoken_by(item)
            continue
        url = target_of(item)
        if url.startswith(("http://", "https://")):
            yield Link(url, text_of(item), item, heading)


def target_of(anchor: HtmlElement) -> str:
    """Where a link leads, also where a script opens it in a window of its own; empty if nowhere."""
    href = (anchor.get("href") or "").strip()
    if not href or href.startswith("#") or href.lower().startswith("javascript:"):
        opened = _OPENED.search(anchor.get("onclick") or "") or _OPENED.search(href)
        href = opened.group(1) if opened else ""
    return resolve(anchor, href) if href else ""


def text_of(element: HtmlElement | None) -> str:
    """The visible words of an element; an image speaks through its alternative text."""
    if element is None:
        return ""
    text = clean(" ".join(part for part in element.itertext(tag=None) if isinstance(part, str)))
    return text or spoken_by(element)


def spoken_by(element: HtmlElement) -> str:
    """What an element without words says to those who cannot see it."""
    return clean(
        element.get("title") or element.get("aria-label") or " ".join(element.xpath(".//img/@alt")[:20])
    )


def visible_words(html: bytes) -> list[str]:
    """What a page says, without what it is made of."""
    tree = parse(html)
    for hidden in tree.xpath("//script | //style | //noscript | //comment()"):
        hidden.drop_tree()
    return " ".join(tree.itertext()).split()


@lru_cache(maxsize=4096)
def short_text(element: HtmlElement, most: int) -> str | None:
    """The words of an element, or None if they are more than so many: of no use, and slow to look through.

    Remembered, for the links of a page stand in the same few elements.
    """
    if next(islice(element.iter(), _PARTS, None), None) is not None:
        return None
    found, size = [], 0
    for part in element.itertext():
        found.append(part)
        size += len(part)
        # Four times: the spaces of the source are still in it. And no row has so many pieces.
        if size > 4 * most or len(found) > max(120, most // 20):
            return None
    text = clean(" ".join(found))
    return text if len(text) <= most else None


def panel_of(element: HtmlElement) -> str:
    """The title of the tab or panel that the link stands in; empty if it stands in none."""
    for ancestor in islice(element.iterancestors("div", "section", "article", "details", "table"), _LEVELS):
        title = ancestor.get("data-title")
        if title:
            return clean(title)
        before = ancestor.getprevious()
        if before is not None and _TAB.search(before.get("class") or ""):
            name = _tab_title(before, ancestor.get("id") or "")
            if name:
                return name
    return ""


def _tab_title(before: HtmlElement, panel: str) -> str:
    """The title above a panel. A strip of several tabs names it only by the tab that opens it."""
    tabs = before.xpath("(.//a | .//button | .//li[not(.//a)])[position() <= 100]")
    if len(tabs) < 2:
        return short_text(before, 120) or ""
    opens = (f"#{panel}", panel)
    targets = ("href", "data-target", "data-bs-target", "aria-controls")
    mine = (tab for tab in tabs if panel and any(tab.get(name) in opens for name in targets))
    return next((short_text(tab, 120) or "" for tab in mine), "")


def row_around(element: HtmlElement) -> HtmlElement:
    """The table row that the link stands in, else the smallest element around it that names a date."""
    row = element
    for ancestor in islice(element.iterancestors(), _LEVELS):
        text = short_text(ancestor, _LONGEST_ROW if ancestor.tag == "tr" else 2000)
        if ancestor.tag in ("body", "table", "tbody") or text is None:
            break
        row = ancestor
        if ancestor.tag == "tr" or find_date(text):
            break
    return row


def form_fields(tree: HtmlElement) -> dict[str, str]:
    """What the page's forms would send back: inputs and chosen options, buttons apart."""
    fields = {
        field.get("name"): field.get("value") or ""
        for field in tree.xpath("//form//input[@name]")
        if field.get("type") not in ("submit", "image", "button", "checkbox", "radio")
    }
    for menu in tree.xpath("//form//select[@name]"):
        chosen = menu.xpath("./option[@selected]/@value") or menu.xpath("./option/@value")
        fields[menu.get("name")] = chosen[0] if chosen else ""
    return fields
