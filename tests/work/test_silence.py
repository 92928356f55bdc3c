"""What is unusual for a source is learned from its own history; what is usual is never an alarm."""

from datetime import date, timedelta

import pytest

from pipeline.work.fetch.silence import Seen, judge, of_failure

TODAY = date(2026, 5, 1)


def meetings(last: int, every: int = 14, count: int = 20) -> list[date]:
    """The latest so many days ago, each so many days after the one before."""
    return [TODAY - timedelta(days=last + every * number) for number in range(count)]


def state(listed: int, **values) -> str:
    return judge(Seen(TODAY, listed, **values)).state


def test_a_source_of_which_nothing_is_known_is_fine() -> None:
    assert state(40) == "fine"
    assert state(3, earlier=[40, 41], meetings=meetings(300, count=3)) == "fine"


@pytest.mark.parametrize(
    ("listed", "earlier", "expected"),
    [
        (40, [41, 40, 39, 40, 42, 41], "fine"),
        (30, [41, 40, 39, 40, 42, 41], "fine"),
        (15, [41, 40, 39, 40, 42, 41], "fewer"),
        # The first listing brought the whole archive: the median does not mind.
        (38, [40, 41, 40, 39, 41, 1200], "fine"),
        # One that always swings may swing.
        (9, [12, 40, 22, 55, 9, 31, 60], "fine"),
        # Of a handful one cannot say that it is far fewer.
        (1, [3, 4, 3, 4, 3, 4], "fine"),
    ],
)
def test_far_fewer_than_usual(listed: int, earlier: list[int], expected: str) -> None:
    assert state(listed, earlier=earlier) == expected


@pytest.mark.parametrize(
    ("last", "every", "expected"),
    [(10, 14, "fine"), (40, 14, "fine"), (75, 14, "quiet"), (75, 30, "fine"), (150, 30, "quiet")],
)
def test_no_new_document_for_much_longer_than_usual(last: int, every: int, expected: str) -> None:
    assert state(20, meetings=meetings(last, every)) == expected


def test_a_summer_without_meetings_is_usual_where_there_was_one_before() -> None:
    days = meetings(60, 14, 10) + meetings(60 + 9 * 14 + 62, 14, 10)

    assert state(20, meetings=days) == "fine"


def test_a_meeting_ahead_or_something_new_is_no_silence() -> None:
    assert state(20, meetings=[*meetings(100), TODAY + timedelta(days=5)]) == "fine"
    assert state(20, meetings=meetings(100), last_new=TODAY - timedelta(days=2)) == "fine"


def test_nothing_listed_and_why() -> None:
    assert state(0, known=30) == "nothing"
    assert state(0, known=30, diagnosis="bot_wall") == "blocked"
    assert state(0, diagnosis="needs_javascript") == "scripted"


def test_a_page_that_changed_under_us() -> None:
    assert state(12, warning="3 of 15 entries cannot be read (KeyError: 'date')") == "changed"
    assert state(12, warning="older documents: SourceError: slow") == "fine"
    assert of_failure("wrong_page", "it is no Granicus page").state == "changed"
    assert of_failure("http_403", "refused").state == "blocked"
    assert of_failure("http_503", "trouble") is None


def test_the_rule_is_said_with_its_figures() -> None:
    fewer = judge(Seen(TODAY, 5, earlier=[40, 41, 40, 39, 41])).reason
    quiet = judge(Seen(TODAY, 20, meetings=meetings(75))).reason

    assert "It lists 5 documents; usual are 40 (the median of its last 5 listings)" in fewer
    assert "75 days ago; usual are 14 days between its meetings" in quiet
