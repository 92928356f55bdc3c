"""Every effect once: jobs at the same moment, twice, late, out of time, and of a run that is over."""

import contextlib
import threading
import uuid
from datetime import timedelta

import django_rq
import pytest
from django.db import connection, transaction
from django.utils import timezone
from rq.registry import FailedJobRegistry

from pipeline import flow, protocol
from pipeline.errors import DocumentError, Failure, Fenced
from pipeline.models import DocumentState, Run, Status
from pipeline.queue import sending
from pipeline.state import ledger, retry
from pipeline.state.attempt import Finished
from pipeline.state.guards import in_hand
from sites.stages import Progress, Stage
from tests import trivial
from tests.conftest import assert_counters_equal_ledger, assert_each_transition_once

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trivial_jobs"),
]


def open_stage(site, stage: Stage) -> list[tuple[int, int, int]]:
    """Start at this stage; the arguments of its jobs."""
    run = flow.start(site.pk, first=stage)
    rows = DocumentState.objects.filter(run=run, pipeline=stage).order_by("pk")
    return [(row.pk, run.pk, row.enqueue_seq) for row in rows]


def test_a_hundred_jobs_from_eight_processes_count_exactly_and_send_one_coordinator(
    make_site, make_documents, in_processes, queued
):
    site = make_site()
    make_documents(site, [f"bad {n}" if n % 10 == 0 else f"ok {n}" for n in range(100)])
    jobs = open_stage(site, Stage.OCR)

    def work(number: int) -> None:
        for job in jobs[number::8]:
            trivial.ocr_document(*job)

    assert in_processes(8, work) == [0] * 8
    site.refresh_from_db()
    assert site.progress(Stage.OCR) == Progress(100, 90, 10)
    assert site.coordinator_enqueued
    assert len(queued("high")) == 1
    assert_counters_equal_ledger()


def test_the_last_job_of_the_two_stage_wave_sends_the_one_coordinator(
    make_site, make_documents, in_processes, run_jobs, queued
):
    site = make_site()
    make_documents(site, [f"ok {n}" for n in range(100)])
    run = flow.start(site.pk, first=Stage.OCR)
    run_jobs(only="ocr")
    run_jobs(only="high")
    rows = list(DocumentState.objects.filter(run=run, pipeline__in=["compilation", "extraction"]))
    assert len(rows) == 101

    def work(number: int) -> None:
        for row in rows[number::8]:
            entry = trivial.extract_document if row.document_id else trivial.compile_site
            entry(row.pk, run.pk, row.enqueue_seq)

    assert in_processes(8, work) == [0] * 8
    site.refresh_from_db()
    assert site.current_stage == "extraction"
    assert site.progress(Stage.COMPILATION) == Progress(1, 1, 0)
    assert site.progress(Stage.EXTRACTION) == Progress(100, 100, 0)
    assert len(queued("high")) == 1
    assert_counters_equal_ledger()


def test_jobs_that_finish_before_the_enqueueing_call_returns(make_site, monkeypatch):
    for name in ("high", "fetch", "ocr", "compilation", "extraction", "deploy"):
        monkeypatch.setitem(django_rq.settings.QUEUES[name], "ASYNC", False)
    site = make_site(titles=["ok 1", "bad", "ok 2"])

    run = flow.start(site.pk)

    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert site.progress(Stage.OCR) == Progress(3, 2, 1)
    assert_each_transition_once(run)
    assert_counters_equal_ledger()


def test_nothing_is_queued_inside_a_transaction(make_site, run_jobs, monkeypatch):
    """Queued earlier, a fast worker would count before the totals are there."""
    sent = []
    for name in ("send", "send_later", "send_coordinator"):
        real = getattr(sending, name)

        def watched(*args, real=real):
            sent.append(connection.in_atomic_block)
            return real(*args)

        monkeypatch.setattr(sending, name, watched)
    site = make_site(titles=["ok", "flaky"])

    flow.start(site.pk)
    flow.pause(site.pk)
    run_jobs()
    flow.resume(site.pk)
    run_jobs()

    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert len(sent) > 10
    assert not any(sent)


