"""What is old enough goes; what is new, in use or among the last few stays."""

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from pipeline import flow
from pipeline.models import (
    BulkAct,
    DocumentState,
    ErrorDay,
    ErrorGroup,
    LogLine,
    Look,
    ReconcileRun,
    Run,
    RunStage,
    Webhook,
    WebhookDelivery,
)
from pipeline.operations import pruning
from pipeline.operations.pruning import prune
from pipeline.stages.shared_files import shared
from pipeline.verify import verify
from sites.models import Document, Site
from sites.storage import SiteFiles
from tests.conftest import assert_counters_equal_ledger
from tests.work.s3_server import KEYS, s3_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def years_ago(days: int):
    return timezone.now() - timedelta(days=days)


def pruned(*names: str, dry_run: bool = False) -> dict[str, int]:
    done = list(prune(list(names), dry_run=dry_run))
    assert [each.error for each in done if each.error] == []
    return {each.what: each.count for each in done if each.count}


@pytest.fixture
def old_runs(make_site, trivial_jobs, run_jobs, settings) -> Site:
    """Six runs of a site, all but the last a year ago."""
    settings.KEEP_RUNS = 2
    site = make_site(titles=["ok", "bad"])
    for _ in range(6):
        flow.start(site.pk)
        run_jobs()
    last = Run.objects.order_by("pk").last()
    assert last is not None
    Run.objects.exclude(pk=last.pk).update(started_at=years_ago(365))
    return site


def test_of_old_runs_the_newest_few_stay_and_the_ledger_loses_no_row(old_runs):
    newest = list(Run.objects.order_by("-pk").values_list("pk", flat=True)[:2])
    rows = DocumentState.objects.count()

    assert pruned("runs", dry_run=True) == {"runs": 4}
    assert Run.objects.count() == 6
    assert pruned("runs") == {"runs": 4}

    assert list(Run.objects.order_by("-pk").values_list("pk", flat=True)) == newest
    assert set(RunStage.objects.values_list("run_id", flat=True)) == set(newest)
    assert set(LogLine.objects.values_list("run_id", flat=True)) <= set(newest)
    assert DocumentState.objects.count() == rows
    assert pruned("runs") == {}
    assert_counters_equal_ledger()
    assert verify().ok


def test_a_run_that_is_running_or_where_the_site_stands_stays_however_old(old_runs, settings):
    settings.KEEP_RUNS = 1
    flow.start(old_runs.pk)
    Run.objects.update(started_at=years_ago(800))
    running = Run.objects.running().get()
    assert pruned("runs") == {"runs": 6}
    assert Run.objects.get() == running
    assert_counters_equal_ledger()


def test_history_goes_by_age_and_what_waits_stays(old_runs):
    for number in range(105):
        ReconcileRun.objects.create(started_at=years_ago(100 if number else 3))
    hook = Webhook.objects.create(url="https://example.org/hook")
    run = Run.objects.latest("pk")
    for status in ("pending", "delivered"):
        event = "completed" if status == "pending" else "failed"
        WebhookDelivery.objects.create(
            webhook=hook, run=run, event=event, payload={}, status=status, next_attempt_at=timezone.now()
        )
    WebhookDelivery.objects.update(created_at=years_ago(91))
    for key, days in (("old", 1), ("new", -1)):
        Session.objects.create(session_key=key, session_data="", expire_date=years_ago(days))

    done = pruned("reconcile", "deliveries", "sessions")

    assert done == {"passes of reconcile": 4, "webhook deliveries": 1, "sessions that are over": 1}
    assert ReconcileRun.objects.count() == 101
    assert WebhookDelivery.objects.get().status == "pending"
    assert Session.objects.get().session_key == "new"


def test_files_of_superseded_versions_go_only_where_that_is_asked_for(make_site, make_documents, settings):
    site = make_site()
    documents = make_documents(site, ["superseded", "current", "unread"])
    for document in documents:
        put(site, document.path, b"%PDF")
        document.ledger.update(attempt_count=1)
    for document in documents[:2]:
        row = DocumentState.objects.get(document=document)
        row.pk, row.pipeline = None, "ocr"
        row.save()
        put(site, f"txt/Council/{Path(document.path).stem}/1.txt", b"text")
    old = Document.objects.filter(pk__in=[documents[0].pk, documents[2].pk])
    old.update(superseded_at=years_ago(400), size=4)

    assert pruned("superseded") == {}
    settings.KEEP_SUPERSEDED_DAYS = 365
    assert pruned("superseded") == {"files of superseded versions": 1}
    assert pruned("superseded") == {}

    files = SiteFiles.of(site.pk)
    assert [files.file(document.path).exists() for document in documents] == [False, True, True]
    assert (files.text_dir(documents[0].path) / "1.txt").exists()
    settings.SEARCH_INDEX = False
    found = verify(with_files=True)
    assert found.ok, found.problems


