"""Slots of a rhythm: stable, spread, on the city's own clock, whatever the clocks of the country do."""

import itertools
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pipeline.models import Rhythm
from pipeline.schedule.slots import Facts, next_slot, offset

ALAMEDA = ZoneInfo("America/Los_Angeles")
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)  # a Monday
DAY = timedelta(days=1)


def slots(rhythm: str, count: int, *, key="alameda.ca", after=NOON, zone=ALAMEDA, facts=None):
    found = []
    for _ in range(count):
        after = next_slot(rhythm, key, after, zone, facts)
        found.append(after)
    return found


@pytest.mark.parametrize("rhythm", [rhythm for rhythm in Rhythm if rhythm not in ("", "never")])
def test_a_slot_is_behind_the_moment_and_two_are_never_the_same(rhythm: str) -> None:
    found = slots(rhythm, 50)

    assert found == sorted(set(found))
    assert found[0] > NOON


def test_never_has_no_slot() -> None:
    assert next_slot("never", "alameda.ca", NOON, ALAMEDA) is None


def test_sites_are_spread_over_the_day_and_each_keeps_its_place() -> None:
    keys = [f"city{number}.ca" for number in range(2400)]
    hours = Counter(next_slot("daily", key, NOON, ZoneInfo("UTC")).hour for key in keys)

    assert len(hours) == 24
    assert max(hours.values()) < 2 * 100
    assert [offset(key) for key in keys] == [offset(key) for key in keys]


@pytest.mark.parametrize("day", [date(2026, 3, 8), date(2026, 11, 1)], ids=["spring", "autumn"])
@pytest.mark.parametrize("key", ["alameda.ca", *(f"city{number}.ca" for number in range(40))])
def test_each_day_has_one_check_also_when_the_clocks_change(day: date, key: str) -> None:
    before = datetime(day.year, day.month, day.day, 12, tzinfo=UTC) - 2 * DAY
    local = [slot.astimezone(ALAMEDA) for slot in slots("daily", 4, key=key, after=before)]

    assert all(one.date() + DAY == other.date() for one, other in itertools.pairwise(local))


def test_a_time_that_the_clocks_skip_moves_on_and_one_that_comes_twice_comes_once() -> None:
    # 02:30 on the clock: this key's own place in the day is found, not chosen.
    key = next(f"k{n}" for n in range(10**5) if 2 / 24 < offset(f"k{n}") < 2.9 / 24)
    spring = datetime(2026, 3, 7, 23, tzinfo=UTC)

    skipped = next_slot("daily", key, spring, ALAMEDA).astimezone(ALAMEDA)

    assert (skipped.date(), skipped.hour) == (date(2026, 3, 8), 3)
    assert skipped + DAY != skipped


def test_weekdays_leave_out_the_weekend_and_a_week_has_one_check() -> None:
    week = [slot.astimezone(ALAMEDA).weekday() for slot in slots("weekdays", 10)]
    weekly = slots("weekly", 4)

    assert set(week) == {0, 1, 2, 3, 4}
    assert {other - one for one, other in itertools.pairwise(weekly)} == {7 * DAY}


def test_around_a_known_meeting_a_site_is_checked_daily_and_else_weekly() -> None:
    facts = Facts(meetings=(date(2026, 5, 20),))
    days = [slot.astimezone(ALAMEDA).date() for slot in slots("meetings", 14, facts=facts)]

    near = [day for day in days if date(2026, 5, 17) <= day <= date(2026, 5, 22)]
    assert near == [date(2026, 5, 17) + n * DAY for n in range(6)]
    assert len([day for day in days if day < date(2026, 5, 17)]) <= 2
    assert len([day for day in days if date(2026, 5, 22) < day <= date(2026, 6, 5)]) == 2


@pytest.mark.parametrize(("quiet", "days"), [(1, 1), (44, 1), (60, 3), (200, 7)])
def test_adaptive_is_rarer_where_nothing_ever_changes(quiet: int, days: int) -> None:
    facts = Facts(last_new_at=NOON - quiet * DAY)

    gap = next_slot("adaptive", "alameda.ca", NOON, ALAMEDA, facts) - NOON

    assert (days - 1) * DAY < gap <= days * DAY


def test_adaptive_comes_more_often_near_a_meeting_however_quiet_the_site() -> None:
    facts = Facts(meetings=(NOON.date() + DAY,), last_new_at=NOON - 300 * DAY)

    first, second = slots("adaptive", 2, facts=facts)

    assert second - first == timedelta(hours=6)


def test_adaptive_does_not_sleep_through_the_days_before_a_meeting() -> None:
    meeting = NOON.date() + 6 * DAY
    facts = Facts(meetings=(meeting,), last_new_at=NOON - 300 * DAY)

    found = next_slot("adaptive", "alameda.ca", NOON, ALAMEDA, facts).astimezone(ALAMEDA).date()

    assert found <= meeting - 2 * DAY
