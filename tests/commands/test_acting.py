"""The commands that act: what they do, what they refuse, what is recorded, and the code they end with."""

import getpass
import json
import os
import subprocess
import sys
from datetime import timedelta

import django_rq
import pytest
from django.conf import settings
from django.utils import timezone
from rq import SimpleWorker

from clerk_project.settings import BASE_DIR
from pipeline import flow
from pipeline.models import DocumentState, Intervention, ReconcileRun, Run, Status
from pipeline.reconcile import reconcile
from sites.models import Document, Site
from sites.stages import Stage
from tests.commands.conftest import Ran
from tests.conftest import assert_counters_equal_ledger

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


# ---- retry_failed -------------------------------------------------------------------------------------


def test_a_dry_run_changes_nothing(manage, ended):
    ran = manage("retry_failed", "--dry-run")
    assert ran.out == "alameda.ca: 1 in ocr\nWould try 1 again at 1 sites (dry-run)\n"
    assert Run.objects.count() == 1
    assert not Intervention.objects.exists()


def test_a_retry_begins_a_run_and_says_so(manage, ended, run_jobs):
    Document.objects.filter(title="bad").update(title="mended")
    ran = manage("retry_failed", "--reason", "a new scan")
    run_jobs()
    assert ran.code == 0
    assert "began from ocr, 1 to try again" in ran.out
    note = Intervention.objects.get()
    assert (note.by, note.reason) == (getpass.getuser(), "a new scan")
    assert manage("retry_failed").out == "nothing to try again\n"
    assert_counters_equal_ledger()


def test_the_selection_is_by_stage_site_code_and_retries(manage, ended, run_jobs):
    for arguments in (("--stage", "fetch"), ("--error-code", "timeout"), ("--max-retries", "0")):
        assert manage("retry_failed", "--dry-run", *arguments).out == "nothing to try again\n"
    assert manage("retry_failed", "--site", "nowhere.ca").code == 2
    for _ in range(3):
        assert manage("retry_failed", "--error-code", "corrupt").code == 0
        run_jobs()
    assert manage("retry_failed").out == "nothing to try again\n"
    assert manage("retry_failed", "--max-retries", "4", "--dry-run").out.startswith("alameda.ca: 1 in ocr")


def test_a_refusal_ends_with_1_and_the_reason(manage, ended):
    manage("pause_site", "alameda.ca", "--reason", "tired")
    ran = manage("retry_failed")
    assert ran.code == 1
    assert "paused (tired)" in ran.err


def test_waiting_rows_are_hastened_when_asked(manage, make_site, trivial_jobs, run_jobs, settings):
    settings.RETRY_BACKOFF_SECONDS = 3600
    flow.start(make_site(titles=["flaky"]).pk)
    for queue in ("fetch", "high", "ocr"):
        run_jobs(only=queue)
    assert manage("retry_failed").out == "nothing to try again\n"
    assert "1 back in ocr" in manage("retry_failed", "--waiting").out
    run_jobs()
    assert Site.objects.get().current_stage == Stage.COMPLETED
    assert_counters_equal_ledger()


def test_failures_are_chosen_by_the_dates_of_their_meetings(manage, ended):
    Document.objects.filter(title="bad").update(meeting_date="2024-05-06")
    assert manage("retry_failed", "--dry-run", "--start-date", "2024-05-07").out == "nothing to try again\n"
    ran = manage("retry_failed", "--dry-run", "--start-date", "2024-05-06", "--end-date", "2024-05-06")
    assert "Would try 1 again" in ran.out
    assert manage("retry_failed", "--start-date", "2024-05-07", "--end-date", "2024-05-06").code == 2


# ---- confirm_end --------------------------------------------------------------------------------------


def test_a_confirmed_end_is_not_stuck_and_holds_up_nothing(manage, make_site, trivial_jobs, run_jobs):
    make_site("alameda.ca", titles=["bad", "bad"])
    flow.start("alameda.ca")
    run_jobs()
    Site.objects.update(updated_at=timezone.now() - timedelta(days=1))
    site = Site.objects.get()
    assert (site.current_stage, site.is_stuck, site.last_error_stage) == (Stage.OCR, True, "ocr")
    assert manage("confirm_end", "alameda.ca").code == 1, "not without a reason"

    assert manage("confirm_end", "alameda.ca", "--reason", "the files are lost").code == 0

    site = Site.objects.get()
    assert (site.current_stage, site.is_stuck, site.last_error_stage) == (Stage.COMPLETED, False, "ocr")
    assert site.last_error_message.startswith("Ended, nothing to be done (the files are lost)")
    assert not Intervention.objects.get().unstuck
    assert reconcile().found == 0
    assert_counters_equal_ledger()
    assert manage("confirm_end", "alameda.ca", "--reason", "again").code == 1
    assert flow.start("alameda.ca")


