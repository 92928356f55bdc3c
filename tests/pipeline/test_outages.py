"""A machine or a target that is in trouble: no document pays for it, everybody sees it, it ends by itself."""

import errno
import threading
from datetime import timedelta

import django_rq
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F
from django.utils import timezone
from rq.registry import StartedJobRegistry

from pipeline import flow, protocol, reconcile
from pipeline.errors import DocumentError, Failure, MachineError, SourceError, TargetError
from pipeline.models import DocumentState, Run, Status
from pipeline.queue import clock, inspection, pauses
from pipeline.queue.sending import QueueUnavailable
from pipeline.reports import health, machine
from pipeline.reports.sites import site_totals
from pipeline.state import ledger
from pipeline.state.attempt import Attempt, Finished
from pipeline.workers.worker import PipelineWorker
from sites.models import Site
from sites.stages import Stage
from tests.conftest import DeafWorker

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.both_databases,
    pytest.mark.usefixtures("trivial_jobs"),
]


@pytest.fixture
def run(make_site, make_documents) -> Run:
    site = make_site()
    make_documents(site, ["long"])
    return flow.start(site.pk, first=Stage.OCR)


@pytest.fixture
def row(run) -> DocumentState:
    return DocumentState.objects.get(run=run, pipeline=Stage.OCR)


def attempt_of(row: DocumentState, delivery: int = 0) -> Attempt:
    row.refresh_from_db()
    job = f"ocr-{row.pk}-{row.run_id}-{row.enqueue_seq}"
    attempt = ledger.claim(row.pk, row.run_id, row.enqueue_seq, job, delivery)
    assert attempt is not None
    return attempt


def let_time_pass(minutes: float = 10.0) -> None:
    ago = timedelta(minutes=minutes)
    Site.objects.update(updated_at=F("updated_at") - ago, attention_at=F("attention_at") - ago)
    DocumentState.objects.update(updated_at=F("updated_at") - ago, retry_at=F("retry_at") - ago)


def work_raising(error: Exception):
    def work(attempt: Attempt) -> Finished:
        raise error

    return work


def fail_with(row: DocumentState, error: Exception) -> DocumentState:
    row.refresh_from_db()
    protocol.run_job(Stage.OCR, work_raising(error), row.pk, row.run_id, row.enqueue_seq)
    row.refresh_from_db()
    return row


# ---- No document pays for it ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MachineError("no tesseract program", code="engine_missing"), "engine_missing"),
        (TargetError("S3: 503 Slow Down", code="storage"), "storage"),
        (OSError(errno.ENOSPC, "No space left on device"), "disk_full"),
        (OSError(errno.EIO, "Input/output error"), "machine"),
    ],
)
def test_trouble_of_a_machine_or_a_target_costs_no_attempt_however_long_it_lasts(row, error, code):
    for _ in range(8):
        fail_with(row, error)

    assert (row.status, row.error_code, row.attempt_count) == (Status.FAILED_RETRYABLE, code, 0)
    assert Site.objects.get().last_error_stage == Stage.OCR


def test_a_bad_document_pauses_nothing(row):
    fail_with(row, DocumentError("page 3 is broken", code="corrupt"))

    assert row.status == Status.FAILED_TERMINAL
    assert pauses.current() == []


def test_a_machine_in_trouble_takes_no_more_jobs_of_that_queue_and_says_why(row):
    fail_with(row, MachineError("no tesseract program", code="engine_missing"))

    (pause,) = pauses.current()
    assert (pause.queue, pause.where) == ("ocr", pauses.this_machine())
    assert "no tesseract program" in pause.reason
    assert pauses.reason_to_wait("ocr") == pause.reason
    assert not pauses.reason_to_wait("deploy")
    assert worker("ocr").dequeue_job_and_maintain_ttl(None) is None
    (check,) = [
        check
        for check in health.checks(site_totals(), inspection.read_workforce())
        if check.level > 1 and check.name == "pauses"
    ]
    assert "no tesseract program" in check.message


def worker(queue: str) -> PipelineWorker:
    class Deaf(DeafWorker, PipelineWorker): ...

    found = django_rq.get_queue(queue)
    return Deaf([found], connection=found.connection)


