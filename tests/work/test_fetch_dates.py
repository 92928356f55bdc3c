"""Dates and times in the ways cities write them."""

from datetime import date, time

import pytest

from pipeline.work.fetch.dates import find_date, find_time, read_date, read_moment

THE_DAY = date(2024, 4, 16)


@pytest.mark.parametrize(
    "text",
    [
        "April 16, 2024",
        "APRIL 16 2024",
        "Tuesday, April 16th, 2024 at 6 p.m.",
        "Apr. 16, 2024",
        "Apr 16,2024",
        "April\xa016,\xa02024",
        "16 April 2024",
        "16th of April, 2024",
        "4/16/2024",
        "04/16/24",
        "4-16-2024",
        "04.16.2024",
        "4 / 16 / 2024",
        "2024-04-16",
        "2024/4/16",
        "2024_04_16",
        "20240416",
        "FCC-Agenda-04162024-Corrected",
        "minutes_041624",
        "CC 04-16-24 Minutes",
        "City Council 2024-04-16 Agenda (amended 2024-04-15)",
        "2023 Budget hearing, April 16, 2024",
    ],
)
def test_a_date_is_found_in(text):
    assert find_date(text) == THE_DAY


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Resolution 2024-17",
        "13/45/2024",
        "February 30, 2024",
        "Ordinance 1234567890",
        "2Q 2023",
        "555-1234",
        "v1.2.3456",
    ],
)
def test_no_date_is_made_up_from(text):
    assert find_date(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("6:30 PM", time(18, 30)),
        ("06:30 p.m.", time(18, 30)),
        ("at 7 pm", time(19, 0)),
        ("12:00 AM", time(0, 0)),
        ("12:15 PM", time(12, 15)),
        ("18:30", time(18, 30)),
        ("5:15:00 PM", time(17, 15)),
        ("noon", None),
        ("Room 300", None),
        ("4/16/2024", None),
        ("Deferred", None),
    ],
)
def test_a_time_is_found_in(text, found):
    assert find_time(text) == found


@pytest.mark.parametrize("text", ["16 avril 2024", "16 de abril de 2024", "16. April 2024"])
def test_a_field_that_is_a_date_is_read_in_other_languages(text):
    assert read_date(text) == THE_DAY


def test_a_stamp_is_the_citys_own_clock_whatever_it_ends_in():
    assert read_moment("2024-04-16T17:00:00Z") == (THE_DAY, time(17, 0))
    assert read_moment("2024-04-16T23:30:00.123Z") == (THE_DAY, time(23, 30))
    assert read_moment("2024-04-16 17:30") == (THE_DAY, time(17, 30))
    assert read_moment("2024-04-16") == (THE_DAY, None)
    assert read_moment(None) == (None, None)


@pytest.mark.timeout(5)
def test_no_text_takes_long():
    for text in ("1" * 100_000, "1/" * 50_000, "april " * 20_000, "1:" * 50_000, "2024-" * 20_000):
        find_date(text)
        find_time(text)
