"""Ordinances and resolutions that are named by their number."""

from collections.abc import Iterator

from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.extraction.patterns import pattern

NUMBER = (
    r"(?:[A-Z]{1,4}[-. ]?)?\d{1,6}(?:[-./](?:[A-Z]{1,3}|\d{1,6})|-\s\d{3})*[A-Z]?"
    r"(?:\s(?:of|OF)\s\d{4}\b)?"
)
NUMBERED = pattern(
    rf"(?i:\b(ordinance|resolution)s?)(?i:\s+(?:nos?\b\.?|numbers?\b)?)?\s*[:(#]*\s*#?\s*({NUMBER})(?:\b|\))"
)
# Abbreviated, it needs its number's mark: `Res. No. 528-16`, `Ord. #70-2001`.
SHORT = pattern(rf"\b(Ord|ORD|Res|RES|Reso|RESO)\.?\s*(?:(?i:nos?)\b\.?|#)\s*#?\s*({NUMBER})\b")
# The number of a file before the words of its title: `RS2022-1441 A resolution …`.
FILED = pattern(
    r"\b([A-Z]{1,4}-?\d{2,4}-\d{1,5})\s{1,12}(?i:an?)\s(?:\p{L}+\s)?(?i:(resolution|ordinance))\b"
)
MORE = pattern(rf"^\s*(?:,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)#?({NUMBER})\b")
TITLE = pattern(r"^\)?\s*(?:[:,–—-]|\()\s*([^\n.;]{8,200})")
DATE_LIKE = pattern(r"^\d{1,2}/\d{1,2}/\d{2,4}$")


def find(paged: PagedText, context: MeetingContext) -> Iterator[Fact]:
    told = set()
    for match in NUMBERED.finditer(paged.text):
        told.add(match.end(2))
        kind, number = match.group(1).lower(), match.group(2)
        if DATE_LIKE.search(number) or not any(character.isdigit() for character in number):
            continue
        yield _fact(paged.text, kind, number, match.start(), match.end(), "numbered")
        if match.group().lower().startswith(f"{kind}s"):
            yield from _others(paged.text, kind, match.end())

    for match in SHORT.finditer(paged.text):
        kind = "ordinance" if match.group(1).lower() == "ord" else "resolution"
        yield _fact(paged.text, kind, match.group(2), match.start(), match.end(), "abbreviated")
    for match in FILED.finditer(paged.text):
        if match.end(1) not in told:
            kind, number = match.group(2).lower(), match.group(1)
            yield _fact(paged.text, kind, number, match.start(), match.end(1), "file_number")


def _others(text: str, kind: str, position: int) -> Iterator[Fact]:
    """`Resolutions 12, 13 and 14`."""
    while match := MORE.search(text[position : position + 40]):
        start, end = position + match.start(1), position + match.end(1)
        yield _fact(text, kind, match.group(1), start, end, "numbered_list")
        position = end


def _fact(text: str, kind: str, number: str, start: int, end: int, rule: str) -> Fact:
    title = TITLE.search(text[end : end + 220])
    values = {"number": " ".join(number.upper().replace(" OF ", " of ").replace("- ", "-").split())}
    values["title"] = " ".join(title.group(1).split()) if title else ""
    return Fact(kind, start, end, rule, 0.95, values)
