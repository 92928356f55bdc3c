"""Dates and times as cities write them, found by patterns that cannot run away."""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from functools import lru_cache

import dateparser

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)"
_SHORT_YEAR = r"(?P<year>(?:19|20)?\d\d)"
# Tried in this order; the first that names a real date wins.
_PATTERNS = [
    re.compile(pattern, re.I)
    for pattern in (
        rf"(?<!\d){_YEAR}[-_/.](?P<month>[01]?\d)[-_/.]{_DAY}(?!\d)",
        rf"\b{_MONTH}[\s_\-]*{_DAY}(?:st|nd|rd|th)?[\s,_\-.]+{_YEAR}(?!\d)",
        rf"(?<!\d){_DAY}(?:st|nd|rd|th)?[\s_\-]+(?:of\s+)?{_MONTH}[\s,_\-.]+{_YEAR}(?!\d)",
        rf"(?<!\d){_DAY}-{_MONTH}-(?P<year>\d\d)(?!\d)",
        rf"(?<!\d)(?P<month>[01]?\d)\s?[-_/.]\s?{_DAY}\s?[-_/.]\s?{_SHORT_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}(?P<month>[01]\d)(?P<day>[0-3]\d)(?!\d)",
        rf"(?<!\d)(?P<month>[01]\d)(?P<day>[0-3]\d){_YEAR}(?!\d)",
        r"(?<!\d)(?P<month>[01]\d)(?P<day>[0-3]\d)(?P<year>[0-3]\d)(?!\d)",
        rf"(?<![a-z]){_MONTH}[\s_\-]*{_DAY}[\s,_\-]*{_YEAR}(?!\d)",
    )
]
_DAYS = [
    re.compile(pattern, re.I)
    for pattern in (
        rf"(?<![a-z]){_MONTH}[\s_\-]*{_DAY}(?!\d)",
        rf"(?<!\d){_DAY}(?:st|nd|rd|th)?[\s_\-]+{_MONTH}(?![a-z])",
        rf"(?<![\d/.-])(?P<month>[01]?\d)[/.-]{_DAY}(?![\d/.-])",
    )
]
_PARTED = re.compile(r"(?<=\d) (?=\d)")
_TIME = re.compile(
    r"(?<![\d:/])(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d)(?::[0-5]\d)?)?\s*(?P<half>[ap]\.?\s?m\b\.?)?",
    re.I,
)


# A row, a heading, a file's name: the links of a page share their words, so the last ones are remembered.
@lru_cache(maxsize=2048)
def find_date(text: str) -> date | None:
    """The first date that the text names, month before day where only digits tell."""
    return next(_dates(text or ""), None)


def find_file_date(name: str) -> date | None:
    """The date in a file's name, also where only spaces part its numbers: `1 10 19 Agenda`."""
    return find_date(name) or find_date(_PARTED.sub("-", name))


@lru_cache(maxsize=2048)
def only_date(text: str) -> date | None:
    """The date of a text that names just one; of several nobody knows which is meant."""
    found = {*_dates(text or "")}
    return found.pop() if len(found) == 1 else None


def find_day(text: str, year: int) -> date | None:
    """The first day and month that the text names, of a year that is said elsewhere."""
    matches = (match for pattern in _DAYS for match in pattern.finditer(text or ""))
    days = (_real_date(str(year), match.group("month"), match.group("day")) for match in matches)
    return next(filter(None, days), None)


def _dates(text: str) -> Iterator[date]:
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            found = _real_date(match.group("year"), match.group("month"), match.group("day"))
            if found:
                yield found


def _real_date(year: str, month: str, day: str) -> date | None:
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    full_year = int(year) if len(year) == 4 else 2000 + int(year)
    try:
        found = date(full_year, number, int(day))
    except ValueError:
        return None
    return found if 1900 <= found.year <= 2100 else None


_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SAID_MONTH = _MONTH.replace("?P<month>", "?:")
_SAID_DATE = re.compile(
    rf"(?:\b{_WEEKDAY},?\s*)?(?:(?<!\d)(?:19|20)\d\d[-_/.][01]?\d[-_/.][0-3]?\d(?!\d)"
    rf"|\b{_SAID_MONTH}\s*[0-3]?\d(?:st|nd|rd|th)?(?:,?\s*(?:19|20)\d\d)?(?!\d)"
    rf"|(?<!\d)[0-3]?\d\s+{_SAID_MONTH},?\s+(?:19|20)\d\d|(?<!\d)[01]?\d[-/.][0-3]?\d[-/.](?:19|20)?\d\d(?!\d))"
    r"|(?<!\d)[01]?\d(?::[0-5]\d){1,2}\s*(?:[ap]\.?\s?m\b\.?)?|(?<!\d)[01]?\d\s*[ap]\.?m\b\.?",
    re.I,
)
_DANGLING = re.compile(
    r"^[\s,;:|@&\u2013\u2014-]+|(?:[\s,;:|@&(\[\u2013\u2014-]|\b(?:at|on|for|of)\s*)+$", re.I
)


def undated(text: str) -> str:
    """The text without the dates and times in it, and what tied them to it."""
    without = _SAID_DATE.sub(" ", text)
    if without == text:
        return text
    without = re.sub(r"[(\[]\s*[)\]]", " ", without)
    return " ".join(_DANGLING.sub("", " ".join(without.split())).split())


def find_time(text: str) -> time | None:
    """The first time of day, e.g. `6:30 PM`, `18:30`, `7 p.m.`; a bare number is none."""
    for match in _TIME.finditer(text or ""):
        half = (match.group("half") or "").lower()
        if not half and match.group("minute") is None:
            continue
        hour = int(match.group("hour"))
        if half and hour <= 12:
            hour = hour % 12 + (12 if half.startswith("p") else 0)
        return time(hour, int(match.group("minute") or 0))
    return None


def read_date(text: str) -> date | None:
    """A field that is a date in any language or format; slower, so only for fields, never for prose."""
    found = find_date(text)
    if found is None and any(character.isdigit() for character in text or ""):
        parsed = dateparser.parse(text[:60], settings={"REQUIRE_PARTS": ["day", "month", "year"]})
        found = parsed.date() if parsed else None
    return found


def read_moment(text: str | None) -> tuple[date | None, time | None]:
    """An ISO timestamp as the city's own wall clock; what follows the minutes (`Z`, `.000`) is dropped.

    The platforms whose stamps end in `Z` put local time there.
    """
    value = (text or "").strip()
    try:
        moment = datetime.fromisoformat(value[:19])
    except ValueError:
        return find_date(value), find_time(value)
    return moment.date(), moment.time() if "T" in value or " " in value else None


def dated(text: str, *, then: Callable[[], str] | None = None) -> date | None:
    """The date in the text, else in what `then` gives."""
    return find_date(text) or (find_date(then()) if then else None)
