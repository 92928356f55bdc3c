"""Every kind of loss, made on purpose, and the pass of reconcile that repairs it."""

import uuid
from datetime import timedelta

import django_rq
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rq.registry import StartedJobRegistry

from pipeline import flow, reconcile
from pipeline.errors import Fenced
from pipeline.models import DocumentState, ReconcileRun, Run, Status
from pipeline.queue import inspection, sending
from pipeline.reconcile.repair import repair_by_hand, repair_site
from pipeline.state import ledger
from pipeline.state.attempt import Finished
from pipeline.state.repair import renew_lost_rows
from sites.models import Site
from sites.stages import Progress, Stage
from tests.conftest import QUEUES, assert_counters_equal_ledger, assert_each_transition_once, wait_for

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trivial_jobs"),
]


def let_time_pass(minutes=10.0):
    """As if nothing had happened for a while: every timestamp moves into the past."""
    ago = timedelta(minutes=minutes)
    Site.objects.update(updated_at=F("updated_at") - ago, attention_at=F("attention_at") - ago)
    DocumentState.objects.update(updated_at=F("updated_at") - ago)


def heal(**options):
    let_time_pass()
    return reconcile.reconcile(**options)


def lose_redis():
    django_rq.get_connection("high").flushdb()


def assert_completed(site, ocr=None):
    site.refresh_from_db()
    run = Run.objects.get(pk=site.run_id)
    assert (site.current_stage, run.status) == ("completed", "completed")
    if ocr:
        assert site.progress(Stage.OCR) == ocr
    assert_counters_equal_ledger()
    assert_each_transition_once(run)
    assert reconcile.reconcile().found == 0


def run_until(stage, run_jobs):
    """Work the queues in order, and stop when the jobs of this stage are in theirs."""
    for name in ("fetch", "ocr", "compilation", "extraction", "deploy"):
        if name == stage:
            return
        run_jobs(only=name)
        if name != "compilation":
            run_jobs(only="high")


# ---- Nothing wrong ------------------------------------------------------------------------------------


def test_a_busy_site_is_left_alone(make_site):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    before = inspection.live_job_ids(timezone.now(), timedelta(0))

    assert heal().found == 0
    assert inspection.live_job_ids(timezone.now(), timedelta(0)) == before
    assert ReconcileRun.objects.get().finished_at is not None


def test_a_site_that_only_waits_for_workers_is_an_alarm_after_two_hours_and_is_not_touched(make_site):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    let_time_pass(130)
    before = DocumentState.objects.values().get()

    result = reconcile.reconcile()

    assert [repair.outcome for repair in result.repairs] == ["waiting"]
    assert DocumentState.objects.values().get() == before
    assert reconcile.reconcile(threshold=timedelta(hours=3)).found == 0


def test_a_site_that_waits_for_a_retry_says_until_when(make_site, run_jobs, settings):
    settings.RETRY_BACKOFF_SECONDS = 5 * 3600
    site = make_site(titles=["flaky"])
    flow.start(site.pk)
    run_jobs()
    let_time_pass(130)

    [repair] = reconcile.reconcile().repairs

    retry_at = DocumentState.objects.get(retry_at__isnull=False).retry_at
    assert (repair.outcome, f"waits until {retry_at:%Y-%m-%d %H:%M}" in repair.action) == ("waiting", True)


def test_sites_that_never_ran_are_completed_cancelled_or_paused_are_left_alone(make_site, run_jobs):
    make_site("never")
    done = make_site("done", titles=["ok"])
    flow.start(done.pk)
    run_jobs()
    cancelled = make_site("cancelled", titles=["ok"])
    flow.start(cancelled.pk)
    flow.cancel(cancelled.pk)
    paused = make_site("paused", titles=["ok"])
    flow.start(paused.pk)
    flow.pause(paused.pk)
    lose_redis()
    let_time_pass(1000)

    assert reconcile.reconcile().found == 0


