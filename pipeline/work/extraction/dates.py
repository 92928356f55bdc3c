"""Dates, as ISO days; one without a year falls on the day nearest to the meeting."""

import datetime
from collections.abc import Iterator

import dateparser

from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.extraction.patterns import Match, pattern

MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
MONTH_DAY = pattern(
    rf"(?i)\b({MONTHS})\.?(\s{{1,3}}|[ \t]{{4,40}})(\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"(?:\s?[-–]\s?\d{1,2}(?:st|nd|rd|th)?\b)?(?:(?:\s?,\s{0,40}|\s{1,3})(\d{4})\b)?"
)
DAY_MONTH = pattern(
    rf"(?i)\b(\d{{1,2}})(?:st|nd|rd|th)?\s(?:day\s)?(?:of\s)?({MONTHS})\.?,?\s{{1,3}}(\d{{4}})\b"
)
SLASHED = pattern(r"\b(\d{1,2})([/-])(\d{1,2})[/-](\d{4}|\d{2})\b")
DOTTED = pattern(r"(?:^|[\s(])(\d{2})\.(\d{2})\.(\d{2}|\d{4})(?:\s|[,;)]|$)")
HEADED_YEAR = pattern(r"\b(?:19|20)\d\d\b")
# `4-13-98` and `04.13.98` may be a section or a vote; near the meeting they are a day.
NEAR_YEARS = 5
ISO = pattern(r"\b(\d{4})-(\d{2})-(\d{2})\b")
YEARS = range(1776, 2200)


def find(paged: PagedText, context: MeetingContext) -> Iterator[Fact]:
    text = paged.text
    near = _day(context.date) or _first_full(text) or _headed(text)
    for match in MONTH_DAY.finditer(text):
        month, gap, day, year = match.groups()
        found = _spelled(month, day, year, near)
        # In a heading a month and its day may stand apart, with the year behind them.
        if found and (year or (_is_capital(month) and len(gap) < 4)):
            rule, confidence = ("month_day_year", 0.98) if year else ("month_day", 0.75)
            yield _fact(match, found, rule, confidence)
    for match in DAY_MONTH.finditer(text):
        found = _parsed(match.group())
        if found:
            yield _fact(match, found, "day_month_year", 0.95)
    for match in SLASHED.finditer(text):
        month, between, day, year = match.groups()
        found = _safe(_century(int(year), near), int(month), int(day))
        if found and (between == "/" or len(year) == 4 or _is_near(found, near)):
            yield _fact(match, found, "slashes", 0.95 if len(year) == 4 else 0.85)
    for match in DOTTED.finditer(text):
        month, day, year = match.groups()
        found = _safe(_century(int(year), near), int(month), int(day))
        if found and _is_near(found, near):
            span = (match.start(1), match.end(3))
            yield Fact("date", *span, "dots", 0.85, {"date": found.isoformat()})
    for match in ISO.finditer(text):
        found = _day(match.group())
        if found:
            yield _fact(match, found, "iso", 0.95)


def _fact(match: Match, day: datetime.date, rule: str, confidence: float) -> Fact:
    return Fact("date", match.start(), match.end(), rule, confidence, {"date": day.isoformat()})


def _is_capital(month: str) -> bool:
    """`may 5` is more often a verb than a month."""
    return month[:1].isupper()


def _spelled(month: str, day: str, year: str | None, near: datetime.date | None) -> datetime.date | None:
    number = datetime.datetime.strptime(month[:3].title(), "%b").month  # noqa: DTZ007 - only a month's number
    if year:
        return _safe(int(year), number, int(day))
    return _nearest(number, int(day), near) if near else None


def _nearest(month: int, day: int, near: datetime.date) -> datetime.date | None:
    candidates = [_safe(year, month, day) for year in (near.year - 1, near.year, near.year + 1)]
    found = [candidate for candidate in candidates if candidate]
    return min(found, key=lambda candidate: abs((candidate - near).days), default=None)


def _century(year: int, near: datetime.date | None) -> int:
    """A year of two digits lies within fifty years of the meeting."""
    if year > 99:
        return year
    middle = near.year if near else 2000
    return min((century + year for century in (1800, 1900, 2000, 2100)), key=lambda full: abs(full - middle))


def _first_full(text: str) -> datetime.date | None:
    for match in MONTH_DAY.finditer(text[:5000]):
        if match.group(4):
            month, _, day, year = match.groups()
            return _spelled(month, day, year, near=None)
    return None


def _headed(text: str) -> datetime.date | None:
    """The middle of the year that a calendar of meetings has in its heading."""
    year = HEADED_YEAR.search(text[:400])
    return _safe(int(year.group()), 7, 1) if year else None


def _is_near(day: datetime.date, near: datetime.date | None) -> bool:
    return near is not None and abs(day.year - near.year) <= NEAR_YEARS


def _parsed(text: str) -> datetime.date | None:
    """The rarer forms, such as `the 19th of April 2018`."""
    found = dateparser.parse(
        text.replace(" day of ", " "), languages=["en"], settings={"REQUIRE_PARTS": ["day", "month", "year"]}
    )
    return found.date() if found and found.year in YEARS else None


def _day(text: str) -> datetime.date | None:
    try:
        found = datetime.date.fromisoformat(text)
    except ValueError:
        return None
    return found if found.year in YEARS else None


def _safe(year: int, month: int, day: int) -> datetime.date | None:
    try:
        return datetime.date(year, month, day) if year in YEARS else None
    except ValueError:
        return None
