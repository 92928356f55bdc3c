"""A listing: window first, backfill after, nothing twice, and what failed half-way is not lost."""

from collections.abc import Iterator
from datetime import date, timedelta

import pytest

from pipeline.errors import SourceError, StageError
from pipeline.work.fetch.answers import Limits
from pipeline.work.fetch.base import Cursor, Fetcher, Option
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.download import Downloaded, download
from pipeline.work.fetch.gate import LocalGate
from pipeline.work.fetch.listing import Known, ListedDays, Recheck, recheck, take
from pipeline.work.fetch.refs import DocRef, body_in, is_cancelled, kind_of, url_identity
from tests.fakecity import FakeCity, make_pdf

TODAY = date(2026, 6, 15)


class Archive(Fetcher):
    """A document on the first of every month since 2019; it can be made to fail below a year."""

    name = "archive"
    options = (Option("breaks_below", "fail for slices that begin before this year", int, 0),)
    asked: list[tuple[date, date]]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.asked = []

    def between(self, since: date, until: date) -> Iterator[DocRef]:
        self.asked.append((since, until))
        if since.year < self.settings["breaks_below"]:
            raise SourceError("the archive is closed", code="http_5xx")
        day = max(since, date(2019, 1, 1))
        while day <= min(until, TODAY):
            if day.day == 1:
                yield DocRef(f"doc-{day}", f"https://city.example/{day}.pdf", date=day, kind="agenda")
            day += timedelta(days=1)


def archive(**options) -> Archive:
    return Archive(Client(), "https://city.example/", options)


def test_the_window_comes_first_and_slices_meet_without_gap_or_overlap():
    fetcher = archive()

    listing = take(fetcher, ListedDays.of(TODAY, start_year=2019), {})

    first, *older = fetcher.asked
    assert first == (TODAY - timedelta(days=90), TODAY + timedelta(days=365))
    ends = [first[0], *(start for start, _ in older)]
    assert [end + timedelta(days=1) for _, end in older] == ends[:-1]
    assert older[-1][0] == date(2019, 1, 1)
    assert len(listing.refs) == 90
    assert listing.cursor == {"reached": "2019-01-01", "empty": 0, "done": True}


def test_a_second_run_asks_for_the_window_only():
    saved = take(archive(), ListedDays.of(TODAY, start_year=2019), {}).cursor
    fetcher = archive()

    take(fetcher, ListedDays.of(TODAY, start_year=2019), saved)

    assert len(fetcher.asked) == 1


def test_time_that_runs_out_ends_after_a_slice_and_the_next_run_goes_on():
    first = take(archive(), ListedDays.of(TODAY, start_year=2019, seconds=0), {})
    fetcher = archive()
    second = take(fetcher, ListedDays.of(TODAY + timedelta(days=1), start_year=2019), first.cursor)

    assert first.cursor["done"] is False
    assert second.cursor["done"] is True
    assert {ref.external_id for ref in (*first.refs, *second.refs)} == {
        ref.external_id for ref in take(archive(), ListedDays.of(TODAY, start_year=2019), {}).refs
    }


def test_a_backfill_that_breaks_keeps_what_it_has_and_says_so():
    broken = take(archive(breaks_below=2022), ListedDays.of(TODAY, start_year=2019), {})
    mended = take(archive(), ListedDays.of(TODAY, start_year=2019), broken.cursor)

    assert "the archive is closed" in broken.warning
    assert len(broken.refs) > 40
    assert mended.warning == ""
    assert min(ref.date for ref in mended.refs if ref.date) == date(2019, 1, 1)


def test_a_window_that_breaks_is_an_error():
    with pytest.raises(SourceError, match="closed"):
        take(archive(breaks_below=2027), ListedDays.of(TODAY), {})


def test_a_page_that_a_fetcher_stumbles_over_is_the_sources_trouble():
    class Changed(Archive):
        def between(self, since: date, until: date) -> Iterator[DocRef]:
            yield DocRef(external_id={}["id"], url="")

    with pytest.raises(SourceError, match="KeyError") as caught:
        take(Changed(Client(), "https://city.example/"), ListedDays.of(TODAY), {})

    assert caught.value.code == "wrong_page"