# ---- Lost jobs, in every stage ------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["fetch", "ocr", "compilation", "extraction", "deploy"])
def test_a_redis_lost_in_any_stage_costs_one_pass(stage, make_site, run_jobs):
    site = make_site(titles=["ok", "bad", "ok"])
    flow.start(site.pk)
    run_until(stage, run_jobs)
    lose_redis()
    run_jobs()
    site.refresh_from_db()
    assert site.current_stage != "completed"

    result = heal()
    run_jobs()

    assert (result.found, result.recovered) == (1, 1)
    assert_completed(site, ocr=Progress(3, 2, 1))


def test_a_worker_killed_between_taking_and_starting_a_job_loses_nothing(make_site, run_jobs):
    site = make_site(titles=["ok", "ok"])
    flow.start(site.pk)
    run_until("ocr", run_jobs)
    ocr = django_rq.get_queue("ocr")
    # What a worker does when it takes a job; then it is gone.
    assert ocr.connection.lmove(ocr.key, ocr.intermediate_queue_key)
    run_jobs()
    site.refresh_from_db()
    assert site.progress(Stage.OCR) == Progress(2, 1, 0)

    assert heal().recovered == 1
    run_jobs()

    assert_completed(site, ocr=Progress(2, 2, 0))


def test_a_coordinator_lost_after_its_claim_is_sent_again(make_site, run_jobs):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    run_jobs(only="fetch")
    lose_redis()
    site.refresh_from_db()
    assert site.coordinator_enqueued

    result = heal()
    run_jobs()

    assert [repair.action for repair in result.repairs] == ["coordinator sent"]
    assert_completed(site)


def test_a_coordinator_that_waits_its_turn_is_not_sent_twice(make_site, run_jobs, queued):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    run_jobs(only="fetch")

    assert heal().found == 0
    assert len(queued("high")) == 1


def test_a_stage_whose_last_job_counted_but_did_not_claim_goes_on(make_site, run_jobs):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    run_jobs(only="fetch")
    lose_redis()
    Site.objects.update(coordinator_enqueued=False)

    assert heal().recovered == 1
    run_jobs()

    assert_completed(site)


def test_a_retry_whose_backoff_is_over_and_whose_job_is_gone_is_sent(make_site, run_jobs, settings):
    settings.RETRY_BACKOFF_SECONDS = 3600
    site = make_site(titles=["flaky"])
    flow.start(site.pk)
    run_jobs()
    lose_redis()
    assert heal().found == 0  # its time has not come

    DocumentState.objects.filter(retry_at__isnull=False).update(retry_at=timezone.now())
    assert heal().recovered == 1
    run_jobs()

    assert_completed(site, ocr=Progress(1, 1, 0))


def test_a_retry_that_nobody_takes_from_the_schedule_is_sent(make_site, run_jobs, scheduled, settings):
    settings.RETRY_BACKOFF_SECONDS = 3600
    site = make_site(titles=["flaky"])
    flow.start(site.pk)
    run_jobs()
    [job_id] = scheduled("ocr")
    long_ago = timezone.now() - timedelta(minutes=20)
    django_rq.get_connection("ocr").zadd("rq:scheduled:ocr", {job_id: long_ago.timestamp()})
    DocumentState.objects.filter(retry_at__isnull=False).update(retry_at=long_ago)

    assert heal().recovered == 1
    run_jobs()

    assert_completed(site, ocr=Progress(1, 1, 0))


# ---- Lost workers -------------------------------------------------------------------------------------


def claim_one(stage, site):
    waiting = DocumentState.objects.filter(site=site, pipeline=stage, status=Status.PENDING)
    return take(waiting.order_by("pk")[0])


