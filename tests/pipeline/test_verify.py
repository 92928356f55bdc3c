"""`verify` finds nothing on a healthy database, and each of many deliberate corruptions by its name."""

import json
import shutil
import uuid
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.utils import timezone

from pipeline import flow, workload
from pipeline.models import DocumentState, Intervention, ReconcileRun, Run, Status
from pipeline.stages.compilation import compile_site
from pipeline.verify import files, ledger, query_plans, schema, verify
from sites import storage
from sites.models import Document, Site
from sites.stages import Stage
from sites.storage import SiteFiles
from tests.conftest import assert_counters_equal_ledger, wait_for

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trivial_jobs"),
]


@pytest.fixture
def healthy(make_site, run_jobs) -> Site:
    """Sites in every state that is right: one went through, one is in the middle, one is new."""
    site = make_site("done.test", titles=["ok", "bad", "flaky"])
    flow.start(site.pk)
    run_jobs()
    flow.start(make_site("waiting.test", titles=["ok"]).pk)
    make_site("new.test")
    site.refresh_from_db()
    return site


def found(**options):
    return {problem.check for problem in verify(**options).problems}


def sql(*statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def test_a_healthy_database_has_no_findings(healthy):
    report = verify()

    assert report.problems == [] and report.ok
    assert report.checked == ["schema", "ledger", "queries", "search"]


def test_while_jobs_run_nothing_is_found_either(make_site, run_jobs):
    flow.start(make_site(titles=["ok", "ok"]).pk)
    for only in ("fetch", "high", "ocr", "high", "compilation"):
        run_jobs(only=only)
        assert found() == set()


def test_jobs_can_finish_while_the_ledger_is_read(healthy, in_processes, tmp_path):
    def one_of_two(number):
        if number == 0:
            with ledger.one_moment():
                before = Site.objects.get(pk=healthy.pk).pages
                (tmp_path / "reading").touch()
                wait_for(tmp_path / "written")
                assert Site.objects.get(pk=healthy.pk).pages == before
        else:
            wait_for(tmp_path / "reading")
            Site.objects.filter(pk=healthy.pk).update(pages=4242)
            (tmp_path / "written").touch()

    assert in_processes(2, one_of_two) == [0, 0]
    assert Site.objects.get(pk=healthy.pk).pages == 4242


# ---- Corruptions of the schema ------------------------------------------------------------------------


def meta(model, name):
    return next(one for one in (*model._meta.indexes, *model._meta.constraints) if one.name == name)


@contextmanager
def without(model, *names):
    """Without these indexes or constraints; SQLite makes the table anew for it, and forgets the trigger."""
    wanted = [meta(model, name) for name in names]
    for one in wanted:
        take_away(model, one)
    schema.restore_trigger()
    try:
        yield
    finally:
        DocumentState.objects.all().delete()
        for one in wanted:
            is_index = one in model._meta.indexes
            with connection.schema_editor() as editor:
                (editor.add_index if is_index else editor.add_constraint)(model, one)
        schema.restore_trigger()


def take_away(model, one):
    with connection.schema_editor() as editor:
        if one in model._meta.indexes:
            return editor.remove_index(model, one)
        # On SQLite the new table gets the constraints that the model has at this moment.
        constraints = model._meta.constraints
        model._meta.constraints = [other for other in constraints if other is not one]
        try:
            editor.remove_constraint(model, one)
        finally:
            model._meta.constraints = constraints


@contextmanager
def changed(do, undo):
    sql(*do)
    try:
        yield
    finally:
        sql(*undo)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (DocumentState, "idx_dps_error_code"),
        (DocumentState, "idx_dps_pipeline_status_created"),
        (Site, "idx_sites_updated_at"),
        (DocumentState, "ck_dps_status"),
        (DocumentState, "uix_dps_document_pipeline"),
        (Run, "uix_runs_one_running"),
    ],
)
def test_a_missing_index_or_constraint_is_found(model, name, healthy):
    with without(model, name):
        [problem] = [one for one in verify().problems if one.check == "missing indexes and constraints"]
    assert problem.count == 1 and name in problem.examples[0]