def test_only_a_failed_run_has_an_end_to_confirm(manage, ended, make_site):
    assert "did not fail" in manage("confirm_end", "alameda.ca", "--reason", "x").err
    make_site("never.ca")
    assert manage("confirm_end", "never.ca", "--reason", "x").code == 1


# ---- run_pipeline -------------------------------------------------------------------------------------


@pytest.fixture
def three(make_site) -> list[Site]:
    """One that never ran, one touched yesterday, one touched last week."""
    now = timezone.now()
    return [
        make_site("never.ca", titles=["ok"]),
        make_site(
            "yesterday.ca", titles=["ok"], updated_at=now - timedelta(days=1), current_stage="completed"
        ),
        make_site(
            "lastweek.ca", titles=["ok"], updated_at=now - timedelta(days=7), current_stage="completed"
        ),
    ]


def test_the_next_most_stale_never_run_first(manage, three, trivial_jobs):
    assert manage("run_pipeline", "--stale", "2", "--dry-run").out.split()[:2] == ["never.ca", "lastweek.ca"]
    manage("pause_site", "never.ca")
    manage("run_pipeline", "lastweek.ca", "--no-wait")
    assert manage("run_pipeline", "--all", "--dry-run").out.startswith("yesterday.ca\nWould start 1 site (")


def test_start_and_leave(manage, three, trivial_jobs, run_jobs):
    ran = manage("run_pipeline", "--all", "--no-wait", "--json", "--priority", "high", "--by", "cron")
    found = json.loads(ran.out)
    assert (ran.code, found["started"], found["refused"]) == (0, 3, [])
    assert {run["status"] for run in found["runs"]} == {"running"}
    assert set(Run.objects.values_list("priority", "started_by")) == {(1, "cron")}
    again = manage("run_pipeline", "never.ca", "--no-wait")
    assert again.code == 1
    assert "already" in again.err
    assert manage("run_pipeline", "never.ca", "--no-wait", "--restart").code == 0
    assert Run.objects.filter(status=Run.Status.SUPERSEDED).count() == 1


def test_waiting_shows_each_change_and_ends_with_the_outcome(
    manage, make_site, trivial_jobs, run_jobs, monkeypatch
):
    make_site("good.ca", titles=["ok"])
    make_site("bad.ca", titles=["bad"])
    # Workers, while the command waits.
    monkeypatch.setattr("pipeline.management.terminal.follow.time.sleep", lambda seconds: run_jobs())
    ran = manage("run_pipeline", "--all")
    assert ran.code == 1
    assert "good.ca: fetch\n" in ran.out
    assert "good.ca: completed: completed\n" in ran.out
    assert "bad.ca: failed: StageError: not one document gave text" in ran.out
    assert "1 runs did not complete" in ran.err


def test_ctrl_c_stops_watching_not_the_runs(manage, make_site, trivial_jobs, monkeypatch):
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    make_site(titles=["ok"])
    monkeypatch.setattr("pipeline.management.terminal.follow.time.sleep", interrupt)
    ran = manage("run_pipeline", "alameda.ca")
    assert ran.code == 130
    assert Run.objects.get().status == Run.Status.RUNNING


@pytest.mark.parametrize("arguments", [(), ("alameda.ca", "--all"), ("nowhere.ca",)])
def test_which_sites_must_be_clear(manage, make_site, arguments):
    make_site()
    assert manage("run_pipeline", *arguments).code == 2


# ---- The others ---------------------------------------------------------------------------------------


def test_pause_and_resume(manage, in_ocr, run_jobs):
    assert manage("pause_site", "alameda.ca", "--reason", "tired").out == "alameda.ca: paused\n"
    assert manage("pause_site", "alameda.ca").code == 1
    run_jobs()
    assert not DocumentState.objects.filter(pipeline="ocr").exclude(status=Status.PENDING).exists()
    assert manage("resume_site", "alameda.ca").out == "alameda.ca: resumed\n"
    run_jobs()
    assert Site.objects.get().current_stage == Stage.COMPLETED
    assert set(Intervention.objects.values_list("action", flat=True)) == {"pause", "resume"}


def test_cancel(manage, in_ocr):
    assert manage("cancel_run", "alameda.ca", "--reason", "wrong source").code == 0
    assert (Run.objects.get().status, Run.objects.get().message) == ("cancelled", "wrong source")
    assert manage("cancel_run", "alameda.ca").code == 1


def test_skip_and_undo(manage, ended):
    number = str(Document.objects.get(title="bad").pk)
    assert manage("skip_document", number).code == 1
    assert manage("skip_document", number, "--reason", "blank").code == 0
    assert Document.objects.get(title="bad").skip_reason == "blank"
    assert manage("skip_document", number, "--undo").code == 0
    assert manage("skip_document", "999999", "--reason", "x").code == 2