def test_a_target_that_is_down_stops_that_queue_on_every_machine(row, monkeypatch):
    fail_with(row, TargetError("the bucket does not answer", code="storage"))
    monkeypatch.setattr(pauses, "this_machine", lambda: "another machine")

    assert "the bucket does not answer" in pauses.reason_to_wait("ocr")


def test_a_pause_ends_by_itself_and_is_forgotten_with_the_next_success(row, monkeypatch):
    fail_with(row, TargetError("down", code="storage"))
    monkeypatch.setattr(pauses.time, "time", lambda: timezone.now().timestamp() + pauses.LONGEST + 1)
    assert not pauses.reason_to_wait("ocr")

    row.refresh_from_db()
    protocol.run_job(Stage.OCR, lambda attempt: Finished(), row.pk, row.run_id, row.enqueue_seq)

    row.refresh_from_db()
    assert row.status == Status.PROCESSED
    assert pauses.current() == []


def test_a_missing_language_waits_without_stopping_the_documents_of_others(row):
    fail_with(row, MachineError("Tesseract lacks xyz", code="language_missing"))

    assert (row.status, row.attempt_count) == (Status.FAILED_RETRYABLE, 0)
    assert row.retry_at > timezone.now() + timedelta(minutes=5)
    assert not pauses.reason_to_wait("ocr")


def test_a_reconnect_to_the_database_during_work_costs_nothing(row, lose_the_database):
    def work(attempt: Attempt) -> Finished:
        lose_the_database()
        attempt.progress(10, 100)
        return Finished()

    protocol.run_job(Stage.OCR, work, row.pk, row.run_id, row.enqueue_seq)

    row.refresh_from_db()
    assert (row.status, row.attempt_count) == (Status.PROCESSED, 1)


# ---- Failures, deaths and resumptions are counted apart -------------------------------------------------


def got_further(row: DocumentState) -> ledger.Outcome:
    return ledger.finish_failed(attempt_of(row), Failure("time_limit", "out of time", True, got_further=True))


def test_a_long_document_that_resumes_survives_the_restart_of_a_worker(row):
    for _ in range(4):
        got_further(row)
    attempt_of(row)

    again = attempt_of(row, delivery=1)  # the queue delivers it again: one worker was restarted
    assert not again.lost_its_workers


def test_a_long_document_that_resumes_survives_a_worker_that_reconcile_finds_lost(row):
    for _ in range(4):
        got_further(row)
    attempt_of(row)
    django_rq.get_connection("high").flushdb()
    let_time_pass()

    reconcile.reconcile()

    row.refresh_from_db()
    assert (row.status, row.worker_deaths) == (Status.FAILED_RETRYABLE, 1)


def test_deaths_of_workers_before_a_document_got_further_are_forgotten(row):
    attempt_of(row)
    attempt_of(row, delivery=1)
    third = attempt_of(row, delivery=2)
    assert third.deaths == 2
    ledger.finish_failed(third, Failure("time_limit", "out of time", True, got_further=True))

    attempt_of(row)
    again = attempt_of(row, delivery=1)

    assert (again.deaths, again.lost_its_workers) == (1, False)


def test_three_dead_workers_are_still_the_end_of_a_document(row):
    for _ in range(3):
        attempt_of(row)
        django_rq.get_connection("high").flushdb()
        let_time_pass()
        reconcile.reconcile()

    row.refresh_from_db()
    assert (row.status, row.error_code) == (Status.FAILED_TERMINAL, "worker_lost")
    assert "3 workers died" in row.error_message


def test_three_failures_are_still_the_end_of_a_document(row):
    for _ in range(3):
        fail_with(row, SourceError("try again", code="http_503"))

    assert row.status == Status.FAILED_TERMINAL


def test_a_document_that_got_further_goes_on_at_once(row, settings):
    settings.RETRY_BACKOFF_SECONDS = 60

    waits = [(got_further(row).retry_at - timezone.now()).total_seconds() for _ in range(6)]

    assert max(waits) < 5