def test_an_index_on_other_columns_is_found(healthy):
    do = [
        "DROP INDEX idx_dps_updated_at",
        "CREATE INDEX idx_dps_updated_at ON document_pipeline_state (unit)",
    ]
    undo = [do[0], "CREATE INDEX idx_dps_updated_at ON document_pipeline_state (updated_at)"]
    with changed(do, undo):
        assert "indexes and constraints that are not what they should be" in found()


def test_a_partial_index_that_became_whole_is_found(healthy):
    columns = "ON sites (subdomain, coordinator_enqueued)"
    drop = "DROP INDEX idx_sites_coordinator_enqueued"
    condition = "WHERE NOT coordinator_enqueued"
    do = [drop, f"CREATE INDEX idx_sites_coordinator_enqueued {columns}"]
    with changed(do, [drop, f"CREATE INDEX idx_sites_coordinator_enqueued {columns} {condition}"]):
        assert "indexes and constraints that are not what they should be" in found()


def test_a_missing_column_is_found_and_the_data_are_not_asked(healthy):
    with changed(
        ["ALTER TABLE sites RENAME COLUMN pause_reason TO gone"],
        ["ALTER TABLE sites RENAME COLUMN gone TO pause_reason"],
    ):
        assert {"missing columns", "the data could not be checked"} <= found()


def test_a_missing_table_is_found(healthy):
    with changed(
        ["ALTER TABLE reconcile_runs RENAME TO gone"], ["ALTER TABLE gone RENAME TO reconcile_runs"]
    ):
        assert {"missing tables", "the data could not be checked"} <= found()


def test_a_missing_default_is_found(healthy):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite cannot take a default away")
    with changed(
        ["ALTER TABLE sites ALTER ocr_total DROP DEFAULT"],
        ["ALTER TABLE sites ALTER ocr_total SET DEFAULT 0"],
    ):
        assert found() == {"columns without their database default"}


def test_a_missing_trigger_is_found_and_brought_back(healthy, capsys):
    table = " ON document_pipeline_state" if connection.vendor == "postgresql" else ""
    sql(f"DROP TRIGGER trg_dps_legal_moves{table}")
    assert found() == {"the trigger that refuses illegal moves is missing or disabled"}

    call_command("verify", apply_migrations=True)
    assert found() == set()


def test_a_changed_type_and_a_dropped_not_null_are_found(healthy):
    if connection.vendor != "postgresql":
        return  # its types are only leanings, and it has no ALTER COLUMN
    with changed(
        [
            "ALTER TABLE documents ALTER version TYPE bigint",
            "ALTER TABLE sites ALTER ocr_total DROP NOT NULL",
        ],
        [
            "ALTER TABLE documents ALTER version TYPE integer",
            "ALTER TABLE sites ALTER ocr_total SET NOT NULL",
        ],
    ):
        [problem] = verify().problems

    assert problem.examples == (
        "sites.ocr_total: integer NULL instead of integer NOT NULL",
        "documents.version: bigint NOT NULL instead of integer NOT NULL",
    )


def test_pending_drops_are_a_note_and_nothing_wrong(healthy):
    with changed(
        ["UPDATE django_migrations SET name = 'x' WHERE app = 'sites' AND name = '0005_drop_legacy_columns'"],
        ["UPDATE django_migrations SET name = '0005_drop_legacy_columns' WHERE name = 'x'"],
    ):
        report = verify()

    assert report.ok
    assert report.notes[0].startswith("not dropped yet: sites.0005_drop_legacy_columns")


def test_an_unapplied_migration_is_found(healthy):
    with changed(
        ["UPDATE django_migrations SET name = 'x' WHERE app = 'pipeline' AND name = '0002_legal_moves'"],
        ["UPDATE django_migrations SET name = '0002_legal_moves' WHERE name = 'x'"],
    ):
        [problem] = [one for one in verify().problems if one.check == "unapplied migrations"]
    assert "pipeline.0002_legal_moves" in problem.examples


def test_a_query_that_no_index_serves_is_found(healthy):
    if connection.vendor != "postgresql":
        assert list(query_plans.problems()) == []
        return
    with without(DocumentState, "idx_dps_updated_at"):
        [problem] = list(query_plans.problems())
    assert problem.examples == ("latest changes of rows",)


# ---- Corruptions of the data --------------------------------------------------------------------------


