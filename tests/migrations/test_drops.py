"""The drops refuse until the new state is trusted, and undoing them gives the old code what it reads."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management.base import CommandError
from django.utils import timezone
from structlog.testing import capture_logs

from pipeline.models import Intervention, ReconcileRun
from sites.models import Site

LEGACY = "status, extraction_status, last_updated, last_deployed, last_extracted"
LONG_AGO = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
TABLES_OF_THE_DROPS = {
    "site_progress", "kept_site_progress", "kept_legacy_columns", "refilled_site_progress",
}  # fmt: skip


@pytest.fixture(autouse=True)
def may_go_back(settings):
    settings.CLERK_ALLOW_DELETION = True


@pytest.fixture
def standing(database):
    """A database at the state columns, with the tables of the pipeline."""
    database.migrate("pipeline")
    return database


def add_site(database, subdomain, stage="completed", status="deployed", **values):
    run = 1 if stage else None  # one that Clerk has run
    site = Site(subdomain=subdomain, current_stage=stage, run_id=run, updated_at=timezone.now(), **values)
    site.save(force_insert=True)
    database.execute("UPDATE sites SET status = %s WHERE subdomain = %s", status, subdomain)


def add_progress(database, subdomain, stage="ocr", at=LONG_AGO):
    moment = at if database.vendor == "postgresql" else str(at.replace(tzinfo=None))
    database.execute(
        "INSERT INTO site_progress"
        " (subdomain, current_stage, stage_total, stage_completed, started_at, updated_at)"
        " VALUES (%s, %s, 15, 12, %s, %s)",
        subdomain,
        stage,
        moment,
        moment,
    )


def bake(found=0):
    """A week and a day of reconcile, every few hours."""
    for hours in range(0, 8 * 24, 6):
        at = timezone.now() - timedelta(hours=hours)
        ReconcileRun.objects.create(started_at=at, finished_at=at, found=found)


def legacy_of(database, subdomain):
    return database.one(f"SELECT {LEGACY} FROM sites WHERE subdomain = %s", subdomain)


def touched_at(subdomain):
    return f"{Site.objects.get(pk=subdomain).updated_at:%Y-%m-%dT%H:%M:%S}"


def columns(database):
    return {column for (column,) in database.rows(_COLUMNS[database.vendor])}


_COLUMNS = {
    "postgresql": "SELECT column_name FROM information_schema.columns WHERE table_name = 'sites'",
    "sqlite": "SELECT name FROM pragma_table_info('sites')",
}


def test_on_an_empty_database_the_drops_just_run(database):
    database.migrate("sites")

    assert "site_progress" not in database.tables()
    assert not set(LEGACY.split(", ")) & columns(database)


def test_before_the_bake_each_failed_criterion_is_named_and_nothing_changes(standing):
    add_site(standing, "stuck.ca", "ocr")
    Site.objects.update(updated_at=timezone.now() - timedelta(hours=3))
    Intervention.objects.create(action="unstick", unstuck=True)
    add_progress(standing, "stuck.ca", at=timezone.now())

    with pytest.raises(CommandError) as refused:
        standing.migrate("sites")

    message = str(refused.value)
    for reason in (
        "stuck sites under 1 %: 1 of 1 (100.00 %)",
        "health at least 95 %: 0.00 %",
        "each of the last 10 reconcile runs, over at least 24 hours, found fewer than 5: no run so far",
        "Clerk has been at work for 7 days: since",
        "no intervention that unstuck a site for 7 days: 1 in the last 7 days",
        "site_progress has no row written in the last 24 hours: 1 rows",
        "CLERK_ALLOW_DROPS",
    ):
        assert reason in message
    assert "carried over" not in message
    assert standing.one("SELECT current_stage FROM site_progress") == "ocr"
    assert not TABLES_OF_THE_DROPS - {"site_progress"} & standing.tables()


def test_after_the_bake_they_pass(standing):
    add_site(standing, "done.ca")
    add_progress(standing, "done.ca")
    bake(found=4)

    standing.migrate("sites")

    assert "site_progress" not in standing.tables()
    assert "status" not in columns(standing)
    assert Site.objects.get().current_stage == "completed"


def test_a_row_written_yesterday_evening_is_too_fresh(standing):
    add_site(standing, "done.ca")
    add_progress(standing, "done.ca", at=timezone.now() - timedelta(hours=23))
    bake()

    with pytest.raises(CommandError, match="24 hours: 1 rows") as refused:
        standing.migrate("sites", "0004")
    assert str(refused.value).count("\n  - ") == 1


def test_a_site_that_was_not_carried_over_keeps_the_table(standing):
    add_site(standing, "done.ca")
    add_site(standing, "left.ca", None)
    add_progress(standing, "left.ca")
    bake()

    with pytest.raises(CommandError, match="1 sites left; run"):
        standing.migrate("sites", "0004")


def test_the_columns_are_judged_anew(standing):
    add_site(standing, "done.ca")
    bake()
    standing.migrate("sites", "0004")
    Intervention.objects.create(action="unstick", unstuck=True)

    with pytest.raises(CommandError, match="no intervention"):
        standing.migrate("sites", "0005")
    assert "status" in columns(standing)


def test_the_setting_overrides_and_is_logged(standing, settings):
    add_site(standing, "stuck.ca", "ocr")
    settings.CLERK_ALLOW_DROPS = True

    with capture_logs() as logs:
        standing.migrate("sites")

    assert "site_progress" not in standing.tables()
    assert [entry["dropping"] for entry in logs] == ["site_progress", "the legacy columns of sites"]
    assert all(entry["log_level"] == "warning" and entry["failed"] for entry in logs)


def test_undoing_the_drops_fills_what_the_old_code_reads(standing, settings):
    settings.CLERK_ALLOW_DROPS = True
    counts = {"ocr_total": 15, "ocr_completed": 12, "ocr_failed": 3, "extraction_total": 12}
    for stage in ("fetch", "ocr", "compilation", "extraction", "deploy", "completed"):
        add_site(standing, f"{stage}.ca", stage, "stale", last_completed_at=LONG_AGO, **counts)
    add_site(standing, "empty.ca", "completed", "stale", last_error_stage="fetch")
    add_site(standing, "never.ca", None, "deployed")
    standing.execute(
        "UPDATE sites SET last_deployed = '2023-01-01' WHERE subdomain IN ('never.ca', 'empty.ca')"
    )
    add_progress(standing, "ocr.ca")
    add_progress(standing, "never.ca", "fetch")
    add_progress(standing, "unknown-to-sites.ca")
    standing.migrate("sites")

    standing.migrate("sites", "0003")

    statuses = dict(standing.rows("SELECT subdomain, status FROM sites"))
    assert statuses == {
        "fetch.ca": "stale",
        "ocr.ca": "needs_ocr",
        "compilation.ca": "needs_extraction",
        "extraction.ca": "needs_extraction",
        "deploy.ca": "needs_deploy",
        "completed.ca": "deployed",
        "empty.ca": "no_documents",
        "never.ca": "deployed",
    }
    at = "2024-05-06T07:08:09"
    touched = touched_at("completed.ca")
    assert legacy_of(standing, "completed.ca") == ("deployed", "completed", touched, at, at)
    assert legacy_of(standing, "ocr.ca") == ("needs_ocr", "pending", touched_at("ocr.ca"), at, None)
    assert legacy_of(standing, "never.ca") == ("deployed", "pending", None, "2023-01-01", None)
    assert legacy_of(standing, "empty.ca")[3] == "2023-01-01"
    progress = {
        row[0]: row[1:]
        for row in standing.rows(
            "SELECT subdomain, current_stage, stage_total, stage_completed FROM site_progress"
        )
    }
    assert progress["ocr.ca"] == ("ocr", 15, 12)
    assert progress["extraction.ca"] == ("extraction", 12, 0)
    assert progress["completed.ca"] == ("completed", 0, 0)
    assert progress["never.ca"] == ("fetch", 15, 12)
    assert progress["unknown-to-sites.ca"] == ("ocr", 15, 12)
    assert TABLES_OF_THE_DROPS & standing.tables() == {"site_progress", "refilled_site_progress"}


def test_after_undoing_them_they_may_go_ahead_at_once(standing):
    """What undoing wrote into the old table is Clerk's own, however new it is."""
    add_site(standing, "done.ca")
    add_progress(standing, "done.ca")
    bake()
    standing.migrate("sites")
    standing.migrate("sites", "0003")

    standing.migrate("sites", "0004")
    assert not TABLES_OF_THE_DROPS - {"kept_site_progress"} & standing.tables()