def test_the_same_job_delivered_twice_counts_once(make_site, make_documents, queued):
    site = make_site()
    make_documents(site, ["ok 1", "ok 2"])
    first, second = open_stage(site, Stage.OCR)
    for job in (first, first, second, second):
        trivial.ocr_document(*job)

    site.refresh_from_db()
    assert site.progress(Stage.OCR) == Progress(2, 2, 0)
    assert len(queued("high")) == 1
    assert DocumentState.objects.get(pk=first[0]).attempt_count == 1


def test_the_same_job_delivered_to_eight_workers_at_once_counts_once(
    make_site, make_documents, in_processes, queued
):
    site = make_site()
    make_documents(site, [f"ok {n}" for n in range(20)])
    jobs = open_stage(site, Stage.OCR)

    def work(number: int) -> None:
        for job in jobs:
            trivial.ocr_document(*job)

    assert in_processes(8, work) == [0] * 8
    site.refresh_from_db()
    assert site.progress(Stage.OCR) == Progress(20, 20, 0)
    assert len(queued("high")) == 1
    assert set(DocumentState.objects.filter(pipeline="ocr").values_list("attempt_count", flat=True)) == {1}


def test_a_later_delivery_of_a_lost_job_takes_over_and_the_first_is_fenced_off(make_site, make_documents):
    site = make_site()
    make_documents(site, ["ok"])
    [(row, run, seq)] = open_stage(site, Stage.OCR)
    first = ledger.claim(row, run, seq, "job", delivery=0)
    assert ledger.claim(row, run, seq, "job", delivery=0) is None
    second = ledger.claim(row, run, seq, "job", delivery=1)

    assert first and second
    with pytest.raises(Fenced):
        ledger.finish_processed(first, Finished())
    with pytest.raises(Fenced):
        first.progress(1, 1)
    ledger.finish_processed(second, Finished())
    site.refresh_from_db()
    assert site.progress(Stage.OCR) == Progress(1, 1, 0)
    assert_counters_equal_ledger()


@pytest.mark.parametrize("outcome", ["processed", "failed", "grown"])
def test_a_job_of_run_one_can_neither_count_nor_write_into_run_two(
    make_site, make_documents, outcome, queued
):
    site = make_site(titles=["listed"])
    [document] = make_documents(site, ["ok"])
    [(row, run, seq)] = open_stage(site, Stage.OCR)
    attempt = ledger.claim(row, run, seq, "job", 0)
    second = flow.restart(site.pk)
    sent = queued("high")
    written = []

    assert attempt
    with pytest.raises(Fenced):
        if outcome == "failed":
            ledger.finish_failed(attempt, retry.worker_lost(1))
        else:
            ledger.finish_processed(attempt, Finished(record=lambda: written.append(1)))
    site.refresh_from_db()
    assert site.run_id == second.pk
    assert site.progress(Stage.OCR) == Progress(0, 0, 0)
    assert DocumentState.objects.get(pk=row).status == Status.FAILED_RETRYABLE
    assert not written
    assert queued("high") == sent
    assert_counters_equal_ledger()
    # and when run two has opened the very same row:
    DocumentState.objects.filter(pk=row).update(status="pending", run=second)
    with pytest.raises(Fenced):
        ledger.finish_processed(attempt, Finished())
    assert ledger.claim(row, run, seq, "job", 1) is None
    assert document.ledger.get(pipeline="ocr").status == Status.PENDING


@pytest.mark.parametrize("elsewhere", [{"run_id": 424242}, {"current_stage": Stage.DEPLOY}])
def test_a_finish_rolls_back_whole_when_the_site_is_in_another_run_or_stage(
    make_site, make_documents, elsewhere
):
    site = make_site()
    make_documents(site, ["ok"])
    [(row, run, seq)] = open_stage(site, Stage.OCR)
    attempt = ledger.claim(row, run, seq, "job", 0)
    type(site).objects.filter(pk=site.pk).update(**elsewhere)

    assert attempt
    with pytest.raises(Fenced):
        ledger.finish_processed(attempt, Finished())
    assert DocumentState.objects.get(pk=row).status == Status.IN_PROGRESS