def test_a_resumption_is_no_failure_that_lengthens_the_next_backoff(row, settings):
    settings.RETRY_BACKOFF_SECONDS = 60
    for _ in range(5):
        got_further(row)

    failed = ledger.finish_failed(attempt_of(row), Failure("http_503", "busy", True))

    assert (failed.retry_at - timezone.now()).total_seconds() < 70


# ---- Redis and the clock --------------------------------------------------------------------------------


@pytest.fixture
def read_only_redis():
    redis = django_rq.get_connection("high")
    redis.config_set(
        "min-replicas-to-write", "1"
    )  # as a replica, or a full disk: reads answer, writes do not
    yield redis
    redis.config_set("min-replicas-to-write", "0")


def test_a_redis_that_refuses_writes_costs_no_recovery(row, request):
    django_rq.get_connection("high").flushdb()
    request.getfixturevalue("read_only_redis")
    for _ in range(4):
        let_time_pass(15)
        with pytest.raises(reconcile.CouldNotLook, match="refuses writes"):
            reconcile.reconcile()
    django_rq.get_connection("high").config_set("min-replicas-to-write", "0")
    let_time_pass(15)

    result = reconcile.reconcile()

    assert (result.recovered, result.given_up) == (1, 0)
    assert not Site.objects.get().attention_reason


def test_nothing_is_started_while_redis_refuses_writes(make_site, read_only_redis):
    site = make_site("b.ca", titles=["ok"])

    with pytest.raises(QueueUnavailable):
        flow.start(site.pk)


def test_a_repair_whose_sending_failed_is_no_recovery(row, monkeypatch):
    redis = django_rq.get_connection("high")
    redis.flushdb()
    let_time_pass(15)
    monkeypatch.setattr(reconcile.sending, "check", lambda: redis.config_set("min-replicas-to-write", "1"))
    try:
        (repair,) = reconcile.reconcile().repairs
    finally:
        redis.config_set("min-replicas-to-write", "0")

    assert repair.outcome == "error"
    assert Run.objects.get().recoveries == 0


def test_a_worker_with_a_wrong_clock_refuses_to_work(monkeypatch):
    monkeypatch.setattr(clock.time, "time", lambda: timezone.now().timestamp() - 120)

    assert clock.skew() == pytest.approx(-120, abs=5)
    with pytest.raises(clock.WrongClock, match="120 s behind"):
        worker("ocr").work(burst=True)


def test_reconcile_refuses_to_judge_with_a_wrong_clock(monkeypatch):
    monkeypatch.setattr(clock.time, "time", lambda: timezone.now().timestamp() + 300)

    with pytest.raises(reconcile.CouldNotLook, match="300 s ahead"):
        reconcile.reconcile()


def test_a_job_of_a_worker_whose_clock_is_a_little_behind_is_alive(row):
    job = f"ocr-{row.pk}-{row.run_id}-{row.enqueue_seq}"
    redis = django_rq.get_connection("ocr")
    redis.flushdb()
    attempt_of(row)
    heard = timezone.now().timestamp() - clock.MOST_SECONDS / 2 - 1
    redis.zadd(StartedJobRegistry(queue=django_rq.get_queue("ocr")).key, {f"{job}:e1": heard})
    let_time_pass(6)

    reconcile.reconcile()

    row.refresh_from_db()
    assert row.status == Status.IN_PROGRESS


# ---- Locks, and passes of reconcile that must end -------------------------------------------------------


@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite has one lock for all")
def test_a_lock_that_somebody_holds_open_costs_one_site_its_repair_and_no_other(
    make_site, make_documents, queued
):
    for name in ("a.ca", "b.ca", "c.ca"):
        site = make_site(name)
        make_documents(site, ["ok"])
        flow.start(site.pk, first=Stage.OCR)
    django_rq.get_connection("high").flushdb()
    let_time_pass()
    holding, let_go = threading.Event(), threading.Event()

    def freeze() -> None:
        with transaction.atomic():
            Site.objects.filter(pk="a.ca").update(name="held")
            holding.set()
            let_go.wait(60)
        connections.close_all()

    holder = threading.Thread(target=freeze)
    holder.start()
    holding.wait()
    try:
        result = reconcile.reconcile()
    finally:
        let_go.set()
        holder.join()

    assert {repair.site_id: repair.outcome for repair in result.repairs} == {
        "a.ca": "locked",
        "b.ca": "recovered",
        "c.ca": "recovered",
    }
    assert len(queued("ocr")) == 2


