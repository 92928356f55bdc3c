"""What an address and its page say of the city: its name, its state, what kind of body it is, a key."""

import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlsplit

from pipeline.operations.add_site import suggest_subdomain

# Two letters each, and the federal district and two territories beside the fifty.
STATES = frozenset(
    re.findall(
        "..",
        "ALAKAZARCACOCTDEFLGAHIIDILINIAKSKYLAMEMDMAMIMNMSMOMTNENVNHNJNMNYNCNDOHOKORPARISCSDTNTXUTVTVAWAWVWIWY"
        "DCPRGU",
    )
)
_WORDS = r"[A-Z][\w.'\u2019-]+(?: (?:[A-Z][\w.'\u2019-]+|of|the|de|la|del)){0,3}"
_OF = re.compile(rf"\b(City|Town|Village|County|Township|Borough) of ({_WORDS})")
_COUNTY = re.compile(rf"\b({_WORDS}) (County|Township|Borough)\b")
_SCHOOLS = re.compile(rf"\b({_WORDS}(?: (?:Unified|City|Public|Central))? School(?:s| District))\b")
_PLACE = re.compile(rf"\b({_WORDS}), ([A-Z]{{2}})\b")
_ZIP = re.compile(r"\b([A-Z]{2})\.?\s+\d{5}(?:-\d{4})?\b")
_HOST = re.compile(r"\.([a-z]{2})\.(?:us|gov)$|^([a-z]{2})-|([a-z]{2})\.gov$")
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.I | re.S)


@dataclass(frozen=True)
class Guess:
    subdomain: str
    name: str = ""
    state: str = ""
    kind: str = ""


def guess(url: str, html: str, state: str = "") -> Guess:
    """From the title first, then from the text; empty where nothing is said plainly."""
    title = " ".join(re.sub(r"&amp;", "&", "".join(_TITLE.findall(html)[:1])).split())
    text = " ".join(re.sub(r"<[^>]*>", " ", html[:200_000]).split())
    name, kind = _named(title) or _named(text) or ("", "")
    place = _PLACE.search(title)
    if not name and place and place.group(2) in STATES:
        name = place.group(1)
    state = state or _state(url, title, text)
    return Guess(suggest_subdomain(url, state), name.strip(" ."), state, kind)


def _named(text: str) -> tuple[str, str] | None:
    found = _OF.search(text)
    if found:
        return found.group(2).split(" Of ")[0], found.group(1).lower()
    found = _SCHOOLS.search(text)
    if found:
        return found.group(1), "school board"
    found = _COUNTY.search(text)
    return (f"{found.group(1)} {found.group(2)}", found.group(2).lower()) if found else None


def _state(url: str, title: str, text: str) -> str:
    host = (urlsplit(url).hostname or "").lower()
    by_host = _HOST.search(host)
    codes = [part.upper() for part in by_host.groups() if part] if by_host else []
    told = [found for found in _ZIP.findall(text) if found in STATES]
    in_title = [code for _, code in _PLACE.findall(title) if code in STATES]
    if told:
        return Counter(told).most_common(1)[0][0]
    return next((code for code in [*in_title, *codes] if code in STATES), "")
