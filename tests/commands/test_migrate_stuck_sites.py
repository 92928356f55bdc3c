"""`migrate_stuck_sites`: what storage says becomes counters and ledger, and the dead jobs go."""

import io
import json
import os
import pickle
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import django_rq
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone

from demo.legacy.queue import add_job, leave_jobs, snapshot
from demo.legacy.storage import add_document
from pipeline import reconcile
from pipeline.models import DocumentState, Intervention, Run, RunStage
from pipeline.takeover import old_jobs
from pipeline.verify import files as verify_files
from sites.models import Document, Site
from tests.conftest import assert_counters_equal_ledger

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
LONG_AGO = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
TABLE = """
CREATE TABLE site_progress (
    subdomain varchar PRIMARY KEY, current_stage varchar, stage_total integer, stage_completed integer,
    started_at {time}, updated_at {time}
)
"""


@pytest.fixture
def old_table(transactional_db):
    time = "timestamptz" if connection.vendor == "postgresql" else "datetime"
    with connection.cursor() as cursor:
        cursor.execute(TABLE.format(time=time))
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS site_progress")


@pytest.fixture
def stuck(old_table, settings):
    """`stuck("a.ca", total=7)` is a site that the old table has in OCR; its folder is returned."""

    def make(subdomain, total=7, stage="ocr", at=LONG_AGO, known=True, **values) -> Path:
        if known:
            Site.objects.create(subdomain=subdomain, **values)
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO site_progress VALUES (%s, %s, %s, 0, %s, %s)", [subdomain, stage, total, at, at]
            )
        folder = Path(settings.STORAGE_DIR) / subdomain
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    return make


@pytest.fixture
def queue():
    return django_rq.get_connection("ocr")


def run(**options) -> str:
    out = io.StringIO()
    call_command("migrate_stuck_sites", stdout=out, **options)
    return out.getvalue()


def database():
    """All rows of all tables that the command may write."""
    models = (Site, Document, DocumentState, Run, RunStage, Intervention)
    return {model: list(model.objects.order_by("pk").values()) for model in models}


def test_a_document_with_twelve_page_files_is_one_document(stuck):
    folder = stuck("site1.ca.us")
    for day in range(1, 16):
        add_document(folder, f"2024-01-{day:02}", pages=12 if day <= 12 else 0)

    output = run()

    assert "site1.ca.us: 12/15 completed, 3 failed\n" in output
    assert "Migrated 1 site\n" in output
    assert "Next: python manage.py reconcile\n" in output
    site = Site.objects.get()
    assert (site.ocr_total, site.ocr_completed, site.ocr_failed) == (15, 12, 3)
    assert (site.fetch_total, site.fetch_completed, site.fetch_failed) == (15, 15, 0)
    assert_counters_equal_ledger()


def test_the_site_stands_where_the_old_system_left_it(stuck):
    folder = stuck("a.ca", coordinator_enqueued=True, current_stage="fetch", updated_at=timezone.now())
    add_document(folder, "2024-01-15", pages=2)
    add_document(folder, "2024-01-16")

    run()

    site = Site.objects.get()
    assert (site.current_stage, site.started_at, site.updated_at) == ("ocr", LONG_AGO, LONG_AGO)
    assert site.coordinator_enqueued is False
    assert (site.last_error_stage, site.last_error_at) == ("ocr", LONG_AGO)
    only = Run.objects.get()
    assert (only.pk, only.status, only.started_by) == (site.run_id, "running", "migrate_stuck_sites")
    opened = RunStage.objects.get()
    assert (opened.stage, opened.finished_at) == ("ocr", None)
    assert opened.opened_at > timezone.now() - timedelta(minutes=5)
    rows = DocumentState.objects.order_by("document__path", "pipeline")
    assert list(rows.values_list("pipeline", "status", "error_code", "run_id")) == [
        ("fetch", "processed", None, only.pk),
        ("ocr", "processed", None, only.pk),
        ("fetch", "processed", None, only.pk),
        ("ocr", "failed_terminal", "no_text", only.pk),
    ]
    assert {row.updated_at for row in rows} == {LONG_AGO}


