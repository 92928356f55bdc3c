"""Guards that no other test misses when they are gone: each is a race in one place, made to happen."""

import signal
import threading
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from pipeline import flow, reconcile
from pipeline.errors import Failure, Fenced
from pipeline.models import DocumentState, Run, Status
from pipeline.protocol import job
from pipeline.queue import inspection
from pipeline.reconcile.repair import repair_site
from pipeline.state import ledger, repair, resets, runs
from pipeline.state.attempt import Attempt, Finished
from pipeline.state.ledger import Work
from sites.models import Document, Site
from sites.stages import Stage
from tests.conftest import assert_counters_equal_ledger

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trivial_jobs"),
]
LONG_AGO = timedelta(hours=5)


@pytest.fixture
def begun(make_site, make_documents) -> tuple[Site, Run, list[DocumentState]]:
    """A site in OCR with two documents, its jobs queued."""
    site = make_site()
    make_documents(site, ["ok 1", "ok 2"])
    run = flow.start(site.pk, first=Stage.OCR)
    site.refresh_from_db()
    return site, run, list(DocumentState.objects.filter(run=run, pipeline=Stage.OCR).order_by("pk"))


def claimed(row: DocumentState) -> Attempt:
    attempt = ledger.claim(row.pk, row.run_id or 0, row.enqueue_seq, f"job-{row.pk}", 0)
    assert attempt is not None
    return attempt


def test_a_job_that_finishes_during_a_recount_is_in_both_or_in_neither(begun, monkeypatch) -> None:
    site, run, rows = begun
    attempt = claimed(rows[0])
    Site.objects.filter(pk=site.pk).update(ocr_completed=7)
    read = repair.ledger_counts

    def finish() -> None:
        ledger.finish_processed(attempt, Finished())
        connections.close_all()

    finisher = threading.Thread(target=finish)

    def read_then_wait(counted_rows):
        counted = read(counted_rows)
        finisher.start()
        finisher.join(1)
        return counted

    monkeypatch.setattr(repair, "ledger_counts", read_then_wait)
    with transaction.atomic():
        assert repair.recount(site.pk, run.pk) == 1
    finisher.join(30)

    assert Site.objects.get().ocr_completed == 1
    assert_counters_equal_ledger()


def test_a_run_ends_once(begun) -> None:
    _, run, _ = begun
    runs.abandon(run, Run.Status.CANCELLED, "first")

    with pytest.raises(Fenced, match="ended already"), transaction.atomic():
        runs.abandon(run, Run.Status.FAILED, "second")

    run.refresh_from_db()
    assert (run.status, run.message) == (Run.Status.CANCELLED, "first")


def test_no_alarm_rings_while_a_job_is_being_finished(begun) -> None:
    _, run, rows = begun
    left = []

    def record() -> None:
        left.append(signal.getitimer(signal.ITIMER_REAL)[0])

    @job(Stage.OCR)
    def work(attempt: Attempt) -> Finished:
        signal.alarm(60)
        return Finished(record=record)

    try:
        work(rows[0].pk, run.pk, rows[0].enqueue_seq)
    finally:
        signal.alarm(0)

    assert left == [0.0]


def test_an_attempt_whose_run_was_given_up_at_that_moment_is_ended_by_reconcile(begun) -> None:
    _, run, rows = begun
    claimed(rows[0])
    Run.objects.filter(pk=run.pk).update(status=Run.Status.CANCELLED)
    Site.objects.update(run_id=None, current_stage=None)
    DocumentState.objects.update(updated_at=timezone.now() - LONG_AGO)

    reconcile.reconcile()

    row = DocumentState.objects.get(pk=rows[0].pk)
    assert (row.status, row.error_code) == (Status.FAILED_RETRYABLE, "worker_lost")