@contextmanager
def unchecked():
    """The database's own CHECKs look away."""
    if connection.vendor == "sqlite":
        with changed(["PRAGMA ignore_check_constraints = ON"], ["PRAGMA ignore_check_constraints = OFF"]):
            yield
    else:
        with without(DocumentState, "ck_dps_status", "ck_dps_pipeline", "ck_dps_document_or_unit"):
            yield


def add_row(site, **values):
    now = timezone.now()
    return DocumentState.objects.create(site=site, created_at=now, updated_at=now, **values)


def new_document(site, number=99):
    return Document.objects.create(site=site, external_id=str(number), meeting="Council")


def test_two_rows_of_a_document_in_a_stage_are_found(healthy):
    document = new_document(healthy)
    with without(DocumentState, "uix_dps_document_pipeline"):
        for _ in range(2):
            add_row(healthy, document=document, pipeline="ocr")
        assert "documents with more than one row in a stage" in found()


def test_two_rows_of_a_unit_in_a_stage_are_found(healthy):
    with without(DocumentState, "uix_dps_site_pipeline_unit"):
        for _ in range(2):
            add_row(healthy, unit="source:99", pipeline="fetch")
        assert "units with more than one row in a stage" in found()


@pytest.mark.parametrize(
    ("values", "check"),
    [
        ({"status": "done", "pipeline": "ocr", "unit": "x"}, "rows with an invalid status"),
        ({"pipeline": "translation", "unit": "x"}, "rows of an unknown stage"),
        ({"pipeline": "ocr", "unit": ""}, "rows of neither a document nor a unit, or of both"),
    ],
)
def test_a_row_that_the_constraints_forbid_is_found(values, check, healthy):
    with unchecked():
        add_row(healthy, **values)
        assert check in found()


@pytest.mark.parametrize(
    ("values", "check"),
    [
        ({"status": "in_progress"}, "rows in progress in a run that is over"),
        ({"status": "in_progress"}, "rows in progress that nobody holds"),
        ({"status": "pending", "attempt_token": uuid.uuid4()}, "rows that are held and not in progress"),
        ({"status": "processed", "attempt_count": 1}, "processed rows without a time"),
        ({"status": "processed", "processed_at": timezone.now()}, "processed rows that were never tried"),
        ({"status": "failed_terminal", "attempt_count": 1}, "failed rows without an error code"),
    ],
)
def test_a_row_that_nothing_in_clerk_writes_is_found(values, check, healthy):
    add_row(healthy, unit="source:99", pipeline="fetch", **values)

    assert check in found()


def test_a_row_of_another_sites_document_is_found(healthy, make_site):
    add_row(make_site("other"), document=new_document(healthy), pipeline="ocr")

    assert found() == {"rows whose document is another site's"}


def test_a_row_whose_document_does_not_exist_is_found(healthy):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL does not let it happen")
    with connection.constraint_checks_disabled():
        add_row(healthy, document_id=424242, pipeline="ocr")
        assert "rows whose document does not exist" in found()
        DocumentState.objects.filter(document_id=424242).delete()


@pytest.mark.parametrize(
    ("values", "checks"),
    [
        ({"ocr_completed": 3}, {"counters unequal to the ledger", "sites with impossible counters"}),
        (
            {"extraction_total": 3},
            {"counters unequal to the ledger", "sites past a stage with unfinished counters"},
        ),
        (
            {"deploy_failed": -1},
            {
                "counters unequal to the ledger",
                "sites with impossible counters",
                "sites past a stage with unfinished counters",
            },
        ),
        (
            {"current_stage": "archive"},
            {"sites in an unknown stage", "sites that stand in a stage while their run is over"},
        ),
        ({"current_stage": None}, {"sites with a run and in no stage"}),
        ({"current_stage": "ocr"}, {"sites that stand in a stage while their run is over"}),
        ({"run_id": 424242}, {"sites whose run does not exist", "counters unequal to the ledger"}),
    ],
)
def test_a_site_that_is_not_where_it_can_be_is_found(values, checks, healthy):
    Site.objects.filter(pk=healthy.pk).update(**values)

    assert found() == checks


def test_a_claim_that_came_too_early_is_found(healthy):
    Site.objects.filter(pk="waiting.test").update(coordinator_enqueued=True)

    assert found() == {"sites claimed before their stage was done"}