def test_documents_are_known_by_their_place_in_storage(stuck):
    folder = stuck("a.ca")
    add_document(folder, "2024-01-15", meeting="Parks & Recreation", pages=2)
    add_document(folder, "2024-02-20", meeting="Planning", agenda=True, whole=True)
    add_document(folder, "2024-03-01-special", pdf=None, pages=3)
    add_document(folder, "no date", pdf=None, whole=True)

    run()

    fields = ("path", "meeting", "meeting_date", "kind", "pages", "source_id")
    found = Document.objects.order_by("path").values_list(*fields)
    assert list(found) == [
        ("_agendas/pdfs/Planning/2024-02-20.pdf", "Planning", date(2024, 2, 20), "agenda", 1, None),
        ("pdfs/CityCouncil/2024-03-01-special.pdf", "CityCouncil", date(2024, 3, 1), "minutes", 3, None),
        ("pdfs/CityCouncil/no date.pdf", "CityCouncil", None, "minutes", 1, None),
        (
            "pdfs/Parks & Recreation/2024-01-15.pdf",
            "Parks & Recreation",
            date(2024, 1, 15),
            "minutes",
            2,
            None,
        ),
    ]
    assert all(document.external_id == document.path for document in Document.objects.all())
    assert Site.objects.get().ocr_completed == 4


@pytest.mark.parametrize(
    ("arrange", "line"),
    [
        (lambda folder: None, "0/7 completed, 7 failed"),
        (lambda folder: folder.rmdir(), "0/7 completed, 7 failed"),
        (lambda folder: add_document(folder, "2024-01-01", pages=3, text=" \f"), "0/1 completed, 1 failed"),
        (lambda folder: add_document(folder, "2024-01-01", whole=True, text=""), "0/1 completed, 1 failed"),
        (lambda folder: add_document(folder, "2024-01-01", whole=True, pages=2), "1/1 completed, 0 failed"),
        (lambda folder: add_document(folder, "x", meeting="A/B", pages=2), "1/1 completed, 0 failed"),
        (
            lambda folder: add_document(folder, "x", meeting="A/B", pdf=None, whole=True),
            "1/1 completed, 0 failed",
        ),
    ],
    ids=["empty", "no folder", "blank pages", "empty file", "both layouts", "nested", "nested, cleaned up"],
)
def test_odd_folders(stuck, arrange, line):
    arrange(stuck("a.ca"))
    before = run(dry_run=True)

    assert f"a.ca: {line}\n" in before
    assert f"a.ca: {line}\n" in run()
    assert_counters_equal_ledger()


def test_a_site_that_never_had_a_count_has_at_least_one(stuck):
    stuck("zero.ca", total=0)
    stuck("null.ca", total=None)

    output = run()

    assert "null.ca: 0/1 completed, 1 failed" in output
    assert "zero.ca: 0/1 completed, 1 failed" in output
    assert_counters_equal_ledger()


def test_odd_file_names(stuck):
    folder = stuck("a.ca")
    add_document(folder, "2024-01-01", meeting="Conseil d'été (spécial)", pages=1)
    council = folder / "pdfs" / "Council"
    council.mkdir(parents=True)
    for name in ("2024-02-30.PDF", "100% a'b\"c.v2.pdf", ".hidden.pdf", "notes.docx", "2024-01-05.pdf"):
        (council / name).write_bytes(b"%PDF")
    Path(os.fsdecode(os.fsencode(council) + b"/caf\xe9.pdf")).write_bytes(b"%PDF")

    output = run()

    assert "a.ca: 1/5 completed, 4 failed" in output
    assert set(Document.objects.values_list("path", flat=True)) == {
        "pdfs/Conseil d'été (spécial)/2024-01-01.pdf",
        "pdfs/Council/2024-02-30.PDF",
        "pdfs/Council/100% a'b\"c.v2.pdf",
        "pdfs/Council/2024-01-05.pdf",
        "pdfs/Council/caf\\udce9.pdf",
    }