def test_only_a_row_in_progress_can_be_finished(make_site, make_documents):
    site = make_site()
    make_documents(site, ["ok"])
    [(row, run, seq)] = open_stage(site, Stage.OCR)
    attempt = ledger.claim(row, run, seq, "job", 0)
    DocumentState.objects.filter(pk=row).update(status=Status.FAILED_TERMINAL)

    assert attempt
    with pytest.raises(Fenced):
        ledger.finish_processed(attempt, Finished())
    site.refresh_from_db()
    assert site.progress(Stage.OCR) == Progress(1, 0, 0)


def test_a_job_finds_its_row_by_its_key_even_if_the_ledger_is_taken_for_empty(make_site, make_documents):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite does not guess")
    site = make_site()
    documents = make_documents(site, [f"ok {number}" for number in range(2000)])
    DocumentState.objects.all().delete()
    run = Run.objects.create(site=site, started_at=timezone.now())

    def vacuum() -> None:
        connection.cursor().execute("VACUUM document_pipeline_state")
        connection.close()

    with transaction.atomic():
        [row, *_] = ledger.add_rows(site.pk, run.pk, Stage.OCR, [it.pk for it in documents])
        # In another connection, for which none of these rows is there yet.
        beside = threading.Thread(target=vacuum)
        beside.start()
        beside.join()

    assert f"Index Cond: (id = {row})" in in_hand(row, run.pk, uuid.uuid4()).explain()


def test_two_coordinators_at_once_move_the_site_on_once(make_site, make_documents, in_processes):
    site = make_site()
    make_documents(site, ["ok 1"])
    [job] = open_stage(site, Stage.OCR)
    trivial.ocr_document(*job)

    assert in_processes(8, lambda number: flow.advance(site.pk, job[1])) == [0] * 8
    run = Run.objects.get(pk=job[1])
    site.refresh_from_db()
    assert site.current_stage == "extraction"
    assert_each_transition_once(run)
    assert DocumentState.objects.filter(run=run, pipeline="compilation").count() == 1
    assert_counters_equal_ledger()


def test_a_finisher_and_a_repair_that_claim_at_once_send_one_coordinator(
    make_site, make_documents, in_processes, tmp_path
):
    site = make_site()
    make_documents(site, ["ok"])
    [job] = open_stage(site, Stage.OCR)
    trivial.ocr_document(*job)
    type(site).objects.filter(pk=site.pk).update(coordinator_enqueued=False)

    def claim(number: int) -> None:
        if ledger.claim_coordinator(site.pk, job[1]) is not None:
            (tmp_path / f"won-{number}").touch()

    assert in_processes(8, claim) == [0] * 8
    assert len(list(tmp_path.glob("won-*"))) == 1


def test_a_coordinator_moves_only_a_site_that_was_claimed(make_site, make_documents):
    site = make_site()
    make_documents(site, ["ok"])
    [job] = open_stage(site, Stage.OCR)
    trivial.ocr_document(*job)
    type(site).objects.filter(pk=site.pk).update(coordinator_enqueued=False)

    flow.advance(site.pk, job[1])

    site.refresh_from_db()
    assert site.current_stage == Stage.OCR


def test_a_coordinator_that_comes_late_moves_nothing(make_site, make_documents, run_jobs):
    site = make_site()
    make_documents(site, ["ok"])
    run = flow.start(site.pk, first=Stage.OCR)
    run_jobs(only="ocr")
    run_jobs(only="high")
    for _ in range(3):
        flow.advance(site.pk, run.pk)

    site.refresh_from_db()
    assert site.current_stage == "extraction"
    assert site.progress(Stage.EXTRACTION) == Progress(1, 0, 0)
    assert_counters_equal_ledger()


