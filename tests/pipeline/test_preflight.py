"""The pre-flight of the drops: what passes, what does not, and what cannot be judged yet."""

from datetime import timedelta

import pytest
from django.utils import timezone

from pipeline.models import Intervention, ReconcileRun
from pipeline.verify.preflight import preflight
from sites.models import Site

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def judge(now=None):
    return preflight(Site, ReconcileRun, Intervention, now=now or timezone.now())


def verdicts():
    return [criterion.ok for criterion in judge()]


def add_sites(count, stage="completed", hours_ago=0.0):
    touched = timezone.now() - timedelta(hours=hours_ago)
    start = Site.objects.count()
    Site.objects.bulk_create(
        Site(subdomain=f"s{start + n}", current_stage=stage, updated_at=touched) for n in range(count)
    )


def add_reconcile_runs(*found, error="", hours_ago=0.0, gap=3.0):
    """One every few hours, the last of them so long ago."""
    for place, number in enumerate(found):
        at = timezone.now() - timedelta(hours=hours_ago + gap * (len(found) - 1 - place))
        ReconcileRun.objects.create(started_at=at, finished_at=at, found=number, error=error)


def add_a_week():
    add_reconcile_runs(0, hours_ago=8 * 24)


def test_a_healthy_installation_may_drop():
    add_sites(200)
    add_sites(1, "ocr", hours_ago=3)
    add_a_week()
    add_reconcile_runs(*[4] * 10)

    assert verdicts() == [True, True, True, True, True]


def test_ten_reconciles_within_a_minute_prove_nothing():
    add_sites(200)
    add_reconcile_runs(*[0] * 10, gap=0)

    runs, _, age = judge()[2:]

    assert not runs.ok and "10 over 24 hours are needed" in runs.detail
    assert not age.ok


def test_with_a_run_every_quarter_of_an_hour_a_whole_day_is_judged():
    add_a_week()
    add_reconcile_runs(*[0] * 100, gap=0.25)
    assert verdicts()[2]

    add_reconcile_runs(5, hours_ago=20)
    assert not verdicts()[2]


def test_it_says_since_when_clerk_has_been_at_work():
    add_reconcile_runs(0, hours_ago=6 * 24)
    assert not judge()[4].ok
    assert judge()[4].detail.endswith("6 days")

    Intervention.objects.create(action="adopt_sites")
    Intervention.objects.update(at=timezone.now() - timedelta(days=7, minutes=1))
    assert judge()[4].ok


def test_nothing_to_judge_by_is_not_a_pass_and_says_so():
    stuck, health, runs, interventions, age = judge()

    assert (stuck.ok, health.ok, runs.ok, interventions.ok, age.ok) == (False, False, False, True, False)
    assert "no site" in stuck.detail and "no site" in health.detail
    assert "no run so far" in runs.detail


def test_sites_that_never_ran_do_not_count():
    add_sites(50, stage=None, hours_ago=99)

    assert "no site" in judge()[0].detail


def test_one_percent_stuck_is_too_much_and_five_percent_unhealthy_is_not_yet():
    add_sites(99)
    add_sites(1, "deploy", hours_ago=2.1)

    assert verdicts()[:2] == [False, True]
    assert judge()[0].detail == "1 of 100 (1.00 %)"


def test_a_site_in_the_pipeline_that_was_never_touched_is_stuck():
    Site.objects.create(subdomain="never", current_stage="ocr", updated_at=None)

    assert verdicts()[:2] == [False, False]


def test_one_reconcile_run_of_the_last_ten_that_found_five_is_too_many():
    add_reconcile_runs(5, *[0] * 9, hours_ago=1)
    assert not verdicts()[2]

    add_reconcile_runs(0)  # now the eleventh, and out of sight
    assert verdicts()[2]


def test_a_reconcile_run_that_failed_or_has_not_ended_proves_nothing():
    add_reconcile_runs(*[0] * 9)
    ReconcileRun.objects.create(started_at=timezone.now())
    assert "9 runs since" in judge()[2].detail

    add_reconcile_runs(0, error="Redis does not answer")
    assert not verdicts()[2]


def test_only_an_intervention_that_unstuck_a_site_counts_and_only_for_seven_days():
    Intervention.objects.create(action="pause")
    assert verdicts()[3]

    Intervention.objects.create(action="unstick", unstuck=True)
    assert not verdicts()[3]
    assert judge(timezone.now() + timedelta(days=8))[3].ok