def take(row):
    """A worker takes the row's job out of its queue and claims the row."""
    job_id = sending.job_id(row.pipeline, row.pk, row.run_id, row.enqueue_seq)
    waiting = django_rq.get_queue(row.pipeline)
    waiting.connection.lrem(waiting.key, 1, job_id)
    return ledger.claim(row.pk, row.run_id, row.enqueue_seq, job_id, 0)


def register_as_started(attempt, expires_in):
    """As the worker does that runs this job: its place in the registry is good until its next heartbeat."""
    row = DocumentState.objects.get(pk=attempt.row_id)
    registry = StartedJobRegistry(queue=django_rq.get_queue(row.pipeline))
    until = (timezone.now() + timedelta(seconds=expires_in)).timestamp()
    registry.connection.zadd(registry.key, {f"{row.rq_job_id}:execution": until})


@pytest.mark.parametrize("stage", ["fetch", "ocr", "compilation", "extraction", "deploy"])
def test_a_worker_lost_in_any_stage_is_noticed_and_its_job_done_again(stage, make_site, run_jobs):
    site = make_site(titles=["ok", "ok"])
    flow.start(site.pk)
    run_until(stage, run_jobs)
    attempt = claim_one(stage, site)
    run_jobs()
    register_as_started(attempt, expires_in=-40)

    assert heal().recovered == 1
    row = DocumentState.objects.get(pk=attempt.row_id)
    assert (row.status, row.error_code, row.attempt_count) == ("failed_retryable", "worker_lost", 1)
    run_jobs()

    assert_completed(site, ocr=Progress(2, 2, 0))
    with pytest.raises(Fenced):  # the lost one comes back to life: it counts no more
        ledger.finish_processed(attempt, Finished())
    assert_counters_equal_ledger()


def test_a_worker_that_is_at_it_is_left_alone_however_long_it_takes(make_site, run_jobs):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    run_until("ocr", run_jobs)
    attempt = claim_one("ocr", site)
    register_as_started(attempt, expires_in=60)
    let_time_pass(60)

    assert reconcile.reconcile().found == 0
    ledger.finish_processed(attempt, Finished())


def test_a_document_whose_workers_always_die_ends_terminal_and_the_rest_go_on(make_site, run_jobs, settings):
    settings.MAX_ATTEMPTS = 2
    site = make_site(titles=["ok", "ok"])
    flow.start(site.pk)
    run_until("ocr", run_jobs)
    claim_one("ocr", site)
    assert heal().recovered == 1
    assert take(DocumentState.objects.get(error_code="worker_lost"))
    assert heal().recovered == 1
    run_jobs()

    assert_completed(site, ocr=Progress(2, 1, 1))
    row = DocumentState.objects.get(status=Status.FAILED_TERMINAL)
    assert (row.error_code, row.attempt_count) == ("worker_lost", 2)


def test_a_job_whose_work_horse_was_killed_is_delivered_before_all_that_wait(make_site, run_jobs):
    titles = ["ok 1", "killer-once", "ok 2", "killer", "ok 3", "ok 4", "ok 5"]
    flow.start(make_site(titles=titles).pk)
    run_until("ocr", run_jobs)
    run_jobs(only="ocr", fork=True)

    rows = DocumentState.objects.filter(pipeline="ocr")
    last_tries = rows.order_by("last_attempt_at").values_list("document__title", flat=True)
    assert list(last_tries) == titles
    tries = dict(rows.values_list("document__title", "attempt_count"))
    assert (tries["ok 1"], tries["killer-once"], tries["killer"]) == (1, 2, 4)


def test_a_document_that_kills_its_work_horse_every_time_ends_without_reconcile(make_site, run_jobs):
    site = make_site(titles=["killer", "ok"])
    flow.start(site.pk)
    run_jobs(fork=True)

    assert_completed(site, ocr=Progress(2, 1, 1))
    failed = DocumentState.objects.filter(status=Status.FAILED_TERMINAL)
    assert failed.values_list("error_code", "document__title").get() == ("worker_lost", "killer")