def test_a_running_run_that_is_not_its_sites_is_found(healthy):
    Site.objects.filter(pk="waiting.test").update(run_id=None, current_stage=None, fetch_total=0)

    assert found() == {"running runs that are not their site's"}


def test_a_completed_site_whose_run_failed_is_found(healthy):
    Run.objects.filter(pk=healthy.run_id).update(status="failed")

    assert found() == {"completed sites whose run is not completed"}


def test_a_run_whose_end_and_status_disagree_is_found(healthy):
    Run.objects.filter(pk=healthy.run_id).update(finished_at=None)

    assert found() == {"runs whose end and status disagree"}


# ---- Files --------------------------------------------------------------------------------------------


@pytest.fixture
def stored(healthy) -> SiteFiles:
    """The files that the site's ledger speaks of."""
    there = SiteFiles.of(healthy.pk)
    for document in healthy.documents.all():
        write(there.file(document.path), "%PDF-1.4 something")
        if DocumentState.objects.filter(document=document, pipeline="ocr", status="processed").exists():
            write(there.text_dir(document.path) / "1.txt", "Roll call")
        Document.objects.filter(pk=document.pk).update(size=18, url="https://city.test/a.pdf")
    compile_site(healthy.pk)
    return there


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def document_titled(title):
    return Document.objects.get(title=title)


def test_files_that_agree_with_the_ledger_give_no_finding(stored):
    assert found(with_files=True) == set()


def test_a_file_that_was_cleaned_up_after_it_was_read_is_no_finding(stored):
    stored.file(document_titled("ok").path).unlink()

    assert found(with_files=True) == set()


def test_a_missing_file_is_found_and_fetched_again_by_the_next_run(stored, run_jobs):
    document = document_titled("bad")  # fetched, and never read
    stored.file(document.path).unlink()
    assert found(with_files=True) == {"fetched documents without their file"}

    report = verify(with_files=True, fix=True)

    assert report.ok and len(report.mended) == 1
    assert_counters_equal_ledger()
    assert document in (workload.work_for(document.site_id, Stage.FETCH).documents or ())
    assert Intervention.objects.get(document=document).action == "verify --files --fix"
    assert found() == set()


def test_a_missing_text_is_found_and_read_again_by_the_next_run(stored):
    document = document_titled("ok")
    (stored.text_dir(document.path) / "1.txt").unlink()
    assert found(with_files=True) == {"read documents without their text"}

    assert verify(with_files=True, fix=True).ok
    assert document in (workload.work_for(document.site_id, Stage.OCR).documents or ())
    assert_counters_equal_ledger()


def test_a_file_of_another_size_is_found_kept_and_fetched_again(stored):
    document = document_titled("ok")
    file = stored.file(document.path)
    file.write_text("cut off")
    assert found(with_files=True) == {"files that are not of the size that was fetched"}

    verify(with_files=True, fix=True)

    assert file.with_name(file.name + ".damaged").read_text() == "cut off"
    assert document in (workload.work_for(document.site_id, Stage.FETCH).documents or ())


def test_a_file_without_a_row_is_found_and_becomes_a_document(stored):
    write(stored.root / "pdfs/Council/2024-01-15.pdf", "%PDF-1.4 x")
    assert found(with_files=True) == {"files that no document has"}

    assert verify(with_files=True, fix=True).ok

    document = Document.objects.get(path="pdfs/Council/2024-01-15.pdf")
    assert (str(document.meeting_date), document.meeting, document.size) == ("2024-01-15", "Council", 10)
    assert document in (workload.work_for(document.site_id, Stage.OCR).documents or ())
    assert found(with_files=True) == set()


def test_a_text_without_a_row_is_found_and_becomes_a_document_that_is_read(stored):
    write(stored.root / "_agendas/txt/Council/2024-01-15/1.txt", "Roll call")
    assert found(with_files=True) == {"texts that no document has"}

    assert verify(with_files=True, fix=True).ok

    document = Document.objects.get(path="_agendas/pdfs/Council/2024-01-15.pdf")
    assert document.kind == "agenda"
    assert document in (workload.work_for(document.site_id, Stage.EXTRACTION).documents or ())


