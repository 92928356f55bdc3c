"""A year of meetings as twelve small months."""

import calendar
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from records.meetings import Meeting

# Weeks begin on Sunday, as on a calendar that hangs in an American town hall.
WEEKDAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_weeks = calendar.Calendar(firstweekday=calendar.SUNDAY)


@dataclass(frozen=True)
class Day:
    """A day of the month; 0 outside of it."""

    number: int
    date: str
    meetings: tuple[Meeting, ...] = ()


@dataclass(frozen=True)
class Month:
    name: str
    number: int
    weeks: tuple[tuple[Day, ...], ...]
    meetings: int


def months_of(year: int, meetings: Iterable[Meeting]) -> list[Month]:
    on_day: dict[str, list[Meeting]] = defaultdict(list)
    for meeting in meetings:
        on_day[meeting.date].append(meeting)
    return [_month(year, number, on_day) for number in range(1, 13)]


def _month(year: int, number: int, on_day: dict[str, list[Meeting]]) -> Month:
    weeks = tuple(
        tuple(_day(year, number, day, on_day) for day in week)
        for week in _weeks.monthdayscalendar(year, number)
    )
    count = sum(len(day.meetings) for week in weeks for day in week)
    return Month(calendar.month_name[number], number, weeks, count)


def _day(year: int, month: int, day: int, on_day: dict[str, list[Meeting]]) -> Day:
    date = f"{year:04}-{month:02}-{day:02}" if day else ""
    return Day(day, date, tuple(on_day.get(date, ())))
