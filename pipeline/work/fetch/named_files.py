"""Files that a page names without a link: in menus, attributes, frames, and in the data of its scripts."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lxml.html import HtmlElement

from pipeline.work.fetch.dates import find_date
from pipeline.work.fetch.pages import Link, resolve, text_of
from pipeline.work.fetch.refs import clean, is_file

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "summary", "label", "strong")
_FRAMES = {"iframe": "src", "embed": "src", "object": "data"}
_DATA = "//*[@*[starts-with(name(), 'data-') and (contains(., '.pdf') or contains(., '.doc'))]]"
_FILE = r"\.(?:pdf|docx?|rtf|odt)(?![a-z0-9])"
_IN_TEXT = re.compile(rf"[\"']([^\"'\s<>]{{1,800}}?{_FILE}(?:\?[^\"'\s<>]{{0,300}})?)[\"']", re.I)
_MENTIONED = re.compile(_FILE, re.I)
_VALUE = re.compile(r"[\[{](?=\s*[\"{\[])")
_TITLES = ("title", "name", "label", "text", "subject", "caption")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_ENTERED = re.compile(r"creat|modif|publi|updat|upload|expir|enter", re.I)
# Of a script: how many places are tried for data, and how many values of it are looked at.
_TRIES, _VALUES = 40, 200_000


def named_files(tree: HtmlElement) -> Iterator[Link]:
    """Each file that a page names outside its links, with the words that belong to it."""
    heading = ""
    for item in tree.iter("option", "script", *_FRAMES, *_HEADINGS):
        if item.tag == "script":
            yield from _in_script(item)
        elif item.tag == "option":
            yield from _named(item, item.get("value") or "", heading)
        elif item.tag in _FRAMES:
            yield from _named(item, item.get(_FRAMES[item.tag]) or "", heading)
        else:
            heading = text_of(item)[:500] or heading
    for item in tree.xpath(_DATA):
        for name, value in item.attrib.items():
            if name.startswith("data-"):
                yield from _named(item, value, "")


def _named(item: HtmlElement, address: str, heading: str, text: str = "", when: str = "") -> Iterator[Link]:
    if address and len(address) < 3000 and is_file(address):
        url = resolve(item, address)
        if url.startswith(("http://", "https://")):
            yield Link(url, text or text_of(item)[:500], item, heading, when)


# ---- Scripts ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """A value in a script's data, with what the things around it are called and when they are."""

    value: Any
    title: str = ""
    when: str = ""
    key: str = ""


def _in_script(script: HtmlElement) -> Iterator[Link]:
    text = script.text or ""
    if not _MENTIONED.search(text):
        return
    found = False
    for value in _data_in(text):
        for entry in _files_in(value):
            found = True
            words = " ".join(_WORDS.findall(entry.key))
            yield from _named(script, entry.value, "", f"{entry.title} {words}".strip(), entry.when)
    if not found:
        for match in islice(_IN_TEXT.finditer(text), 2000):
            yield from _named(script, match.group(1).replace("\\/", "/"), "")


def _data_in(text: str) -> Iterator[Any]:
    """The JSON values that a script is or holds."""
    decoder, place = json.JSONDecoder(), 0
    for _ in range(_TRIES):
        start = _VALUE.search(text, place)
        if start is None:
            return
        try:
            value, place = decoder.raw_decode(text, start.start())
            yield value
        except (ValueError, RecursionError):
            place = start.end()


def _files_in(data: Any) -> Iterator[Entry]:
    waiting = [Entry(data)]
    for _ in range(_VALUES):
        if not waiting:
            return
        entry = waiting.pop()
        if isinstance(entry.value, dict):
            waiting += _inside(entry)
        elif isinstance(entry.value, list):
            waiting += [Entry(value, entry.title, entry.when, entry.key) for value in reversed(entry.value)]
        elif isinstance(entry.value, str) and is_file(entry.value):
            yield entry


def _is_date(key: str) -> bool:
    """When it takes place, not when somebody entered it."""
    return "date" in key.lower() and not _ENTERED.search(key)


def _inside(entry: Entry) -> list[Entry]:
    thing = entry.value
    title = next((clean(thing[name]) for name in _TITLES if isinstance(thing.get(name), str)), "")
    dates = (value for key, value in thing.items() if _is_date(key) and isinstance(value, str))
    when = next((value for value in dates if find_date(value)), "")
    # The file is often one level below the thing that has the telling key: "agenda": {"url": …}.
    plain = ("url", "href", "link", "src", "path", "file")
    return [
        Entry(value, title or entry.title, when or entry.when, entry.key if key.lower() in plain else key)
        for key, value in reversed(thing.items())
        if isinstance(value, dict | list | str)
    ]