def test_years_of_silence_end_a_backfill_without_a_start_year():
    fetcher = archive()

    listing = take(fetcher, ListedDays.of(TODAY), {})

    assert len(listing.refs) == 90
    assert listing.cursor["done"] is True
    assert fetcher.asked[-1][0].year == 2015


def test_an_operator_who_asks_for_older_years_gets_them():
    saved = take(archive(), ListedDays.of(TODAY, start_year=2024), {}).cursor
    fetcher = archive()

    listing = take(fetcher, ListedDays.of(TODAY, start_year=2019), saved)

    assert min(ref.date for ref in listing.refs if ref.date) == date(2019, 1, 1)


def test_what_lies_before_the_start_year_is_left_out():
    listing = take(archive(), ListedDays.of(TODAY, start_year=2026), {})

    assert {ref.date.year for ref in listing.refs if ref.date} == {2026}


def test_a_site_that_stood_still_is_caught_up_with():
    saved = take(archive(), ListedDays.of(date(2025, 6, 1), start_year=2019), {}).cursor
    fetcher = archive()

    take(fetcher, ListedDays.of(TODAY, start_year=2019, listed=date(2025, 6, 1)), saved)

    assert fetcher.asked == [(date(2025, 6, 1) - timedelta(days=90), TODAY + timedelta(days=365))]


def test_a_cursor_survives_being_saved():
    cursor = Cursor({"reached": "2020-01-01", "empty": 400, "done": False})

    assert Cursor(cursor.as_json()).as_json() == {"reached": "2020-01-01", "empty": 400, "done": False}
    assert Cursor({}).as_json() == {"reached": None, "empty": 0, "done": False}


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"no_such": 1}, "no_such"),
        ({"breaks_below": "2020"}, "breaks_below"),
        ({"breaks_below": True}, "breaks_below"),
    ],
)
def test_a_wrong_option_is_named(options, named):
    with pytest.raises(StageError, match=named):
        archive(**options)


# ---- Looking again at what we have --------------------------------------------------------------------


@pytest.fixture
def city():
    with FakeCity() as server:
        yield server


@pytest.fixture
def client(city):
    limits = Limits(retries=0)
    with Client(gate=LocalGate(0), private_hosts=[city.host], limits=limits) as opened:
        yield opened


def known(client, url, tmp_path, identity="a", validators=True) -> Known:
    got = download(client, url, tmp_path / "first")
    assert isinstance(got, Downloaded)
    return Known(identity, url, None, got.sha256, got.etag if validators else "", got.last_modified)


def outcomes(checks) -> dict[str, str]:
    return {check.external_id: check.outcome for check in checks}


def test_an_unchanged_document_costs_an_empty_answer(city, client, tmp_path):
    have = known(client, city.pdf("/a.pdf", make_pdf("one")), tmp_path)

    assert outcomes(recheck(client, [have], tmp_path / "scratch")) == {"a": "same"}
    assert city.gets("/a.pdf")[-1].status == 304


def test_a_changed_document_is_found(city, client, tmp_path):
    have = known(client, city.pdf("/a.pdf", make_pdf("one")), tmp_path)
    city.pdf("/a.pdf", make_pdf("two"))

    assert outcomes(recheck(client, [have], tmp_path / "scratch")) == {"a": "changed"}
    assert not (tmp_path / "scratch").exists()


def test_without_validators_only_a_change_of_content_is_a_change(city, client, tmp_path):
    have = known(client, city.pdf("/a.pdf", make_pdf("one"), validators=False), tmp_path, validators=False)
    same = outcomes(recheck(client, [have], tmp_path / "scratch"))
    city.pdf("/a.pdf", make_pdf("two"), validators=False)
    changed = outcomes(recheck(client, [have], tmp_path / "scratch"))

    assert (same, changed) == ({"a": "same"}, {"a": "changed"})