def test_unstick(manage, in_ocr, run_jobs):
    healthy = manage("unstick_site", "alameda.ca")
    assert healthy.code == 1
    assert "nothing to repair" in healthy.err
    django_rq.get_connection("high").flushdb()
    long_ago = timezone.now() - timedelta(hours=3)
    DocumentState.objects.filter(pipeline="ocr").update(updated_at=long_ago)
    Site.objects.update(updated_at=long_ago)
    ran = manage("unstick_site", "alameda.ca", "--reason", "after the outage")
    assert ran.code == 0
    assert "2 jobs sent again" in ran.out
    assert Intervention.objects.get().unstuck
    run_jobs()
    assert Site.objects.get().current_stage == Stage.COMPLETED


# ---- reconcile from cron ------------------------------------------------------------------------------


def test_a_quiet_reconcile_says_what_is_new_and_says_it_once(manage, make_site, trivial_jobs, run_jobs):
    assert manage("reconcile", "--quiet") == Ran(0, "", "")
    make_site(titles=["bad"])
    flow.start("alameda.ca")
    run_jobs()
    Site.objects.update(updated_at=timezone.now() - timedelta(hours=3))

    first = manage("reconcile", "--quiet")
    # As if the time had come to look at it again: it is given up once more, for the same reason.
    Site.objects.update(attention_at=timezone.now() - timedelta(hours=7))
    second, loud = manage("reconcile", "--quiet"), manage("reconcile", "--json")

    assert (first.code, "given up" in first.out) == (1, True)
    assert second == Ran(1, "", "")
    assert json.loads(loud.out)["found"] == 0  # handed over to a person by now


def test_a_quiet_reconcile_says_nothing_of_a_site_that_waits_for_a_worker(manage, in_ocr):
    Site.objects.update(updated_at=timezone.now() - timedelta(hours=3))
    assert "are there workers for it" in manage("reconcile", "--dry-run").out
    assert manage("reconcile", "--quiet") == Ran(0, "", "")


def test_a_run_says_first_what_there_is_and_what_it_resumes(manage, in_ocr, make_site):
    make_site("new.ca", titles=["ok"])
    manage("cancel_run", "alameda.ca")

    ran = manage("run_pipeline", "--all", "--no-wait")

    documents = Document.objects.count()
    first, second, third = ran.out.splitlines()[:3]
    assert first == (f"Starting 2 sites from fetch: {documents} documents known, 0 read, {documents} to read")
    assert second == "Resuming where they stopped: alameda.ca"
    assert third == "2 runs started"


# ---- health -------------------------------------------------------------------------------------------


def test_health_is_2_while_jobs_wait_for_a_worker(manage, in_ocr):
    ran = manage("health", "--quiet")
    assert ran.code == 2
    assert "no worker on queue ocr (2 wait)  (manage.py workers)" in ran.out
    assert json.loads(manage("health", "--json").out)["level"] == "unhealthy"


def test_health_is_1_while_no_worker_runs(manage, ended):
    ran = manage("health")
    assert (ran.code, ran.out.splitlines()[-1]) == (1, "degraded")


def test_health_is_0_when_all_is_well(manage, ended, a_worker):
    ReconcileRun.objects.create(started_at=timezone.now(), finished_at=timezone.now())
    ran = manage("health")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "healthy"), ran.out
    assert manage("health", "--quiet").out == ""


def test_health_is_2_when_redis_does_not_answer(manage, ended, settings, no_redis):
    ran = manage("health")
    assert ran.code == 2
    assert "Redis does not answer" in ran.out
    assert manage("retry_failed").code == 2
    assert manage("pipeline_status").code == 0


def test_health_is_2_when_the_database_does_not_answer():
    environ = {**os.environ, "DEBUG": "1", "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    ran = subprocess.run(
        [sys.executable, "manage.py", "health"], cwd=BASE_DIR, env=environ, capture_output=True, text=True
    )
    assert ran.returncode == 2
    assert "the database cannot be read" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.fixture
def a_worker():
    """A worker on every queue that has just called in."""
    queues = [django_rq.get_queue(name) for name in settings.RQ_QUEUES]
    worker = SimpleWorker(queues, connection=queues[0].connection, serializer="json")
    worker.register_birth()
    yield worker
    worker.register_death()


def test_from_a_later_stage_only_sites_with_documents_are_started(manage, make_site, make_documents):
    make_documents(make_site("with.ca"), ["Minutes"])
    make_site("without.ca")

    out = manage("run_pipeline", "--all", "--from", "compilation", "--dry-run").out

    assert ("with.ca" in out, "without.ca" in out) == (True, False)
    assert "without.ca" in manage("run_pipeline", "--all", "--dry-run").out