def test_a_dry_run_changes_nothing_in_database_or_queue(stuck, queue):
    add_document(stuck("a.ca"), "2024-01-01", pages=2)
    stuck("b.ca")
    leave_jobs(queue, ["a.ca", "b.ca"], 2, 5)
    before = database(), snapshot(queue)

    output = run(dry_run=True)

    assert (database(), snapshot(queue)) == before
    assert "a.ca: 1/1 completed, 0 failed\n" in output
    assert "Would migrate 2 sites (dry-run)\n" in output
    assert "Would remove 2 deferred coordinators and 5 failed OCR jobs\n" in output


def test_only_deferred_coordinators_and_failed_ocr_jobs_go(stuck, queue):
    stuck("a.ca")
    kept = leave_jobs(queue, ["a.ca"] * 3, 3, 40)
    add_job(queue, "compilation", "deferred", "clerk.workers.extraction_coordinator", "a.ca")
    untouched = {
        key: value for key, value in snapshot(queue).items() if any(job.encode() in key for job in kept)
    }

    assert "Removed 4 deferred coordinators and 40 failed OCR jobs\n" in run()

    after = snapshot(queue)
    assert {key: after[key] for key in untouched} == untouched
    assert sum(key.startswith(b"rq:job:") for key in after) == len(kept)
    assert [member for member, _ in after[b"rq:deferred:compilation"]]  # type: ignore[attr-defined]
    assert len(after[b"rq:failed:ocr"]) == 3


def test_the_name_of_a_job_is_read_without_its_code(queue):
    class Gone:
        def __reduce__(self):
            return (os.system, ("echo never",))

    hostile = pickle.dumps(("clerk.workers.ocr_page_job", None, (Gone(),), {}))
    assert old_jobs.function_name(hostile, None) == "clerk.workers.ocr_page_job"
    as_json = json.dumps(["clerk.workers.ocr_page_job", None, [], {}]).encode()
    assert old_jobs.function_name(as_json, None) == "clerk.workers.ocr_page_job"
    assert old_jobs.function_name(b"\x80garbage", b"clerk.workers.ocr_page_job('a.ca')").endswith(
        "ocr_page_job"
    )
    assert old_jobs.function_name(None, None) == ""


def test_a_registry_entry_whose_job_has_expired_is_judged_by_its_id(queue):
    queue.zadd("rq:deferred:ocr", {"ocr-coordinator-a.ca": 1, "something-else": 2})

    assert old_jobs.remove(queue) == old_jobs.Cleaned(1, 0)
    assert queue.zrange("rq:deferred:ocr", 0, -1) == [b"something-else"]


def test_a_job_that_was_queued_again_is_alive(queue):
    job = add_job(queue, "ocr", "failed", "clerk.workers.ocr_page_job", "a.ca")
    queue.hset(f"rq:job:{job}", "status", "queued")

    assert old_jobs.remove(queue) == old_jobs.Cleaned(0, 0)


def test_a_second_run_changes_nothing(stuck, queue):
    add_document(stuck("a.ca"), "2024-01-01", pages=2)
    stuck("b.ca")
    leave_jobs(queue, ["a.ca"], 1, 3)
    run()
    before = database(), snapshot(queue)

    output = run()

    assert (database(), snapshot(queue)) == before
    assert "Migrated 0 sites" in output
    assert "2 sites had been taken over before" in output


