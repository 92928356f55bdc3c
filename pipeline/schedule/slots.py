"""When a site's next check is: pure reckoning with a rhythm, a clock and a site's own place in the period."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from pipeline.models import Rhythm

DAY = timedelta(days=1)
WEEKEND = (5, 6)
# Agendas come some days before their meeting, and minutes or the last changes just after it.
BEFORE_MEETING, AFTER_MEETING = timedelta(days=3), timedelta(days=2)
# What "adaptive" does, first to last: how quiet a site has been, and the days between two checks.
NEAR_MEETING_HOURS = 6
RARER = ((timedelta(days=120), 7), (timedelta(days=45), 3))


@dataclass(frozen=True)
class Facts:
    """What a rhythm that follows the site's own life is told of it."""

    meetings: tuple[date, ...] = ()
    # When a document was last found that was not known before; None: never, or nobody noted it.
    last_new_at: datetime | None = None
    known_since: datetime | None = None


def offset(key: str) -> float:
    """The site's own place in every period, from 0 to 1: the same for ever, and spread evenly over sites."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:6]) / 2**48


def next_slot(
    rhythm: str, key: str, after: datetime, zone: ZoneInfo, facts: Facts | None = None
) -> datetime | None:
    """The first moment of the rhythm behind `after`; None for never."""
    match rhythm:
        case Rhythm.HOURLY:
            return _every_hours(1, key, after)
        case Rhythm.DAILY:
            return _on_a_day(key, after, zone, lambda day: True)
        case Rhythm.WEEKDAYS:
            return _on_a_day(key, after, zone, lambda day: day.weekday() not in WEEKEND)
        case Rhythm.WEEKLY:
            return _weekly(key, after, zone)
        case Rhythm.MEETINGS:
            return _around_meetings(key, after, zone, facts or Facts())
        case Rhythm.ADAPTIVE:
            return _adaptive(key, after, zone, facts or Facts())
    return None


def _every_hours(hours: int, key: str, after: datetime) -> datetime:
    """Counted in UTC, so that no change of the clocks doubles or skips one."""
    period = timedelta(hours=hours)
    first = datetime(1970, 1, 1, tzinfo=UTC) + offset(key) * period
    return first + ((after - first) // period + 1) * period


def _on_a_day(key: str, after: datetime, zone: ZoneInfo, fits: Callable[[date], bool]) -> datetime:
    day = after.astimezone(zone).date()
    while True:
        slot = _at(day, offset(key), zone)
        if slot > after and fits(day):
            return slot
        day += DAY


def _at(day: date, share: float, zone: ZoneInfo) -> datetime:
    """This share of the day on the local clock. A time that the clocks skip moves on by as much as they do;
    one that comes twice is its first."""
    local = datetime.combine(day, time(), zone) + timedelta(seconds=int(share * 86400))
    return local.astimezone(UTC)


def _weekly(key: str, after: datetime, zone: ZoneInfo) -> datetime:
    weekday = int(offset(f"{key} week") * 7)
    return _on_a_day(key, after, zone, lambda day: day.weekday() == weekday)


def _around_meetings(key: str, after: datetime, zone: ZoneInfo, facts: Facts) -> datetime:
    """Daily from three days before a known meeting to two days after it; otherwise weekly."""
    rare = _weekly(key, after, zone)
    day = after.astimezone(zone).date()
    while day <= rare.astimezone(zone).date():
        slot = _at(day, offset(key), zone)
        if after < slot < rare and _is_near(day, facts.meetings):
            return slot
        day += DAY
    return rare


def _is_near(day: date, meetings: tuple[date, ...]) -> bool:
    return any(meeting - BEFORE_MEETING <= day <= meeting + AFTER_MEETING for meeting in meetings)


def _adaptive(key: str, after: datetime, zone: ZoneInfo, facts: Facts) -> datetime:
    """Every six hours near a meeting, daily as a rule, every third or seventh day where nothing changes."""
    often = _every_hours(NEAR_MEETING_HOURS, key, after)
    if _is_near(often.astimezone(zone).date(), facts.meetings):
        return often
    later = after + (_days_between(after, facts) - 1) * DAY
    slot = _on_a_day(key, later, zone, lambda day: True)
    near = [meeting - BEFORE_MEETING for meeting in facts.meetings if meeting - BEFORE_MEETING > after.date()]
    return min([slot, *(_on_a_day(key, _at(day, 0, zone), zone, lambda day: True) for day in near)])


def _days_between(after: datetime, facts: Facts) -> int:
    last = facts.last_new_at or facts.known_since
    quiet = after - last if last else timedelta(0)
    return next((days for least, days in RARER if quiet >= least), 1)