def test_of_two_starts_at_once_one_is_refused(make_site, in_processes, tmp_path):
    site = make_site(titles=["ok"])

    def begin(number: int) -> None:
        try:
            flow.start(site.pk)
        except flow.Refused:
            (tmp_path / f"refused-{number}").touch()

    assert in_processes(8, begin) == [0] * 8
    assert len(list(tmp_path.glob("refused-*"))) == 7
    assert site.runs.count() == 1
    assert_counters_equal_ledger()


def test_restarts_while_jobs_finish_leave_exact_counts(make_site, make_documents, in_processes):
    """Ledger before site, everywhere: the other order deadlocks here."""
    site = make_site()
    make_documents(site, [f"ok {n}" for n in range(60)])
    jobs = open_stage(site, Stage.OCR)

    def work(number: int) -> None:
        if number == 0:
            for _ in range(5):
                flow.restart(site.pk, first=Stage.OCR)
        else:
            for job in jobs[number::7]:
                trivial.ocr_document(*job)

    assert in_processes(8, work) == [0] * 8
    assert Run.objects.filter(site=site, status="running").count() == 1
    assert_counters_equal_ledger()


def test_a_failure_that_may_pass_is_tried_again_and_then_counts_as_done(make_site, run_jobs):
    site = make_site(titles=["flaky", "ok"])
    flow.start(site.pk)
    run_jobs()

    site.refresh_from_db()
    row = DocumentState.objects.get(document__title="flaky", pipeline="ocr")
    assert (row.status, row.attempt_count, row.error_code) == (Status.PROCESSED, 2, None)
    assert site.progress(Stage.OCR) == Progress(2, 2, 0)
    assert site.current_stage == Stage.COMPLETED


@pytest.mark.parametrize(("title", "code"), [("sour", "http_503"), ("crash", "unexpected")])
def test_retries_are_bounded_and_the_stage_still_ends(make_site, run_jobs, settings, title, code):
    site = make_site(titles=[title, "ok"])
    flow.start(site.pk)
    run_jobs()

    site.refresh_from_db()
    row = DocumentState.objects.get(document__title=title, pipeline="ocr")
    assert (row.status, row.attempt_count, row.error_code) == ("failed_terminal", settings.MAX_ATTEMPTS, code)
    assert site.progress(Stage.OCR) == Progress(2, 1, 1)
    assert site.current_stage == Stage.COMPLETED
    assert_counters_equal_ledger()


def test_a_bug_keeps_its_traceback_in_the_queue(make_site, run_jobs):
    site = make_site(titles=["crash", "ok"])
    flow.start(site.pk)
    run_jobs()

    failed = FailedJobRegistry(queue=django_rq.get_queue("ocr")).get_job_ids(cleanup=False)
    assert len(failed) == 3
    job = django_rq.get_queue("ocr").fetch_job(failed[0])
    assert "ZeroDivisionError: a bug" in job.latest_result().exc_string


def test_a_retry_waits_for_its_backoff_and_the_stage_stays_open(make_site, run_jobs, scheduled, settings):
    settings.RETRY_BACKOFF_SECONDS = 60
    site = make_site(titles=["sour", "ok"])
    flow.start(site.pk)
    run_jobs()

    site.refresh_from_db()
    row = DocumentState.objects.get(document__title="sour", pipeline="ocr")
    assert row.status == Status.FAILED_RETRYABLE
    assert timedelta(seconds=45) < row.retry_at - timezone.now() < timedelta(seconds=70)
    assert scheduled("ocr") == [f"ocr-{row.pk}-{row.run_id}-{row.enqueue_seq}"]
    assert (site.current_stage, site.coordinator_enqueued) == (Stage.OCR, False)
    assert site.progress(Stage.OCR) == Progress(2, 1, 0)
    assert site.last_error_message == "SourceError: try again"
    assert_counters_equal_ledger()


def test_a_late_duplicate_does_not_jump_the_backoff(make_site, make_documents, settings):
    settings.RETRY_BACKOFF_SECONDS = 60
    site = make_site()
    make_documents(site, ["sour"])
    [job] = open_stage(site, Stage.OCR)
    trivial.ocr_document(*job)
    trivial.ocr_document(*job)

    assert DocumentState.objects.get(pk=job[0]).attempt_count == 1