# ---- Wrong counters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [{"ocr_completed": 1}, {"ocr_total": 7}, {"ocr_failed": 2}])
def test_counters_are_set_to_what_the_ledger_says(change, make_site, run_jobs):
    site = make_site(titles=["ok", "ok", "bad"])
    flow.start(site.pk)
    run_until("ocr", run_jobs)
    run_jobs(only="ocr")
    lose_redis()
    Site.objects.update(coordinator_enqueued=False, **change)

    assert heal().recovered == 1
    run_jobs()

    assert_completed(site, ocr=Progress(3, 2, 1))


def test_a_claim_made_too_early_is_taken_back(make_site, run_jobs):
    site = make_site(titles=["ok", "ok"])
    flow.start(site.pk)
    run_until("ocr", run_jobs)
    Site.objects.update(coordinator_enqueued=True, ocr_completed=2)
    lose_redis()

    assert heal().recovered == 1
    run_jobs()

    assert_completed(site, ocr=Progress(2, 2, 0))


def test_counters_of_a_completed_site_are_mended_too(make_site, run_jobs):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    run_jobs()
    Site.objects.update(extraction_completed=5)

    assert heal().recovered == 1
    assert_completed(site)


# ---- Failed runs, and none ----------------------------------------------------------------------------


def test_a_site_whose_ocr_failed_for_a_passing_reason_gets_three_new_runs_and_then_a_person(
    make_site, run_jobs
):
    site = make_site(titles=["sour", "sour"])
    flow.start(site.pk)
    run_jobs()
    for _ in range(3):
        assert heal().recovered == 1
        run_jobs()

    result = heal()

    site.refresh_from_db()
    assert (result.found, result.recovered, result.given_up) == (1, 0, 1)
    assert site.current_stage == "ocr" and "after 3 new runs" in site.attention_reason
    assert Run.objects.filter(started_by="reconcile", status="failed").count() == 3
    assert heal().found == 0  # it is a person's now
    assert_counters_equal_ledger()


def test_a_site_whose_outage_is_over_completes_in_its_new_run(make_site, run_jobs):
    site = make_site(titles=["sour", "bad"])
    flow.start(site.pk)
    run_jobs()
    site.documents.filter(title="sour").update(title="ok")

    assert heal().recovered == 1
    run_jobs()

    assert_completed(site, ocr=Progress(2, 1, 1))


def test_a_site_whose_every_document_is_bad_is_handed_to_a_person_at_once(make_site, run_jobs):
    site = make_site(titles=["bad", "bad"])
    flow.start(site.pk)
    run_jobs()

    result = heal()

    site.refresh_from_db()
    assert (result.found, result.given_up) == (1, 1)
    assert "would not help" in site.attention_reason
    assert heal().found == 0
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("stage", "begins"),
    [("ocr", "ocr"), ("extraction", "ocr"), ("deploy", "ocr"), ("bogus", "fetch"), ("fetch", "fetch")],
)
def test_a_site_that_stands_in_a_stage_without_a_run_gets_one(
    stage, begins, make_site, make_documents, run_jobs
):
    site = make_site(current_stage=stage, updated_at=timezone.now(), ocr_total=5, ocr_completed=2)
    make_documents(site, ["ok", "ok"])

    result = heal()

    assert [repair.action for repair in result.repairs] == [f"a new run from {begins}"]
    run_jobs()
    assert_completed(site)


def test_a_site_that_runs_in_a_stage_that_does_not_exist_begins_anew(make_site, run_jobs):
    site = make_site(titles=["ok"])
    run = flow.start(site.pk)
    Site.objects.update(current_stage="bogus")

    assert heal().recovered == 1
    run_jobs()

    assert Run.objects.get(pk=run.pk).status == "superseded"
    assert_completed(site)


