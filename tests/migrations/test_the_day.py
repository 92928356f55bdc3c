"""The day an installation of the old system switches, from its own tables and jobs to the end."""

import io
from pathlib import Path

import django_rq
import pytest
from django.core.management import call_command

from demo.legacy import installation
from demo.legacy.queue import snapshot
from pipeline.models import DocumentState, Run
from pipeline.takeover import old_jobs
from pipeline.takeover.old_jobs import Cleaned
from sites.models import Document, Site
from tests.conftest import assert_counters_equal_ledger

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def take_over(**options) -> str:
    out = io.StringIO()
    call_command("migrate_stuck_sites", stdout=out, **options)
    return out.getvalue()


def everything(database) -> dict[str, list[tuple]]:
    """Every row of every table."""
    return {
        table: sorted(database.rows(f'SELECT * FROM "{table}"'), key=str)
        for table in sorted(database.tables())
    }


def kill_half_way(database, lines: int) -> None:
    process = database.manage("migrate_stuck_sites")
    assert process.stdout is not None
    for _ in range(lines):
        process.stdout.readline()
    process.kill()
    process.communicate()


def test_all_105_sites_leave_ocr(database, settings, run_jobs, request):
    if database.vendor == "sqlite":
        request.getfixturevalue("trivial_jobs")  # the real ones have run on PostgreSQL
    queue = django_rq.get_connection("ocr")
    Path(settings.STORAGE_DIR).mkdir()
    old = installation.build(
        lambda sql, values: database.execute(sql, *values),
        Path(settings.STORAGE_DIR),
        queue,
        vendor=database.vendor,
    )
    times = dict(database.rows("SELECT subdomain, CAST(updated_at AS TEXT) FROM site_progress"))
    database.migrate("pipeline")
    before = everything(database), snapshot(queue)

    output = take_over(dry_run=True)

    assert (everything(database), snapshot(queue)) == before
    assert "Would migrate 105 sites (dry-run)\n" in output
    assert "Would remove 82 deferred coordinators and 2695 failed OCR jobs\n" in output

    kill_half_way(database, lines=40)
    migrated = Run.objects.count()
    assert 40 <= migrated < 105
    output = take_over()
    assert f"Migrated {105 - migrated} sites\n" in output
    assert old_jobs.count(queue) == Cleaned(0, 0)

    expected = {site: (completed, total, total - completed) for site, (completed, total) in old.truth.items()}
    stuck = Site.objects.filter(current_stage="ocr")
    counters = stuck.values_list("pk", "ocr_completed", "ocr_total", "ocr_failed")
    assert {pk: tuple(counts) for pk, *counts in counters} == expected
    assert expected["site1.ca.us"] == (12, 15, 3)
    assert all(f"{site.updated_at:%Y-%m-%d %H:%M:%S}" == times[site.pk][:19] for site in stuck)
    assert Document.objects.count() == sum(
        total for completed, total, failed in expected.values() if completed
    )
    assert_counters_equal_ledger(but=old.others)

    done = everything(database), snapshot(queue)
    assert "Migrated 0 sites" in take_over()
    assert (everything(database), snapshot(queue)) == done

    call_command("reconcile", stdout=io.StringIO())
    run_jobs()

    assert not Site.objects.filter(current_stage="ocr").exists()
    assert Site.objects.filter(current_stage="completed", pk__in=expected).count() == 105
    assert Run.objects.exclude(status="completed").count() == 0
    empty = [site for site, (completed, _, _) in expected.items() if not completed]
    without = Site.objects.filter(last_error_stage="fetch", pk__in=expected).values_list("pk", flat=True)
    assert sorted(without) == sorted(empty)
    assert set(Site.objects.filter(run_id=None).values_list("pk", flat=True)) == set(old.others)
    after = snapshot(queue)
    assert old_jobs.count(queue) == Cleaned(0, 0)
    assert all(f"rq:job:{job}".encode() in after for job in old.kept_jobs)
    assert_counters_equal_ledger(but=old.others)
    assert not DocumentState.objects.filter(status__in=["pending", "in_progress"]).exists()
