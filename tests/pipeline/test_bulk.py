"""Acts on many: recorded, worked off in slices, exact whatever is lost or delivered twice."""

from datetime import timedelta

import django_rq
import pytest
from django.utils import timezone

from pipeline import flow
from pipeline.models import BulkAct, BulkItem, DocumentState, Intervention, Run
from pipeline.operations import bulk
from pipeline.operations.bulk import EVERYTHING, Target
from pipeline.operations.interventions import Operator
from sites.models import Document, Site

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
ANN = Operator("ann", "asked for")


def begin(act: str = "pause", count: int = 60) -> BulkAct:
    return bulk.begin(act, act.title(), [Target(f"city{number}.ca") for number in range(count)], ANN)


@pytest.fixture
def sixty(make_site) -> None:
    Site.objects.bulk_create(Site(subdomain=f"city{number}.ca") for number in range(60))


def test_it_is_worked_off_by_a_job_and_each_is_recorded(sixty, run_jobs):
    Site.objects.filter(pk="city7.ca").update(paused_at=timezone.now())
    act = begin()
    run_jobs()

    act.refresh_from_db()
    assert (act.status, act.total) == ("finished", 60)
    assert bulk.counts(act) == {"waiting": 0, "done": 59, "refused": 1}
    assert act.items.get(status="refused").why == "city7.ca is paused already"
    assert Site.objects.filter(paused_at=None).count() == 0
    assert Intervention.objects.filter(action="pause", by="ann", reason="asked for").count() == 59


def test_slices_follow_one_another_until_all_is_done(sixty, run_jobs, monkeypatch):
    monkeypatch.setattr(bulk, "SLICE_SECONDS", 0.05)
    monkeypatch.setattr(bulk, "READ", 5)
    act = begin()
    run_jobs()
    act.refresh_from_db()
    assert act.status == "finished"
    assert act.seq > 0


def test_a_slice_delivered_twice_does_nothing_twice(sixty, monkeypatch):
    monkeypatch.setattr(bulk, "SLICE_SECONDS", 300)
    act = begin()
    bulk.work_off(act.pk, 0)
    bulk.work_off(act.pk, 0)
    assert Intervention.objects.count() == 60


def test_two_slices_at_once_share_the_work(sixty, in_processes, monkeypatch):
    monkeypatch.setattr(bulk, "SLICE_SECONDS", 300)
    act = begin("start", 60)
    assert in_processes(2, lambda number: bulk.work_off(act.pk, 0)) == [0, 0]
    assert Run.objects.count() == 60
    assert bulk.counts(act)["done"] == 60


def test_a_lost_slice_is_sent_again(sixty, run_jobs):
    act = begin()
    django_rq.get_queue("high").empty()
    assert bulk.send_lost() == 0
    BulkAct.objects.update(updated_at=timezone.now() - timedelta(minutes=10))
    assert bulk.send_lost() == 1
    run_jobs()
    assert bulk.counts(act)["done"] == 60


def test_it_can_be_stopped_and_goes_on(sixty, run_jobs):
    act = begin()
    assert bulk.stop(act.pk)
    run_jobs()
    assert bulk.counts(act) == {"waiting": 60, "done": 0, "refused": 0}
    assert bulk.go_on(act.pk)
    run_jobs()
    assert bulk.counts(act)["done"] == 60
    assert not bulk.go_on(act.pk)


def test_exactly_the_chosen_rows_are_retried(make_site, trivial_jobs, run_jobs):
    site = make_site(titles=["bad", "bad", "ok"])
    flow.start(site.pk)
    run_jobs()
    chosen, other = DocumentState.objects.failures().order_by("pk")
    bulk.begin("retry", "Retry", [Target(site.pk, (chosen.pk,))], ANN)
    Document.objects.update(title="mended")
    run_jobs()
    chosen.refresh_from_db()
    other.refresh_from_db()
    assert (chosen.status, chosen.retried, other.retried) == ("processed", 1, 0)


def test_a_site_that_is_gone_is_refused_and_the_rest_go_on(make_site, run_jobs):
    make_site("alameda.ca")
    act = bulk.begin("pause", "Pause", [Target("gone.ca"), Target("alameda.ca")], ANN)
    run_jobs()
    assert bulk.counts(act) == {"waiting": 0, "done": 1, "refused": 1}


def test_repair_now_is_a_reconcile(make_site, run_jobs):
    act = bulk.begin("repair", "Repair now", [Target(EVERYTHING)], ANN)
    run_jobs()
    assert BulkItem.objects.get(bulk=act).status == "done"