def test_trouble_with_one_document_does_not_hide_the_others(city, client, tmp_path):
    gone = known(client, city.pdf("/gone.pdf", make_pdf("one")), tmp_path, "gone")
    broken = known(client, city.pdf("/broken.pdf", make_pdf("two")), tmp_path, "broken")
    fine = known(client, city.pdf("/fine.pdf", make_pdf("three")), tmp_path, "fine")
    city.page("/gone.pdf", "", status=404)
    city.page("/broken.pdf", "", status=500)

    checks = list(recheck(client, [gone, broken, fine], tmp_path / "scratch"))

    assert outcomes(checks) == {"gone": "gone", "fine": "same"}
    assert all(isinstance(check, Recheck) for check in checks)


def test_a_login_page_is_not_taken_for_a_new_version(city, client, tmp_path):
    have = known(client, city.pdf("/a.pdf", make_pdf("one")), tmp_path)
    city.page("/a.pdf", "<html>Please log in</html>")

    assert outcomes(recheck(client, [have], tmp_path / "scratch")) == {}


def test_a_page_with_another_token_is_the_same_page_and_one_with_other_words_is_not(city, client, tmp_path):
    def page(token: str, words: str) -> str:
        return f"<html><script>var t='{token}'</script><input type=hidden value={token}><p>{words}</p></html>"

    url = city.page("/agenda", page("a1", "Roll call"), validators=False)
    kept = tmp_path / "kept.html"
    got = download(client, url, kept, accept="html")
    assert isinstance(got, Downloaded)
    have = Known("a", url, None, got.sha256, accept="html", file=kept)

    city.page("/agenda", page("b2", "Roll call"), validators=False)
    same = outcomes(recheck(client, [have], tmp_path / "scratch"))
    city.page("/agenda", page("c3", "Roll call and adjournment"), validators=False)
    changed = outcomes(recheck(client, [have], tmp_path / "scratch"))

    assert (same, changed) == ({"a": "same"}, {"a": "changed"})


def test_a_host_that_has_had_enough_is_not_asked_about_the_rest(city, client, tmp_path):
    have = [known(client, city.pdf(f"/{name}.pdf", make_pdf(name)), tmp_path, name) for name in "abc"]
    city.page("/a.pdf", "", status=429, headers={"Retry-After": "0"})

    assert list(recheck(client, have, tmp_path / "scratch")) == []
    assert len(city.gets("/b.pdf")) == 1


# ---- Words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Agenda Packet", "packet"),
        ("City Council Minutes", "minutes"),
        ("Draft minutes of the agenda review", "minutes"),
        ("Amended Agenda", "agenda"),
        ("Sales Tax Update", "other"),
        ("Administration", "other"),
    ],
)
def test_a_kind_is_told_by_its_words(text, kind):
    assert kind_of(text) == kind


def test_a_cancelled_meeting_is_told_by_its_words():
    assert is_cancelled("CANCELLED - Planning Board")
    assert is_cancelled("Notice of cancellation")
    assert is_cancelled("Postponed to February 3")
    assert not is_cancelled("Regular Meeting (not cancelled)")
    assert not is_cancelled("Deferred Compensation Board")


@pytest.mark.parametrize(
    ("heading", "body"),
    [
        ("City Council 2024", "City Council"),
        ("2023 Planning Commission Agendas and Minutes", "Planning Commission"),
        ("Agendas & Minutes", ""),
        ("2024", ""),
        ("Parks & Recreation Board", "Parks & Recreation Board"),
    ],
)
def test_a_body_is_named_by_a_heading(heading, body):
    assert body_in(heading) == body


def test_spellings_of_one_address_are_one_identity():
    assert (
        url_identity("http://www.City.gov/a%20b.pdf#page=2")
        == url_identity("https://city.gov:443/a b.pdf")
        == "city.gov/a%20b.pdf"
    )
    assert url_identity("https://city.gov/x?b=2&a=1") == url_identity("https://city.gov/x?a=1&b=2")
    assert url_identity("https://city.gov/x?a=1") != url_identity("https://city.gov/x?a=2")