@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="PostgreSQL's own settings")
def test_every_connection_has_its_time_limits():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, setting::int FROM pg_settings WHERE name IN"
            " ('lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout')"
        )
        limits = dict(cursor.fetchall())

    assert all(limits.values()), limits


def test_a_pass_that_takes_too_long_stops_and_says_how_many_sites_are_left(
    make_site, make_documents, settings
):
    for name in ("a.ca", "b.ca"):
        site = make_site(name)
        make_documents(site, ["ok"])
        flow.start(site.pk, first=Stage.OCR)
    django_rq.get_connection("high").flushdb()
    let_time_pass()
    settings.RECONCILE_LIMIT_SECONDS = 0

    result = reconcile.reconcile()

    assert (result.found, result.left) == (0, 2)
    assert "2 sites are left" in reconcile.ReconcileRun.objects.get().error


def test_a_site_that_was_flagged_after_an_outage_is_tried_again_slowly(run, row, run_jobs):
    run_jobs()
    ended = Run.objects.get()
    Run.objects.filter(pk=ended.pk).update(status="failed", message="SourceError: down")
    DocumentState.objects.filter(pipeline=Stage.DEPLOY).delete()
    now = timezone.now()
    DocumentState.objects.create(
        site_id=ended.site_id,
        run=ended,
        pipeline=Stage.DEPLOY,
        unit="site",
        status=Status.FAILED_TERMINAL,
        attempt_count=3,
        error_code="http_503",
        created_at=now,
        updated_at=now,
    )
    Site.objects.update(
        current_stage=Stage.DEPLOY,
        coordinator_enqueued=True,
        deploy_total=1,
        deploy_failed=1,
        deploy_completed=0,
        attention_reason="down",
        attention_at=now,
    )
    let_time_pass(60)
    assert reconcile.reconcile().found == 0

    let_time_pass(60 * 6)
    assert reconcile.reconcile().recovered == 1
    run_jobs()
    assert Site.objects.get().current_stage == Stage.COMPLETED


# ---- What health looks at -------------------------------------------------------------------------------


def levels() -> dict[str, int]:
    return {check.name: int(check.level) for check in machine.checks()}


def test_health_looks_at_storage_targets_engine_clock_and_migrations(settings, tmp_path, monkeypatch):
    (tmp_path / "storage").mkdir()
    assert max(levels().values()) <= 1, machine.checks()

    settings.TESSDATA_PREFIX = str(tmp_path / "nowhere")
    settings.DEPLOY_TARGETS = [f"directory://{tmp_path / 'file'}"]
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "storage").rmdir()
    (tmp_path / "storage").write_text("no folder")

    found = levels()
    assert found["engine"] == found["storage"] == found["targets"] == health.Level.UNHEALTHY


def test_health_says_that_a_clock_is_wrong(monkeypatch):
    monkeypatch.setattr(clock, "skew", lambda: -120.0)

    (found,) = [check for check in machine.checks() if check.name == "clock"]
    assert found.level == health.Level.UNHEALTHY
    assert "120 s behind that of Redis" in found.message


DROPS = ["0004_drop_site_progress", "0005_drop_legacy_columns"]


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (["0003_sources_and_documents", *DROPS], "sites.0003_sources_and_documents"),
        (DROPS, "every migration is applied"),  # they wait for a person
    ],
)
def test_health_says_which_migrations_are_not_applied(missing, said):
    recorder = MigrationRecorder(connection)
    for name in missing:
        recorder.record_unapplied("sites", name)
    try:
        (found,) = [check for check in machine.checks() if check.name == "migrations"]
    finally:
        for name in missing:
            recorder.record_applied("sites", name)
    assert said in found.message


def test_the_command_health_says_what_the_machine_lacks(settings, tmp_path, capsys):
    settings.TESSDATA_PREFIX = str(tmp_path / "nowhere")

    with pytest.raises((SystemExit, CommandError)):
        call_command("health")
    assert "Tesseract" in capsys.readouterr().out
