"""Agenda items: numbered or lettered headings that follow one another."""

from collections.abc import Iterator

from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.extraction.patterns import pattern

LINE = pattern(
    r"(?m)^[ \t]{0,40}(?:(?i:item|no\.?)[ \t]+)?(?:(\d{1,2}(?:\.[\dA-Za-z]{1,2}){1,3})[.):]?|"
    r"\(?(\d{1,2}|[A-Z]|[a-z]|[IVXLivxl]{1,6})[.):])"
    r"[ \t]+(\S[^\n\f]{2,300})"
)
NOT_A_TITLE = pattern(
    r"^(?i:\d|p\.?m\b|a\.?m\b|seconded|moved|made|said|yes\b|no\b|aye)|"
    r"^[\p{Ll}]+ [\p{Ll}]+ [\p{Ll}]+ .{0,40}[a-z]$"
)
ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}


def find(paged: PagedText, context: MeetingContext) -> Iterator[Fact]:
    last: dict[str, int] = {}
    for match in LINE.finditer(paged.text):
        nested, single, title = match.groups()
        number = nested or single
        if NOT_A_TITLE.search(title):
            continue
        if nested:
            confidence = 0.9
        elif _follows(single, last):
            confidence = 0.95
        elif single.isdigit() and title[:1].isupper() and int(single) > 0:
            confidence = 0.7
        else:
            continue
        values = {"number": number, "title": " ".join(title.split())}
        yield Fact(
            "agenda_item", match.start(1 if nested else 2), match.end(), "numbered_line", confidence, values
        )


def _follows(number: str, last: dict[str, int]) -> bool:
    """Whether it begins a series or is the next of one; `D. Boyle said` after no `C.` is a person."""
    for style, value in _readings(number):
        if value == 1 or last.get(style, -9) < value <= last.get(style, -9) + 2:
            last[style] = value
            if style == "number" and value == 1:
                last.pop("lower", None)
            return True
    return False


def _readings(number: str) -> Iterator[tuple[str, int]]:
    if number.isdigit():
        yield "number", int(number)
        return
    if len(number) == 1:
        yield ("upper" if number.isupper() else "lower"), ord(number.lower()) - ord("a") + 1
    if all(letter in ROMAN for letter in number.lower()):
        yield ("ROMAN" if number.isupper() else "roman"), _roman(number.lower())


def _roman(letters: str) -> int:
    values = [ROMAN[letter] for letter in letters]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < following else value for value, following in pairs)
