"""`pipeline_status`: one page for people, one object for programs."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from datetime import timedelta

import django_rq
import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from pipeline import flow
from pipeline.models import DocumentState
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator
from pipeline.reports import overview
from pipeline.reports.sites import site_totals
from sites.models import Document, Site
from sites.stages import Stage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
TOP = {
    "at",
    "level",
    "health_percent",
    "health_because",
    "failure_count",
    "filters",
    "sites",
    "documents",
    "steps",
    "failures",
    "errors",
    "stuck",
    "checks",
    "queues",
    "schedule",
    "workers",
    "next_command",
}


def status(manage, *arguments: str) -> dict:
    ran = manage("pipeline_status", "--json", *arguments)
    assert ran.code == 0
    return json.loads(ran.out)


def stuck(site: Site) -> None:
    Site.objects.filter(pk=site.pk).update(updated_at=timezone.now() - timedelta(hours=3))


def reason(manage) -> str:
    return status(manage)["stuck"][0]["reason"]


def test_the_page_names_the_failure_its_retry_and_the_next_command(manage, ended):
    ran = manage("pipeline_status")
    shown = " ".join(ran.out.split())  # a long document number may fold a line
    assert ran.code == 0
    assert re.search(r"corrupt alameda.ca Council \S+ minutes \(document \d+\) @ ocr", shown)
    assert "failed after 1 attempt" in shown
    assert "retry" not in shown.partition("Recent failures")[2].partition("What needs")[0]
    assert re.search(r"completed \S+ 50.0 % 1", shown)
    assert "no worker runs" in shown
    assert "Next: manage.py workers" in shown


def test_without_a_terminal_there_is_no_control_character_and_no_trailing_space(manage, ended):
    out = manage("pipeline_status").out
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", out)
    assert not re.search(r" +$", out, re.M)


def test_what_failed_is_told_apart_in_a_bar_without_colour(manage, ended):
    (ocr,) = re.findall(r"^ocr +(\S+) ", manage("pipeline_status").out, re.M)
    assert re.fullmatch("█{7}▒{7}|#{7}x{7}", ocr)


def test_the_json_is_stable(manage, ended):
    found = status(manage)
    assert set(found) == TOP
    assert found["sites"] == {
        "total": 1,
        "never_run": 0,
        "running": 0,
        "completed": 1,
        "failed": 0,
        "paused": 0,
        "stuck": 0,
        "attention": 0,
        "in_pipeline": 1,
    }
    day = Document.objects.earliest("pk").meeting_date.isoformat()
    assert found["documents"] == {
        "total": 2,
        "by_kind": {"minutes": 2},
        "by_status": {"pending": 0, "processing": 0, "completed": 1, "failed": 1, "skipped": 0},
        "dates": {"first": day, "last": day, "days": 1},
    }
    ocr = found["steps"][1]
    assert (ocr["stage"], ocr["processed"], ocr["failed_terminal"], ocr["total"]) == ("ocr", 1, 1, 2)
    assert set(ocr["job_seconds"]) == {"median", "p95", "sample"}
    failure = found["failures"][0]
    assert (failure["code"], failure["attempts"], failure["max_attempts"]) == ("corrupt", 1, 3)
    assert found["errors"] == [{"code": "corrupt", "stage": "ocr", "count": 1}]
    assert {queue["name"] for queue in found["queues"]} == set(settings.RQ_QUEUES)


def test_an_empty_installation_divides_nothing_by_zero(manage, db):
    assert status(manage)["health_percent"] is None
    assert "run_pipeline" in manage("pipeline_status").out or "workers" in manage("pipeline_status").out


def test_filters_by_site_stage_kind_and_meeting_date(manage, ended, make_site, make_documents):
    make_documents(make_site("berkeley.ca"), ["x"])
    Document.objects.filter(site_id="berkeley.ca").update(meeting_date="2020-02-02", kind="agenda")
    assert status(manage, "--site", "berkeley.ca")["documents"]["total"] == 1
    assert status(manage, "--kind", "agenda")["documents"]["by_kind"] == {"agenda": 1}
    dated = status(manage, "--start-date", "2020-01-01", "--end-date", "2020-12-31")
    assert dated["documents"]["total"] == 1
    assert dated["steps"][0]["total"] == 1
    assert [step["stage"] for step in status(manage, "--stage", "ocr")["steps"]] == ["ocr"]
    assert status(manage, "--stage", "fetch")["failures"] == []


def test_it_says_which_meetings_it_covers_and_how_many_failures_it_leaves_out(manage, ended):
    Document.objects.filter(title="ok").update(meeting_date="2025-01-02")
    Document.objects.filter(title="bad").update(meeting_date="2025-02-10")

    out = manage("pipeline_status").out

    assert "2025-01-02 to 2025-02-10, 40 days" in out
    assert "Recent failures (showing 1 of 1)" in out
    dates = status(manage)["documents"]["dates"]
    assert dates == {"first": "2025-01-02", "last": "2025-02-10", "days": 40}


def test_a_skipped_document_is_skipped_and_not_failed(manage, ended):
    interventions.skip(Document.objects.get(title="bad").pk, Operator("ann", "broken at the source"))
    found = status(manage)
    assert found["documents"]["by_status"] == {
        "pending": 0,
        "processing": 0,
        "completed": 1,
        "failed": 0,
        "skipped": 1,
    }
    assert found["failures"] == found["errors"] == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--site", "alamda.ca"), "there is no site 'alamda.ca'"),
        (("--site", "alameda"), "did you mean alameda.ca?"),
        (("--start-date", "2024-02-01", "--end-date", "2024-01-01"), "after --end-date"),
        (("--watch", "0"), "at least 0.1 seconds"),
        (("--start-date", "2024-13-01"), "'2024-13-01' is no day; expected YYYY-MM-DD"),
        (("--limit", "0"), "'0': expected a whole number, at least 1"),
    ],
)
def test_what_cannot_be_asked_ends_with_2(manage, make_site, arguments, says):
    make_site()
    ran = manage("pipeline_status", *arguments)
    assert ran.code == 2
    assert says in ran.err


# ---- What waits, and for how long ---------------------------------------------------------------------


def waiting_for(minutes: range, documents: list[Document], status: str) -> None:
    """A ledger row in OCR for each of the documents, that has waited for so many minutes."""
    now = timezone.now()
    moments = [now - timedelta(minutes=number) for number in minutes]
    DocumentState.objects.bulk_create(
        DocumentState(
            site_id=document.site_id,
            document=document,
            pipeline="ocr",
            status=status,
            created_at=moment,
            updated_at=now,
            last_attempt_at=moment,
            error_code="http_503",
        )
        for document, moment in zip(documents, moments, strict=True)
    )


@pytest.mark.parametrize(
    ("status_", "field"), [("pending", "pending_age"), ("failed_retryable", "retry_age")], ids=str
)
def test_a_step_says_for_how_long_its_rows_have_waited(manage, make_site, make_documents, status_, field):
    waiting_for(range(100), make_documents(make_site(), ["x"] * 100), status_)
    fetch, ocr = status(manage)["steps"][:2]
    ages = {name: round(seconds / 60) for name, seconds in ocr[field].items()}
    assert ages == {"median": 49, "p95": 94, "oldest": 99}
    assert fetch[field] == {"median": None, "p95": None, "oldest": None}
    assert re.search(r"49 min / 94 min", manage("pipeline_status").out)


def test_a_document_that_is_processed_and_has_no_text_is_counted(manage, ended):
    assert [step["without_text"] for step in status(manage)["steps"]] == [None, 0, None, None, None]
    DocumentState.objects.filter(pipeline="ocr", status="processed").update(facts={"characters": 0})
    assert status(manage, "--stage", "ocr")["steps"][0]["without_text"] == 1


# ---- Why a site does not move -------------------------------------------------------------------------


def test_no_worker(manage, in_ocr):
    stuck(in_ocr)
    assert reason(manage) == "no worker on queue ocr (2 jobs wait)"


def test_paused(manage, in_ocr):
    interventions.pause(in_ocr.pk, Operator("ann", "their server is tired"))
    stuck(in_ocr)
    assert re.fullmatch(r"paused since \d\d:\d\d \(their server is tired\)", reason(manage))


def test_jobs_lost(manage, in_ocr):
    stuck(in_ocr)
    django_rq.get_connection("high").flushdb()
    assert reason(manage) == "2 jobs lost from queue ocr; the next reconcile will send them again"


def test_waiting_for_retries(manage, make_site, trivial_jobs, run_jobs, settings):
    settings.RETRY_BACKOFF_SECONDS = 3600
    site = make_site(titles=["sour", "sour"])
    flow.start(site.pk)
    for queue in ("fetch", "high", "ocr"):
        run_jobs(only=queue)
    stuck(site)
    assert re.fullmatch(r"waiting for 2 retries at [-\d: ]*\d\d:\d\d", reason(manage))
    assert re.search(r"retry 1/3, next in \S+ (s|min)", " ".join(manage("pipeline_status").out.split()))


def test_coordinator_lost(manage, make_site, trivial_jobs, run_jobs):
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    run_jobs(only="fetch")
    stuck(site)
    assert reason(manage) == "no worker on queue high (1 job waits)"
    django_rq.get_connection("high").flushdb()
    assert reason(manage) == "coordinator lost; the next reconcile will send it again"


def test_cannot_pass_its_stage(manage, make_site, trivial_jobs, run_jobs):
    site = make_site(titles=["bad"])
    flow.start(site.pk)
    run_jobs()
    found = status(manage)
    assert found["sites"]["failed"] == 1
    assert "not one document gave text" in found["stuck"][0]["reason"]
    assert found["stuck"][0]["command"] == "retry_failed --site alameda.ca --dry-run"


def test_a_worker_that_died(manage, in_ocr):
    DocumentState.objects.filter(pipeline="ocr").update(status="in_progress", rq_job_id="gone")
    stuck(in_ocr)
    assert reason(manage) == "worker lost in ocr; the next reconcile will try it again"


# ---- Cost, and leaving --------------------------------------------------------------------------------


def test_the_number_of_queries_does_not_grow(ended, make_site, make_documents, trivial_jobs):
    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            overview.read_overview()
        return len(queries)

    stuck(ended)
    Site.objects.filter(pk=ended.pk).update(current_stage="ocr")
    for_one = count()
    for number in range(30):
        site = make_site(f"city{number}.ca", current_stage="ocr")
        make_documents(site, ["ok"] * 3)
        stuck(site)
    assert count() == for_one


def environ_of_this_database() -> dict[str, str]:
    name = connection.settings_dict["NAME"]
    url = f"sqlite:///{name}"
    if connection.vendor == "postgresql":
        url = re.sub(r"/[^/?]*(\?|$)", rf"/{name}\1", os.environ["DATABASE_URL"])
    return {
        **os.environ,
        "DEBUG": "1",
        "PYTHONUNBUFFERED": "1",
        "DATABASE_URL": url,
        "TERM": "xterm-256color",
    }


WATCH = [sys.executable, "manage.py", "pipeline_status", "--watch", "0.2"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_watch_stops_cleanly(how, db):
    watching = subprocess.Popen(
        WATCH,
        cwd=settings.BASE_DIR,
        env=environ_of_this_database(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    assert "Clerk" in watching.stdout.readline()
    time.sleep(0.5)
    watching.send_signal(how)
    out, err = watching.communicate(timeout=20)
    assert (watching.returncode, err) == (0, "")
    assert "\x1b" not in out


def test_a_reader_that_has_enough_is_no_error(db):
    watching = subprocess.Popen(
        [*WATCH, "--json"],
        cwd=settings.BASE_DIR,
        env=environ_of_this_database(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert watching.stdout is not None
    watching.stdout.read(10)
    watching.stdout.close()
    assert watching.stderr is not None
    assert watching.stderr.read() == b""
    assert watching.wait(timeout=20) == 128 + signal.SIGPIPE


def test_watch_gives_the_terminal_back(db):
    ours, theirs = pty.openpty()
    watching = subprocess.Popen(WATCH, cwd=settings.BASE_DIR, env=environ_of_this_database(), stdout=theirs)
    os.close(theirs)
    shown = b""
    while b"Documents by status" not in shown:
        shown += os.read(ours, 65536)
    watching.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # how a terminal says that nobody holds its other end
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    assert watching.wait(timeout=20) == 0
    assert shown.index(b"\x1b[?1049h") < shown.rindex(b"\x1b[?1049l")
    assert shown.rindex(b"\x1b[?25l") < shown.rindex(b"\x1b[?25h")


def test_a_site_that_was_never_touched_is_stuck_by_every_count(make_site):
    site = make_site()
    Site.objects.filter(pk=site.pk).update(current_stage=Stage.OCR, updated_at=None)
    site.refresh_from_db()

    assert site.is_stuck
    assert [each.pk for each in Site.objects.stuck()] == [site.pk]
    assert site_totals().stuck == 1
    assert overview.read_overview().sites.health == 0
