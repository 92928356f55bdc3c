"""SIGKILL of the work-horse at each boundary: the queue delivers again, and every effect happens once."""

import os
import signal
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from pipeline import dispatch, flow, protocol
from pipeline.models import DocumentState, Run, Status
from pipeline.queue import sending
from pipeline.reconcile import reconcile
from pipeline.state import ledger, runs
from sites.models import Site
from sites.stages import Progress, Stage
from tests.conftest import assert_counters_equal_ledger, assert_each_transition_once

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trivial_jobs"),
]


@pytest.fixture
def kill_once(monkeypatch, tmp_path: Path):
    """The first work-horse to reach this function dies there; the next ones pass."""

    def arrange(module, name: str, *, after: bool = False) -> Path:
        real, mark = getattr(module, name), tmp_path / f"died-at-{name}"

        def deadly(*args, **kwargs):
            result = real(*args, **kwargs) if after else None
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return result if after else real(*args, **kwargs)

        monkeypatch.setattr(module, name, deadly)
        return mark

    return arrange


def assert_whole(site, run: Run, documents: int) -> None:
    site.refresh_from_db()
    run.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert run.status == Run.Status.COMPLETED
    assert site.progress(Stage.OCR) == Progress(documents, documents, 0)
    assert not DocumentState.objects.filter(status=Status.IN_PROGRESS).exists()
    assert_each_transition_once(run)
    assert list(run.stages.values_list("stage", flat=True)) == [
        "fetch",
        "ocr",
        "compilation",
        "extraction",
        "deploy",
    ]
    assert_counters_equal_ledger()


def test_after_the_claim(make_site, run_jobs):
    site = make_site(titles=["killer-once", "ok"])
    run = flow.start(site.pk)
    run_jobs(fork=True)
    assert_whole(site, run, 2)
    assert DocumentState.objects.get(document__title="killer-once", pipeline="ocr").attempt_count == 2


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (ledger, "finish_processed"),  # after the work
        (ledger, "_count"),  # inside the finishing transaction: the ledger is written, the site is not
        (ledger, "claim_coordinator"),  # inside it still, with the counters written
    ],
)
def test_before_the_finish_is_committed(make_site, run_jobs, kill_once, module, name):
    site = make_site(titles=["ok 1", "ok 2"])
    run = flow.start(site.pk)
    died = kill_once(module, name)
    run_jobs(fork=True)
    assert died.exists()
    assert_whole(site, run, 2)


def test_a_coordinator_that_dies_before_it_moved_the_site(make_site, run_jobs, kill_once):
    site = make_site(titles=["ok 1", "ok 2"])
    run = flow.start(site.pk)
    died = kill_once(runs, "move_on")
    run_jobs(fork=True)
    assert died.exists()
    assert_whole(site, run, 2)


def test_a_coordinator_that_dies_inside_its_transaction(make_site, run_jobs, kill_once):
    site = make_site(titles=["ok 1", "ok 2"])
    run = flow.start(site.pk)
    died = kill_once(runs, "move_on", after=True)
    run_jobs(fork=True)
    assert died.exists()
    assert_whole(site, run, 2)


@pytest.fixture
def reconcile_later(settings):
    """Time enough has passed for every row and claim to count as quiet."""

    def later() -> None:
        long_ago = timezone.now() - timedelta(hours=3)
        DocumentState.objects.update(updated_at=long_ago)
        Site.objects.update(updated_at=long_ago)
        reconcile()

    return later


def drive(site, run_jobs, reconcile_later) -> None:
    for _ in range(6):
        run_jobs(fork=True)
        site.refresh_from_db()
        if site.current_stage == Stage.COMPLETED:
            return
        reconcile_later()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (protocol, "_follow_up"),  # a job's finish is committed, nothing of what it set free is queued
        (dispatch, "deliver"),  # the site has moved on, none of the next stage's jobs is queued
        (sending, "send_coordinator"),  # the coordinator is claimed and committed, and never sent
    ],
)
def test_after_the_commit_and_before_the_enqueue(
    make_site, run_jobs, kill_once, reconcile_later, module, name
):
    site = make_site(titles=["ok 1", "ok 2"])
    run = flow.start(site.pk)
    died = kill_once(module, name)
    drive(site, run_jobs, reconcile_later)
    assert died.exists()
    assert_whole(site, run, 2)


def test_two_reconciles_after_a_crash_double_nothing(make_site, run_jobs, kill_once, reconcile_later, queued):
    site = make_site(titles=["ok 1", "ok 2"])
    run = flow.start(site.pk)
    kill_once(sending, "send_coordinator")
    run_jobs(fork=True)
    reconcile_later()
    reconcile_later()
    assert len(queued("high")) <= 2  # the second has a new sequence; whichever comes first moves the site
    drive(site, run_jobs, reconcile_later)
    assert_whole(site, run, 2)
