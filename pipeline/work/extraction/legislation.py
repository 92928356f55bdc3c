"""Ordinances and resolutions that are named by their number."""

from collections.abc import Iterator

from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.extraction.patterns import pattern

NUMBER = r"(?:[A-Z]{1,4}[-. ]?)?\d{1,6}(?:[-./](?:[A-Z]{1,3}|\d{1,6}))*[A-Z]?(?:\s(?:of|OF)\s\d{4}\b)?"
NUMBERED = pattern(
    rf"(?i:\b(ordinance|resolution)s?)(?i:\s+(?:nos?\b\.?|numbers?\b)?)?\s*[:(#]*\s*#?\s*({NUMBER})(?:\b|\))"
)
MORE = pattern(rf"^\s*(?:,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)#?({NUMBER})\b")
TITLE = pattern(r"^\)?\s*(?:[:,–—-]|\()\s*([^\n.;]{8,200})")
DATE_LIKE = pattern(r"^\d{1,2}/\d{1,2}/\d{2,4}$")


def find(paged: PagedText, context: MeetingContext) -> Iterator[Fact]:
    for match in NUMBERED.finditer(paged.text):
        kind, number = match.group(1).lower(), match.group(2)
        if DATE_LIKE.search(number) or not any(character.isdigit() for character in number):
            continue
        yield _fact(paged.text, kind, number, match.start(), match.end(), "numbered")
        if match.group().lower().startswith(f"{kind}s"):
            yield from _others(paged.text, kind, match.end())


def _others(text: str, kind: str, position: int) -> Iterator[Fact]:
    """`Resolutions 12, 13 and 14`."""
    while match := MORE.search(text[position : position + 40]):
        start, end = position + match.start(1), position + match.end(1)
        yield _fact(text, kind, match.group(1), start, end, "numbered_list")
        position = end


def _fact(text: str, kind: str, number: str, start: int, end: int, rule: str) -> Fact:
    title = TITLE.search(text[end : end + 220])
    values = {"number": " ".join(number.upper().replace(" OF ", " of ").split())}
    values["title"] = " ".join(title.group(1).split()) if title else ""
    return Fact(kind, start, end, rule, 0.95, values)