def test_a_run_that_died_half_way_is_finished_by_the_next(stuck, queue, monkeypatch):
    """Dead between two sites, in the middle of one, and before the queue: nothing is counted twice."""
    for name in ("a.ca", "b.ca", "c.ca"):
        folder = stuck(name)
        for day in range(1, 4):
            add_document(folder, f"2024-01-{day:02}", pages=day)
    leave_jobs(queue, ["a.ca"], 1, 3)

    class Killed(BaseException):
        pass

    real, calls = DocumentState.objects.bulk_create, []

    def dying(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            raise Killed
        return real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(DocumentState.objects, "bulk_create", dying)
        with pytest.raises(Killed):
            run()
    assert Run.objects.count() == 1
    assert Document.objects.count() == 3

    output = run()

    assert "Migrated 2 sites" in output
    assert Document.objects.count() == 9
    assert list(Site.objects.values_list("ocr_total", "ocr_completed")) == [(3, 3)] * 3
    assert old_jobs.count(queue) == old_jobs.Cleaned(0, 0)
    assert_counters_equal_ledger()


def test_two_at_once_take_each_site_over_once(stuck, in_processes):
    for number in range(12):
        add_document(stuck(f"s{number}.ca"), "2024-01-01", pages=1)

    assert in_processes(3, lambda number: run()) == [0, 0, 0]

    assert Run.objects.count() == Document.objects.count() == 12
    assert_counters_equal_ledger()


def test_a_site_in_another_stage_or_with_a_run_of_its_own_is_left_alone(stuck):
    stuck("fetching.ca", stage="fetch")
    stuck("running.ca")
    Run.objects.create(site_id="running.ca", started_at=timezone.now())

    output = run()

    assert "Migrated 0 sites" in output
    assert not DocumentState.objects.exists()


def test_a_row_without_a_site_is_named_and_stays(stuck):
    stuck("ghost.ca", known=False)
    add_document(stuck("a.ca"), "2024-01-01", pages=1)

    output = run()

    assert "ghost.ca: there is no such site; its row stays in site_progress\n" in output
    assert "Migrated 1 site\n" in output
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM site_progress")
        assert cursor.fetchone() == (2,)


def test_a_database_without_the_old_table_is_told_so(transactional_db):
    with pytest.raises(CommandError, match="there is no table site_progress"):
        run()


def test_an_unreachable_redis_stops_it_before_anything_is_written(stuck, settings, monkeypatch):
    add_document(stuck("a.ca"), "2024-01-01", pages=1)
    leave = database()
    monkeypatch.setitem(settings.RQ_QUEUES["ocr"], "URL", "redis://:secret@127.0.0.1:1/0")

    with pytest.raises(CommandError, match="Redis does not answer") as refused:
        run()

    assert "secret" not in str(refused.value)
    assert "Nothing was changed" in str(refused.value)
    assert database() == leave


def test_a_storage_that_is_not_mounted_stops_it(stuck, settings, tmp_path):
    stuck("a.ca")
    settings.STORAGE_DIR = tmp_path / "not mounted"

    with pytest.raises(CommandError, match="STORAGE_DIR"):
        run()
    assert not Run.objects.exists()


def test_a_site_whose_name_is_no_folder_is_left_and_the_others_go_on(stuck):
    stuck("a.ca")
    Site.objects.create(subdomain="../etc")
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO site_progress VALUES ('../etc', 'ocr', 3, 0, NULL, NULL)")
    out = io.StringIO()

    with pytest.raises(CommandError, match="1 sites were left"):
        call_command("migrate_stuck_sites", stdout=out)

    assert "../etc: left as it was" in out.getvalue()
    assert Run.objects.get().site_id == "a.ca"


def test_a_row_without_times_is_stale_all_the_same(stuck):
    stuck("a.ca", at=None)

    run()

    assert Site.objects.get().updated_at < timezone.now() - timedelta(hours=2)


def test_json(stuck, queue):
    add_document(stuck("a.ca"), "2024-01-01", pages=1)
    stuck("ghost.ca", known=False)
    leave_jobs(queue, ["a.ca"], 1, 2)

    told = json.loads(run(json=True))

    assert told == {
        "ok": True,
        "dry_run": False,
        "sites": [{"site_id": "a.ca", "total": 1, "completed": 1, "failed": 0}],
        "already": 0,
        "unknown": ["ghost.ca"],
        "unreadable": {},
        "left_out": {},
        "cleaned": {"coordinators": 1, "ocr_jobs": 2},
    }


def test_it_is_recorded_but_does_not_hold_up_the_drops(stuck):
    stuck("a.ca")
    run()

    noted = Intervention.objects.get()
    assert (noted.action, noted.unstuck, noted.details["sites"]) == ("migrate_stuck_sites", False, 1)


def test_reconcile_moves_the_sites_on(stuck, trivial_jobs, run_jobs):
    """One with text goes through; one whose storage is empty ends as a site without documents."""
    add_document(stuck("text.ca"), "2024-01-01", pages=1)
    stuck("empty.ca")
    run()

    result = reconcile.reconcile()
    run_jobs()

    assert (result.found, result.recovered) == (2, 2)
    ended = Site.objects.order_by("pk").values_list("pk", "current_stage", "last_error_stage")
    assert list(ended) == [("empty.ca", "completed", "fetch"), ("text.ca", "completed", None)]
    assert_counters_equal_ledger()


def test_a_site_with_pdfs_and_no_text_is_read_anew(stuck, trivial_jobs, run_jobs):
    """Its taken-over run fails in OCR, and the next reconcile gives every document a fresh chance."""
    add_document(stuck("all-failed.ca"), "2024-01-01")
    run()
    reconcile.reconcile()
    run_jobs()
    assert Run.objects.get().status == "failed"
    Site.objects.update(updated_at=LONG_AGO)

    reconcile.reconcile()
    run_jobs()

    assert Site.objects.get().current_stage == "completed"
    assert_counters_equal_ledger()


def test_a_document_that_is_nowhere_can_be_tried_again_and_fails_again(stuck, run_jobs, settings):
    """`retry_failed` may open such a row; its job must know what to say."""
    stuck("empty.ca", total=1)
    run()
    row = DocumentState.objects.get()
    noted = Intervention.objects.create(action="retry")
    DocumentState.objects.filter(pk=row.pk).update(status="pending", intervention=noted, attempt_count=0)
    Site.objects.update(ocr_failed=0)

    reconcile.reconcile()
    run_jobs()

    row.refresh_from_db()
    assert (row.status, row.error_code) == ("failed_terminal", "missing_file")
    assert Site.objects.get().current_stage == "completed"


def test_on_a_terminal_there_is_a_bar_and_the_lines_all_the_same(stuck, monkeypatch, capfd):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    add_document(stuck("a.ca"), "2024-01-01", pages=1)
    stuck("ghost.ca", known=False)

    call_command("migrate_stuck_sites")

    out, err = capfd.readouterr()
    assert "a.ca: 1/1 completed, 0 failed" in err
    assert "taking over" in err
    assert "2/2" in err
    assert "Migrated 1 site" in out


def test_verify_fix_before_the_carry_over_does_not_stop_it(stuck):
    folder = stuck("a.ca")
    pdf = folder / "pdfs" / "Council" / "2024-01-15.pdf"
    pdf.parent.mkdir(parents=True)
    pdf.write_bytes(b"%PDF-1.4 x")
    verify_files.fix(list(verify_files.find()))

    run()

    begun = Run.objects.get(site_id="a.ca")
    assert DocumentState.objects.filter(run=begun, pipeline="ocr").count() == 1
    assert_counters_equal_ledger()


def test_jobs_of_another_application_in_the_same_redis_stay(stuck, queue):
    stuck("a.ca")
    foreign = [
        add_job(queue, "mail", "deferred", "crm.tasks.notify_volunteer_coordinator", "ann"),
        add_job(queue, "ocr", "deferred", "crm.tasks.notify_volunteer_coordinator", "ann"),
        add_job(queue, "ocr", "failed", "archive.jobs.ocr_old_maps", "map"),
        add_job(queue, "mail", "deferred", "clerk.workers.mail_coordinator", "not one of its queues"),
    ]
    add_job(queue, "ocr", "deferred", "clerk.workers.ocr_complete_coordinator", "a.ca")

    output = run()

    assert "Removed 1 deferred coordinator and 0 failed OCR jobs" in output
    assert all(queue.exists(f"rq:job:{job}") for job in foreign)