def test_what_the_old_system_writes_after_they_were_undone_stops_them(standing):
    add_site(standing, "done.ca")
    bake()
    standing.migrate("sites")
    standing.migrate("sites", "0003")
    moment = timezone.now() + timedelta(seconds=1)
    value = moment if standing.vendor == "postgresql" else str(moment.replace(tzinfo=None))
    standing.execute("UPDATE site_progress SET updated_at = %s", value)

    with pytest.raises(CommandError, match="24 hours: 1 rows"):
        standing.migrate("sites", "0004")


def test_forward_back_to_the_old_schema_and_forward_again(standing, settings):
    settings.CLERK_ALLOW_DROPS = True
    add_site(standing, "a.ca", "ocr", "stale", name="A", extra='{"x": 1}', ocr_total=3, ocr_completed=2)
    add_site(standing, "b.ca", None, "needs_extraction", name="B")
    Site.objects.filter(pk="a.ca").update(updated_at=LONG_AGO, started_at=LONG_AGO)
    standing.execute("CREATE TABLE job_tracking (rq_job_id varchar PRIMARY KEY)")
    standing.execute("INSERT INTO job_tracking VALUES ('kept')")
    standing.migrate("sites")
    assert "status" not in columns(standing)

    standing.migrate("sites", "0001")

    assert not {"current_stage", "run_id", "ocr_total"} & columns(standing)
    assert not {"documents", "runs", "document_pipeline_state"} & standing.tables()
    old = standing.rows("SELECT subdomain, name, extra, status FROM sites ORDER BY subdomain")
    assert old == [("a.ca", "A", '{"x": 1}', "needs_ocr"), ("b.ca", "B", None, "needs_extraction")]
    progress = standing.one("SELECT current_stage, stage_total, stage_completed FROM site_progress")
    assert progress == ("ocr", 3, 2)
    assert str(standing.one("SELECT updated_at FROM site_progress"))[:19] == "2024-05-06 07:08:09"

    standing.migrate("pipeline")
    assert standing.rows("SELECT subdomain, name, extra, status FROM sites ORDER BY subdomain") == old
    standing.migrate("sites")
    assert list(Site.objects.values_list("pk", "name", "extra")) == [
        ("a.ca", "A", '{"x": 1}'),
        ("b.ca", "B", None),
    ]
    assert standing.one("SELECT rq_job_id FROM job_tracking") == "kept"


def test_tables_that_hold_sites_outlive_the_last_step_back(standing):
    add_site(standing, "a.ca")

    standing.migrate("sites", "zero")

    assert standing.one("SELECT subdomain, status FROM sites") == ("a.ca", "deployed")
    standing.migrate("pipeline")
    assert Site.objects.get().pk == "a.ca"