def test_the_queue_is_read_after_the_ledger_and_the_sites(begun, monkeypatch) -> None:
    """A job that was taken in between has changed its row; one queued in between is in the queue."""
    read = []
    ask = inspection.live_job_ids

    def asked(*arguments):
        read.append("queue")
        return ask(*arguments)

    def noted(execute, sql, *arguments):
        if sql.startswith("SELECT"):
            read.extend(name for name in ("document_pipeline_state", "sites") if f'FROM "{name}"' in sql)
        return execute(sql, *arguments)

    monkeypatch.setattr(inspection, "live_job_ids", asked)
    with connection.execute_wrapper(noted):
        reconcile.find.suspects(timezone.now(), timedelta(hours=2))

    before = read[: read.index("queue")]
    assert {"document_pipeline_state", "sites"} <= set(before)


def test_a_coordinator_that_was_sent_again_meanwhile_is_not_sent_a_third_time(begun) -> None:
    Site.objects.update(coordinator_enqueued=True)
    seen = Site.objects.get()

    assert repair.renew_lost_coordinator(seen) == seen.coordinator_seq + 1
    assert repair.renew_lost_coordinator(seen) is None


@pytest.mark.parametrize("status", [Status.PENDING, Status.FAILED_RETRYABLE])
def test_a_document_that_a_worker_takes_while_it_is_being_skipped_is_not_skipped(begun, status) -> None:
    _, _, rows = begun
    if status == Status.FAILED_RETRYABLE:
        ledger.finish_failed(claimed(rows[0]), Failure("x", "x", retryable=True))
    seen = DocumentState.objects.get(pk=rows[0].pk)
    claimed(seen)

    with pytest.raises(Fenced), transaction.atomic():
        resets._end_unworked(seen, error_code="skipped", error_message="skipped")

    assert DocumentState.objects.get(pk=seen.pk).attempt_token is not None


def test_reconcile_leaves_a_site_that_moved_since_it_looked(begun) -> None:
    _, run, _ = begun
    runs.abandon(run, Run.Status.CANCELLED, "gone")
    Site.objects.update(run_id=None, updated_at=timezone.now() - LONG_AGO)
    [suspect] = reconcile.find.suspects(timezone.now(), timedelta(hours=2))
    Site.objects.update(updated_at=timezone.now())

    assert repair_site(suspect, timezone.now(), timedelta(hours=2)) is None
    assert Run.objects.count() == 1


def test_a_site_is_not_moved_on_while_a_job_is_uncounted(begun) -> None:
    site, run, _ = begun
    Site.objects.update(coordinator_enqueued=True)

    with pytest.raises(Fenced, match="not waiting"), transaction.atomic():
        runs.complete(site.pk, run.pk, (Stage.OCR,), "done")

    assert Site.objects.get().current_stage == Stage.OCR


@pytest.mark.parametrize("ending", ["processed", "failed for now", "failed for good"])
def test_whoever_finishes_writes_the_ledger_before_the_site(begun, ending: str) -> None:
    """The one order that everybody keeps: two of them cannot wait for one another."""
    _, _, rows = begun
    attempt = claimed(rows[0])
    with CaptureQueriesContext(
        connection,
    ) as done:
        if ending == "processed":
            ledger.finish_processed(attempt, Finished())
        else:
            ledger.finish_failed(attempt, Failure("x", "x", retryable=ending == "failed for now"))
    written = [query["sql"].split('"')[1] for query in done if query["sql"].startswith("UPDATE")]

    assert written[:2] == ["document_pipeline_state", "sites"]


def test_opening_a_stage_leaves_what_is_processed_whoever_asks_for_it(begun) -> None:
    site, run, rows = begun
    ledger.finish_processed(claimed(rows[0]), Finished())
    flow.cancel(site.pk)
    later = Run.objects.create(site=site, started_at=timezone.now())

    with transaction.atomic():
        every = Work(documents=Document.objects.filter(site=site))
        opened = ledger.open_stage(site.pk, later.pk, Stage.OCR, every)

    rows[0].refresh_from_db()
    assert (opened, rows[0].status, rows[0].run_id) == (1, Status.PROCESSED, run.pk)