def test_a_run_left_running_that_the_site_does_not_point_at_is_given_up(make_site, run_jobs):
    site = make_site(titles=["ok"])
    run = flow.start(site.pk)
    Site.objects.update(run_id=None)
    lose_redis()

    assert heal().recovered == 1
    run_jobs()

    assert Run.objects.get(pk=run.pk).status == "superseded"
    assert_completed(site)


# ---- Three times without progress ---------------------------------------------------------------------


def test_a_site_recovered_three_times_without_progress_is_flagged_with_the_reason(make_site, run_jobs):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    for _ in range(3):
        lose_redis()
        assert heal().recovered == 1
    lose_redis()

    assert heal(dry_run=True).given_up == 1
    result = heal()

    site.refresh_from_db()
    assert (result.found, result.given_up) == (1, 1)
    assert "recovered 3 times without progress" in site.attention_reason
    assert "1 jobs that are in no queue" in site.attention_reason
    assert heal().given_up == 1  # still there, and left alone


def test_a_flagged_site_is_tried_again_after_the_threshold_and_forgiven_when_it_gets_further(
    make_site, run_jobs
):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    for _ in range(4):
        lose_redis()
        heal()
    let_time_pass(130)

    assert reconcile.reconcile().recovered == 1
    run_jobs(only="fetch")
    lose_redis()
    assert heal().recovered == 1

    site.refresh_from_db()
    assert site.attention_reason == ""
    run_jobs()
    assert_completed(site)


def test_a_person_who_asks_is_not_told_that_it_was_tried_three_times(make_site, run_jobs):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    for _ in range(4):
        lose_redis()
        heal()
    let_time_pass()
    now = timezone.now()
    [suspect] = reconcile.find.suspects(now, timedelta(hours=2))

    done = repair_by_hand(suspect, now)

    site.refresh_from_db()
    assert done is not None and done.outcome == "recovered" and site.attention_reason == ""
    run_jobs()
    assert_completed(site)


# ---- Safe against itself, against others, against trouble ---------------------------------------------


def test_a_row_that_changes_after_it_was_read_is_left_alone(make_site, run_jobs, monkeypatch):
    site = make_site(titles=["ok", "ok"])
    flow.start(site.pk)
    run_until("ocr", run_jobs)
    lose_redis()
    let_time_pass()
    find = reconcile.find.suspects

    def find_and_then_a_worker_wakes(now, threshold):
        found = find(now, threshold)
        assert take(found[0].unsent[0])
        return found

    monkeypatch.setattr(reconcile.find, "suspects", find_and_then_a_worker_wakes)
    reconcile.reconcile()

    assert DocumentState.objects.filter(status=Status.IN_PROGRESS).count() == 1
    assert len(django_rq.get_queue("ocr").job_ids) == 1


def test_two_passes_at_once_do_the_work_of_one(make_site, in_processes, queued):
    site = make_site(titles=["ok"] * 5)
    flow.start(site.pk)
    lose_redis()
    let_time_pass()

    assert in_processes(6, lambda number: reconcile.reconcile() and None) == [0] * 6
    assert len(queued("fetch")) == 1
    assert sum(ReconcileRun.objects.values_list("recovered", flat=True)) == 1


def test_a_second_pass_sees_the_first_and_leaves(make_site, in_processes, tmp_path):
    def one_of_two(number):
        if number == 0:
            with reconcile.lock.only_one() as alone:
                (tmp_path / "held").touch()
                wait_for(tmp_path / "left")
                assert alone
        else:
            wait_for(tmp_path / "held")
            assert reconcile.reconcile().skipped == "another reconcile is running"
            (tmp_path / "left").touch()

    assert in_processes(2, one_of_two) == [0, 0]
    assert ReconcileRun.objects.count() == 0
    assert not reconcile.reconcile().skipped


