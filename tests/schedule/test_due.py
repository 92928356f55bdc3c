"""What is due is started: once, the oldest first, no more at once than is allowed, and no site for ever."""

from datetime import timedelta

import pytest
from django.db import connections
from django.utils import timezone

from pipeline import flow
from pipeline.models import Run, Schedule
from pipeline.schedule import due, plan
from pipeline.state.repair import call_for_attention
from sites.models import Site, Source

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("trivial_jobs")]
DAY = timedelta(days=1)


@pytest.fixture
def now():
    return timezone.now()


def run_once(now, run_jobs):
    started = due.start_due(now)
    run_jobs()
    return started


@pytest.mark.both_databases
def test_a_new_site_is_checked_soon_and_then_on_its_rhythm(make_site, run_jobs, now) -> None:
    make_site(titles=["ok"])

    assert due.start_due(now).sites == ()
    assert run_once(now + 2 * plan.FIRST_CHECK, run_jobs).sites == ("alameda.ca",)
    planned = Schedule.objects.get().next_check_at
    assert run_once(planned - timedelta(seconds=1), run_jobs).sites == ()
    assert run_once(planned, run_jobs).sites == ("alameda.ca",)

    assert list(Run.objects.values_list("status", "started_by")) == 2 * [("completed", "schedule")]
    assert Schedule.objects.get().next_check_at > planned


def test_after_an_outage_a_site_is_checked_once_and_not_for_each_slot_missed(
    make_site, run_jobs, now
) -> None:
    make_site(titles=["ok"])
    run_once(now, run_jobs)
    later = now + 9 * DAY

    assert run_once(later, run_jobs).sites == ("alameda.ca",)

    assert run_once(later, run_jobs).sites == ()
    assert later < Schedule.objects.get().next_check_at <= later + DAY


def test_after_an_outage_no_more_run_at_once_than_is_allowed_the_oldest_first(
    make_site, run_jobs, now, settings
) -> None:
    settings.SCHEDULE_AT_ONCE = 2
    for number in range(5):
        site = make_site(f"city{number}.ca", titles=["ok"])
        Schedule.objects.create(site=site, next_check_at=now - (5 - number) * DAY)

    first = due.start_due(now)
    again = due.start_due(now)
    run_jobs()
    rest = [run_once(now, run_jobs).sites for _ in range(3)]

    assert (first.sites, first.waiting) == (("city0.ca", "city1.ca"), 3)
    assert again.sites == ()
    assert rest == [("city2.ca", "city3.ca"), ("city4.ca",), ()]


def test_runs_that_stand_still_take_no_place(make_site, now, settings) -> None:
    settings.SCHEDULE_AT_ONCE = 1
    for name in ("paused.ca", "asking.ca"):
        flow.start(make_site(name, titles=["ok"]).pk)
    flow.pause("paused.ca")
    asking = Site.objects.get(pk="asking.ca")
    call_for_attention(asking.pk, asking.run_id, "look at it")
    site = make_site("due.ca", titles=["ok"])
    Schedule.objects.create(site=site, next_check_at=now)

    assert due.start_due(now).sites == ("due.ca",)


@pytest.mark.both_databases
def test_of_many_machines_one_starts_a_site(make_site, in_processes, now) -> None:
    site = make_site(titles=["ok"])
    Schedule.objects.create(site=site, next_check_at=now - DAY)

    assert in_processes(6, lambda number: due.start_due(now)) == 6 * [0]

    assert Run.objects.count() == 1


def test_without_the_lock_the_guarded_update_alone_lets_one_through(make_site, in_processes, now) -> None:
    site = make_site(titles=["ok"])
    Schedule.objects.create(site=site, next_check_at=now - DAY)

    def check(number: int) -> None:
        # As two machines that read the same row before either wrote it.
        due._check(schedule, now)
        connections.close_all()

    schedule = Schedule.objects.select_related("site").get()
    assert in_processes(4, check) == 4 * [0]

    assert Run.objects.count() == 1
    assert Schedule.objects.get().note == ""


def test_a_paused_site_waits_and_comes_when_it_is_resumed(make_site, now) -> None:
    site = make_site(titles=["ok"])
    Schedule.objects.create(site=site, next_check_at=now)
    flow.pause(site.pk)

    assert due.start_due(now).sites == ()
    flow.resume(site.pk)
    assert due.start_due(now + timedelta(minutes=1)).sites == ("alameda.ca",)


def test_a_site_that_runs_has_its_check_already(make_site, now) -> None:
    site = make_site(titles=["ok"])
    Schedule.objects.create(site=site, next_check_at=now)
    flow.start(site.pk)

    started = due.start_due(now)

    assert started.passed_over == (("alameda.ca", "it runs already"),)
    assert Schedule.objects.get().next_check_at > now


@pytest.mark.parametrize("missing", ["none", "off"])
def test_a_site_without_a_source_is_not_started(make_site, now, missing: str) -> None:
    site = make_site(titles=["ok"] if missing == "off" else None)
    Source.objects.update(enabled=False)
    Schedule.objects.create(site=site, next_check_at=now)

    assert due.start_due(now).passed_over == (("alameda.ca", due.NO_SOURCE),)
    assert Schedule.objects.get().note == due.NO_SOURCE


def test_a_site_that_needs_a_person_is_not_started_again_and_again(make_site, run_jobs, now) -> None:
    site = make_site(titles=["fetch-bad"])  # its runs fail
    Schedule.objects.create(site=site, next_check_at=now)
    waits = []
    for _ in range(due.GIVE_UP_AFTER + 3):
        run_once(now, run_jobs)
        planned = Schedule.objects.get().next_check_at
        waits.append(planned - now)
        now = planned

    assert Run.objects.filter(status="failed").count() == due.GIVE_UP_AFTER
    assert Schedule.objects.get().note == due.GIVEN_UP
    assert max(waits[:2]) <= DAY < waits[3] <= 8 * DAY


def test_a_rhythm_that_says_never_and_one_that_is_taken_up_again(make_site, run_jobs, now, settings) -> None:
    settings.SCHEDULE_RHYTHM = "never"
    make_site(titles=["ok"])
    assert run_once(now + DAY, run_jobs).sites == ()

    settings.SCHEDULE_RHYTHM = "hourly"
    run_once(now + DAY, run_jobs)

    assert run_once(now + DAY + timedelta(hours=1), run_jobs).sites == ("alameda.ca",)


def test_a_lost_queue_loses_no_check(make_site, now, settings, monkeypatch) -> None:
    site = make_site(titles=["ok"])
    Schedule.objects.create(site=site, next_check_at=now)
    monkeypatch.setitem(settings.RQ_QUEUES["high"], "URL", "redis://127.0.0.1:1/0")

    with pytest.raises(Exception, match="Redis"):
        due.start_due(now)

    assert Schedule.objects.get().next_check_at == now