def put(site: Site, path: str, content: bytes, hours: float = 0) -> Path:
    file = SiteFiles.of(site.pk).root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    os.utime(file, (time.time() - 3600 * hours,) * 2)
    return file


def test_what_killed_processes_left_goes_and_what_they_may_still_write_stays(make_site):
    site = make_site()
    old = [
        put(site, name, b"x", 3) for name in (".tmp/deploy-1.db", "txt/C/1/2.txt.partial", ".x.db.1.building")
    ]
    new = [put(site, name, b"x", 1) for name in (".tmp/deploy-2.db", "txt/C/1/3.txt.partial")]
    kept = [
        put(site, name, b"x", 99)
        for name in ("txt/C/1/1.txt", "pdfs/C/1.pdf", "meetings.db", "pdfs/C/a.part")
    ]

    pruned("leftovers")

    assert [path.exists() for path in (*old, *new, *kept)] == [False] * 3 + [True] * 6


def test_the_local_copy_of_shared_files_has_a_bound(make_site, settings, monkeypatch, tmp_path):
    """The longest unused goes first; nothing that is in use, or that nobody else has."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    settings.STORAGE_CACHE_MB = 1
    quiet, busy = make_site("quiet.il"), make_site("busy.il")
    with s3_server("shared") as endpoint:
        settings.STORAGE_URL = f"s3://shared/x?endpoint={endpoint}"
        with shared() as storage:
            files = [put(quiet, f"pdfs/C/{n}.pdf", os.urandom(600_000), 50) for n in range(3)]
            pages = put(quiet, "txt/C/2024/1.txt", b"text" * 50_000, 50).parent
            os.utime(pages, (time.time() - 50 * 3600,) * 2)
            in_run = put(busy, "pdfs/C/1.pdf", os.urandom(600_000), 50)
            for path in (*files, pages, in_run):
                storage.push(path)
            for memory in (Path(settings.STORAGE_DIR) / ".shared").iterdir():
                age(memory, 50)
            alone = put(quiet, "pdfs/C/alone.pdf", os.urandom(600_000), 50)
            put(quiet, "pdfs/C/1.pdf", os.urandom(600_000))
            storage.pull(files[2])
        Run.objects.create(site=busy, started_at=timezone.now())
        dry = pruned("cache", dry_run=True)
        assert files[0].exists()

        done = pruned("cache")

        there = {path.name: path.exists() for path in (*files, pages, alone)}
        assert there == {
            "0.pdf": False,
            "1.pdf": True,  # changed here, and not pushed yet
            "2.pdf": True,  # used a moment ago
            "2024": False,
            "alone.pdf": True,
        }
        assert in_run.exists()
        assert done == {"local copies of shared files": 2}
        assert dry
        with shared() as storage:
            storage.pull(pages)
            storage.pull(files[0])
        assert pages.is_dir()
        assert files[0].stat().st_size == 600_000


def age(memory: Path, hours: float) -> None:
    # The content was shared after it was written.
    moment = time.time() - 3600 * hours + 1
    os.utime(memory, (moment, moment))


def test_the_trouble_of_one_part_stops_no_other(old_runs, monkeypatch):
    def away(now, dry_run):
        raise OSError("the disk is away")

    monkeypatch.setattr(pruning.tidying, "leftovers", away)
    done = {each.what: each for each in prune([], dry_run=False)}

    assert done["files that killed processes left"].error == "the disk is away"
    assert done["runs"].count == 4


def test_acts_on_many_looks_and_days_of_errors_go_when_they_are_old(settings):
    settings.KEEP_HISTORY_DAYS = 90
    for days in (10, 100):
        then = years_ago(days)
        act = BulkAct.objects.create(
            act="retry", label="Retry", began_at=then, updated_at=then, finished_at=then
        )
        act.items.create(key="alameda.ca")
        Look.objects.create(url=f"https://{days}.example", began_at=then)
        group, _ = ErrorGroup.objects.get_or_create(
            fingerprint="0" * 16,
            defaults={"code": "corrupt", "stage": "ocr", "first_seen": then, "last_seen": then},
        )
        ErrorDay.objects.create(group=group, day=then.date(), count=1)
    BulkAct.objects.create(act="retry", label="Still at it", began_at=years_ago(100), updated_at=years_ago(1))

    assert sum(pruned("acts", "looks", "errors").values()) == 3

    assert {act.label for act in BulkAct.objects.all()} == {"Retry", "Still at it"}
    assert [look.url for look in Look.objects.all()] == ["https://10.example"]
    assert (ErrorDay.objects.count(), ErrorGroup.objects.count()) == (1, 1)