def test_one_sites_failure_does_not_stop_the_others(make_site, run_jobs, monkeypatch):
    for name in ("a", "b", "c"):
        flow.start(make_site(name, titles=["ok"]).pk)
    lose_redis()
    let_time_pass()

    def repair_all_but_b(suspect, *arguments):
        if suspect.site.pk == "b":
            raise RuntimeError("this one is odd")
        return repair_site(suspect, *arguments)

    monkeypatch.setattr(reconcile, "repair_site", repair_all_but_b)
    with pytest.raises(CommandError) as ended:
        call_command("reconcile")

    assert ended.value.returncode == 1
    record = ReconcileRun.objects.get()
    assert (record.found, record.recovered, record.given_up) == (3, 2, 1)
    assert {entry["site_id"]: entry["outcome"] for entry in record.repairs} == {
        "a": "recovered",
        "b": "error",
        "c": "recovered",
    }


def test_a_dry_run_changes_nothing_and_says_what_it_would_do(make_site, run_jobs, capsys, queued):
    site = make_site(titles=["ok", "ok"])
    flow.start(site.pk)
    run_until("ocr", run_jobs)
    lose_redis()
    let_time_pass()
    before = list(DocumentState.objects.order_by("pk").values()), list(Site.objects.values())

    call_command("reconcile", dry_run=True)

    assert (list(DocumentState.objects.order_by("pk").values()), list(Site.objects.values())) == before
    assert not any(queued(name) for name in QUEUES) and not ReconcileRun.objects.exists()
    out = capsys.readouterr().out
    assert "alameda.ca: recovered in ocr: 2 jobs that are in no queue" in out
    assert "would recover 1" in out


def test_without_redis_it_says_so_with_code_2_and_changes_nothing(make_site, settings, capsys, monkeypatch):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    let_time_pass()
    before = list(DocumentState.objects.values()), list(Site.objects.values())

    def nobody_there(*arguments):
        raise sending.QueueUnavailable("Redis at unix:///nowhere does not answer")

    monkeypatch.setattr(inspection, "live_job_ids", nobody_there)
    with pytest.raises(CommandError, match="does not answer") as ended:
        call_command("reconcile", json=True)

    assert ended.value.returncode == 2
    assert '"ok": false' in capsys.readouterr().out
    assert (list(DocumentState.objects.values()), list(Site.objects.values())) == before
    assert "does not answer" in ReconcileRun.objects.get().error


def test_a_pass_that_is_cut_off_is_recorded_with_what_it_had_done(make_site, monkeypatch):
    for name in ("a", "b"):
        flow.start(make_site(name, titles=["ok"]).pk)
    lose_redis()
    let_time_pass()

    def repair_until_b(suspect, *arguments):
        if suspect.site.pk == "b":
            raise KeyboardInterrupt
        return repair_site(suspect, *arguments)

    monkeypatch.setattr(reconcile, "repair_site", repair_until_b)
    with pytest.raises(KeyboardInterrupt):
        reconcile.reconcile()

    record = ReconcileRun.objects.get()
    assert (record.recovered, record.error) == (1, "the pass was cut off")
    assert record.finished_at is not None


def test_the_number_of_queries_does_not_grow_with_the_sites_that_are_fine(make_site, run_jobs):
    def queries():
        let_time_pass()
        with CaptureQueriesContext(connection) as captured:
            assert reconcile.reconcile().found == 0
        return len(captured)

    for number in range(3):
        flow.start(make_site(f"waiting{number}", titles=["ok"]).pk)
    few = queries()
    for number in range(30):
        flow.start(make_site(f"more{number}", titles=["ok"]).pk)

    assert queries() == few <= 16


def test_the_guard_on_what_was_read_refuses_each_kind_of_change(make_site):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    row = DocumentState.objects.get()
    now = timezone.now()
    for change in ({"enqueue_seq": 7}, {"attempt_token": uuid.uuid4()}, {"updated_at": now}):
        DocumentState.objects.filter(pk=row.pk).update(**change)
        assert renew_lost_rows([row], now) == 0
        row.save()
    assert renew_lost_rows([row], now) == 1
