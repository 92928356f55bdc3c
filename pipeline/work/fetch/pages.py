"""Reading HTML with lxml: links with their visible text, and where they stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin

import lxml.etree
import lxml.html
from lxml.html import HtmlElement

from pipeline.work.fetch.dates import find_date
from pipeline.work.fetch.refs import clean

_OPENED = re.compile(r"window\.open\(\s*['\"]([^'\"]+)")
_TAB = re.compile(r"tab|accordion", re.I)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "summary")


@dataclass(frozen=True)
class Link:
    url: str
    text: str
    element: HtmlElement
    heading: str = ""


def parse(html: str | bytes, base_url: str = "") -> HtmlElement:
    """A tree of any page, however broken; links are resolved against its <base>."""
    if isinstance(html, str):
        html = html.encode("utf-8", "replace")
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        tree = lxml.html.document_fromstring(html.replace(b"\x00", b""), parser=parser, ensure_head_body=True)
    except lxml.etree.ParserError:  # not one element in it
        tree = lxml.html.document_fromstring(b"<html></html>", ensure_head_body=True)
    base = tree.xpath("string(//base/@href)")
    tree.set("data-base", urljoin(base_url, base) if base else base_url)
    return tree


def resolve(element: HtmlElement, href: str) -> str:
    """The absolute address of a link on the page, without its fragment; empty for what is no address."""
    base = element.getroottree().getroot().get("data-base", "")
    try:
        return urldefrag(urljoin(base, href.strip())).url.replace(" ", "%20")
    except ValueError:
        return ""


def links(element: HtmlElement) -> Iterator[Link]:
    """Every link, with the last heading before it; one pass, for pages have thousands of them."""
    heading = ""
    for item in element.iter("a", *_HEADINGS):
        if item.tag != "a":
            heading = text_of(item)
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
    spoken = element.get("title") or element.get("aria-label") or " ".join(element.xpath(".//img/@alt"))
    return text or clean(spoken)


def visible_words(html: bytes) -> list[str]:
    """What a page says, without what it is made of."""
    tree = parse(html)
    for hidden in tree.xpath("//script | //style | //noscript | //comment()"):
        hidden.drop_tree()
    return " ".join(tree.itertext()).split()


def short_text(element: HtmlElement, most: int) -> str | None:
    """The words of an element, or None if they are more than so many: of no use, and slow to look through."""
    found, size = [], 0
    for part in element.itertext():
        found.append(part)
        size += len(part)
        # Four times: the spaces of the source are still in it. And no row has so many pieces.
        if size > 4 * most or len(found) > 120:
            return None
    text = clean(" ".join(found))
    return text if len(text) <= most else None


def panel_of(element: HtmlElement) -> str:
    """The title of the tab or panel that the link stands in; empty if it stands in none."""
    for ancestor in element.iterancestors("div", "section", "article", "details", "table"):
        title = ancestor.get("data-title")
        if title:
            return clean(title)
        before = ancestor.getprevious()
        if before is not None and _TAB.search(before.get("class") or ""):
            name = short_text(before, 120)
            if name:
                return name
    return ""


def row_around(element: HtmlElement) -> HtmlElement:
    """The table row that the link stands in, else the smallest element around it that names a date."""
    row = element
    for ancestor in element.iterancestors():
        text = short_text(ancestor, 2000)
        if ancestor.tag in ("body", "table", "tbody") or (text is None and ancestor.tag != "tr"):
            break
        row = ancestor
        if ancestor.tag == "tr" or find_date(text or ""):
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