def test_the_servers_own_wait_is_kept_when_it_is_longer(make_site, make_documents, settings):
    settings.RETRY_BACKOFF_SECONDS = 60
    site = make_site()
    make_documents(site, ["ok"])
    [(row, run, seq)] = open_stage(site, Stage.OCR)
    attempt = ledger.claim(row, run, seq, "job", 0)
    assert attempt
    outcome = ledger.finish_failed(attempt, Failure("http_429", "slow down", True, retry_after=1000))
    assert timedelta(seconds=990) < outcome.retry_at - timezone.now() < timedelta(seconds=1010)


def test_a_job_that_hits_its_limit_fails_with_timeout_and_the_stage_ends(make_site, run_jobs, settings):
    settings.JOB_LIMITS = settings.JOB_LIMITS | {"ocr": 1}
    site = make_site(titles=["slow", "ok"])
    flow.start(site.pk)
    run_jobs(fork=True)

    site.refresh_from_db()
    row = DocumentState.objects.get(document__title="slow", pipeline="ocr")
    assert (row.status, row.error_code) == (Status.FAILED_TERMINAL, "timeout")
    assert "1 seconds" in row.error_message
    assert site.progress(Stage.OCR) == Progress(2, 1, 1)
    assert site.current_stage == Stage.COMPLETED


def test_a_document_that_always_kills_its_worker_ends_as_worker_lost(make_site, run_jobs):
    site = make_site(titles=["killer", "ok"])
    flow.start(site.pk)
    run_jobs(fork=True)

    site.refresh_from_db()
    row = DocumentState.objects.get(document__title="killer", pipeline="ocr")
    assert (row.status, row.error_code) == (Status.FAILED_TERMINAL, "worker_lost")
    assert site.progress(Stage.OCR) == Progress(2, 1, 1)
    assert site.current_stage == Stage.COMPLETED
    assert_counters_equal_ledger()


def test_a_failing_source_does_not_stop_the_others(make_site, run_jobs):
    site = make_site(titles=["ok"])
    site.sources.create(platform="generic", url="http://down.test/", options={"down": True})
    flow.start(site.pk)
    run_jobs()

    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert site.progress(Stage.FETCH) == Progress(3, 2, 1)
    assert trivial.ledger(site.pk)["ok", "extraction"] == Status.PROCESSED


def test_a_disk_that_is_full_is_named_and_tried_again(make_site, make_documents, monkeypatch):
    site = make_site()
    make_documents(site, ["ok"])
    [job] = open_stage(site, Stage.OCR)

    def full(attempt, title):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trivial, "_behave", full)
    trivial.ocr_document(*job)

    row = DocumentState.objects.get(pk=job[0])
    assert (row.status, row.error_code, row.attempt_count) == (Status.FAILED_RETRYABLE, "disk_full", 0)


def test_a_long_document_that_gets_further_each_time_goes_on_past_the_usual_attempts(
    make_site, make_documents, settings
):
    site = make_site()
    make_documents(site, ["ok"])
    [(row, run, seq)] = open_stage(site, Stage.OCR)
    for number in range(1, 6):
        seq = DocumentState.objects.get(pk=row).enqueue_seq
        attempt = ledger.claim(row, run, seq, f"job-{number}", 0)
        attempt.progress(number * 10, 100)
        failure = protocol._out_of_time(attempt, Failure("timeout", "limit", False))
        assert ledger.finish_failed(attempt, failure).status == Status.FAILED_RETRYABLE

    attempt = ledger.claim(row, run, DocumentState.objects.get(pk=row).enqueue_seq, "last", 0)
    attempt.progress(50, 100)  # where it was the last time
    failure = protocol._out_of_time(attempt, Failure("timeout", "limit", False))
    assert ledger.finish_failed(attempt, failure).status == Status.FAILED_TERMINAL