def test_a_missing_database_and_a_folder_of_no_site_are_found_and_left(stored, settings):
    stored.database.unlink()
    write(settings.STORAGE_DIR / "nobody.test/pdfs/a.pdf", "x")
    both = {"compiled sites without their database", "folders of sites that do not exist"}

    assert found(with_files=True) == both == found(with_files=True, fix=True)
    assert (settings.STORAGE_DIR / "nobody.test/pdfs/a.pdf").exists()


def test_storage_that_is_not_there_is_no_loss_of_every_document(stored, settings):
    before = list(DocumentState.objects.order_by("pk").values())
    settings.STORAGE_DIR.rename(settings.STORAGE_DIR.with_name("not mounted"))
    settings.STORAGE_DIR.mkdir()

    with pytest.raises(CommandError, match="is its disk mounted") as ended:
        call_command("verify", files=True, fix=True)

    assert ended.value.returncode == 2
    assert list(DocumentState.objects.order_by("pk").values()) == before


def test_what_another_machine_fetched_and_read_is_not_missing(stored, settings, monkeypatch):
    """The storage that machines share, with a folder for its server."""
    elsewhere = settings.STORAGE_DIR.with_name("elsewhere")
    settings.STORAGE_DIR.rename(elsewhere)
    settings.STORAGE_URL = "s3://shared"

    class Folder(storage.OneMachine):
        def pull_all(self, folder):
            shutil.copytree(elsewhere / folder.name, folder) if (elsewhere / folder.name).exists() else None

    monkeypatch.setattr(files, "share", Folder)

    assert found(with_files=True) == set()


def test_a_document_without_an_address_cannot_be_fetched_again_and_is_named(stored):
    document = document_titled("bad")
    Document.objects.filter(pk=document.pk).update(url="")
    stored.file(document.path).unlink()

    report = verify(with_files=True, fix=True)

    assert not report.mended
    assert report.problems[0].examples == (f"{document.site_id}/{document.path}",)


def test_the_files_of_a_site_that_runs_are_not_touched(stored, healthy, run_jobs):
    document = document_titled("bad")
    stored.file(document.path).unlink()
    flow.start(healthy.pk)

    report = verify(with_files=True, fix=True)

    assert not report.mended and not report.ok
    assert DocumentState.objects.get(document=document, pipeline="fetch").status == Status.PROCESSED


# ---- The command --------------------------------------------------------------------------------------


def test_the_command_says_all_holds_with_exit_code_0(healthy, capsys):
    call_command("verify")

    assert capsys.readouterr().out == "all holds: schema, ledger, queries, search\n"


def test_the_command_names_each_finding_with_its_count_and_mend_and_ends_with_1(healthy, capsys):
    Site.objects.filter(pk=healthy.pk).update(ocr_failed=2)
    with pytest.raises(CommandError) as ended:
        call_command("verify", json=True)

    answer = json.loads(capsys.readouterr().out)
    assert ended.value.returncode == 1 and answer["ok"] is False
    problem = next(one for one in answer["problems"] if one["check"] == "counters unequal to the ledger")
    assert problem["count"] == 1 and problem["mend"] == "manage.py reconcile"
    assert problem["examples"] == ["done.test ocr: counters 2+2 of 3, ledger 2+1 of 3"]


def test_the_command_ends_with_2_when_it_cannot_look(healthy, monkeypatch, capsys):
    def refuse():
        raise OperationalError("connection refused")

    monkeypatch.setattr(connection, "ensure_connection", refuse)
    with pytest.raises(CommandError, match="connection refused") as ended:
        call_command("verify", json=True)
    monkeypatch.undo()

    assert ended.value.returncode == 2
    assert json.loads(capsys.readouterr().out)["ok"] is False


def test_fix_without_files_is_refused(healthy):
    with pytest.raises(CommandError, match="--files") as ended:
        call_command("verify", fix=True)
    assert ended.value.returncode == 2


def test_the_preflight_is_part_of_the_verdict(healthy, capsys):
    with pytest.raises(CommandError):
        call_command("verify", preflight=True)
    assert "no run so far" in capsys.readouterr().out

    for hours in range(0, 8 * 24, 6):
        at = timezone.now() - timedelta(hours=hours)
        ReconcileRun.objects.create(started_at=at, finished_at=at)
    call_command("verify", preflight=True, json=True)
    assert [one["ok"] for one in json.loads(capsys.readouterr().out)["preflight"]] == [True] * 5