def test_a_killed_worker_after_two_failures_is_not_called_a_killer_document(make_site, make_documents):
    site = make_site()
    make_documents(site, ["ok"])
    [(row, run, seq)] = open_stage(site, Stage.OCR)
    DocumentState.objects.filter(pk=row).update(attempt_count=3)
    attempt = ledger.claim(row, run, seq, "job", delivery=0)
    assert attempt.number == 4
    assert not attempt.lost_its_workers


@pytest.mark.parametrize("broken", ["error", "record"])
def test_what_the_database_cannot_keep_is_a_failure_of_the_document_and_not_of_its_worker(
    make_site, make_documents, monkeypatch, broken
):
    site = make_site()
    make_documents(site, ["ok"])
    [job] = open_stage(site, Stage.OCR)

    def behave(attempt, title):
        raise DocumentError("a NUL \x00 and half a character \ud800 in a foreign message", code="corrupt")

    def record():
        raise ValueError("the listing cannot be recorded")

    if broken == "error":
        monkeypatch.setattr(trivial, "_behave", behave)
        trivial.ocr_document(*job)
    else:
        with pytest.raises(ValueError, match="cannot be recorded"):
            protocol.run_job(Stage.OCR, lambda attempt: Finished(record=record), *job)

    row = DocumentState.objects.get(pk=job[0])
    expected = {
        "error": (
            "failed_terminal",
            "corrupt",
            "DocumentError: a NUL  and half a character ? in a foreign message",
        ),
        "record": ("failed_retryable", "unexpected", "ValueError: the listing cannot be recorded"),
    }
    assert (row.status, row.error_code, row.error_message) == expected[broken]


def test_a_claim_whose_answer_was_lost_is_found_again(make_site, make_documents):
    site = make_site()
    make_documents(site, ["ok"])
    [(row, run, seq)] = open_stage(site, Stage.OCR)
    token = uuid.uuid4()
    first = ledger.claim(row, run, seq, "job", 0, token)
    again = ledger.claim(row, run, seq, "job", 0, token)
    assert (first.token, first.number) == (again.token, again.number) == (token, 1)


def test_a_late_coordinator_does_not_judge_a_stage_that_is_still_at_work(
    make_site, make_documents, monkeypatch
):
    """It reads before the last job finishes, and writes after."""
    site = make_site()
    make_documents(site, ["ok"])
    [job] = open_stage(site, Stage.OCR)
    real = flow._why_blocked

    def slow(*args):
        verdict = real(*args)
        trivial.ocr_document(*job)
        return verdict

    monkeypatch.setattr(flow, "_why_blocked", slow)
    flow.advance(site.pk, job[1])
    monkeypatch.undo()
    assert Run.objects.get(pk=job[1]).status == Run.Status.RUNNING


def test_a_coordinator_whose_claim_is_taken_back_meanwhile_moves_nothing(
    make_site, make_documents, monkeypatch
):
    site = make_site()
    make_documents(site, ["ok"])
    [job] = open_stage(site, Stage.OCR)
    trivial.ocr_document(*job)
    real = flow._why_blocked

    def slow(*args):
        type(site).objects.filter(pk=site.pk).update(coordinator_enqueued=False)
        return real(*args)

    monkeypatch.setattr(flow, "_why_blocked", slow)
    flow.advance(site.pk, job[1])
    site.refresh_from_db()
    assert site.current_stage == Stage.OCR


@pytest.mark.parametrize("act", [flow.cancel, flow.restart])
def test_cancel_and_restart_beside_coordinators_do_not_deadlock(make_site, make_documents, in_processes, act):
    sites = [make_site(f"town{number}.ca") for number in range(6)]
    jobs = {}
    for site in sites:
        make_documents(site, ["ok"])
        [jobs[site.pk]] = open_stage(site, Stage.OCR)

    def work(number: int) -> None:
        for site in sites:
            if number == 0:
                with contextlib.suppress(flow.Refused, Fenced):
                    act(site.pk)
            elif number == 1:
                trivial.ocr_document(*jobs[site.pk])
            else:
                flow.advance(site.pk, jobs[site.pk][1])

    assert in_processes(6, work) == [0] * 6
    assert_counters_equal_ledger()
