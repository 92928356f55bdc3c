"""`adopt_sites`: every site is taken over, so that its first run adds to its records and replaces nothing."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.db.models import F
from django.utils import timezone

from demo.legacy.storage import add_document, publish, published
from pipeline import flow
from pipeline.models import Adoption, DocumentState, Intervention, Publication, Run
from pipeline.reconcile import reconcile
from pipeline.takeover.every_site import adopt
from sites.models import Document, Site
from tests import pdfs
from tests.conftest import assert_counters_equal_ledger
from tests.takeover.conftest import forget_all_but_the_database

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
LONG_AGO = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


def let_time_pass() -> None:
    ago = timedelta(minutes=10)
    Site.objects.update(updated_at=F("updated_at") - ago)
    DocumentState.objects.update(updated_at=F("updated_at") - ago)


def run_to_the_end(run_jobs) -> None:
    """Reconcile and workers, as often as the guide says."""
    for _ in range(3):
        reconcile()
        run_jobs()
        let_time_pass()


def test_a_deployed_site_keeps_every_page_through_its_first_run(old_site, run_jobs, deployed, manage):
    folder = old_site()
    for number in range(1, 12):
        add_document(folder, f"2024-01-{number:02}", pages=1, text=f"Minutes of day {number}")
    publish(folder)
    before = set(published(folder).values())

    ran = manage("adopt_sites")

    assert ran.code == 0, ran.err
    site = Site.objects.get()
    assert (site.current_stage, site.ocr_total, site.ocr_completed) == ("completed", 11, 11)
    assert_counters_equal_ledger()
    flow.start(site.pk)
    run_jobs()
    site.refresh_from_db()
    assert (site.current_stage, site.last_error_message) == ("completed", None)
    assert deployed("a.ca") == before
    assert set(published_by_the_old_system(folder).values()) == before


def published_by_the_old_system(folder: Path) -> dict:
    """After the first compilation: put back as the rollback guide says."""
    shutil.copy(folder / "meetings.db.old", folder / "meetings.db")
    return published(folder)


def test_a_document_that_the_source_adds_comes_to_what_was_there(old_site, run_jobs, deployed):
    folder = old_site()
    for number in range(1, 12):
        add_document(folder, f"2024-01-{number:02}", pages=1, text=f"Minutes of day {number}")
    publish(folder)
    adopt(dry_run=False)
    add_document(
        folder, "2024-02-01", pdf=pdfs.digital([["The council adopted the new budget of the city."]])
    )
    new = Document.objects.create(
        site_id="a.ca", external_id="new", meeting="CityCouncil", path="pdfs/CityCouncil/2024-02-01.pdf"
    )
    now = timezone.now()
    DocumentState.objects.create(
        site_id="a.ca", document=new, pipeline="fetch", status="processed", attempt_count=1,
        created_at=now, updated_at=now, processed_at=now,
    )  # fmt: skip

    flow.start("a.ca")
    run_jobs()

    assert len(deployed("a.ca")) == 12


@pytest.mark.parametrize("stage", ["fetch", "compilation", "extraction", "deploy"])
def test_an_unfinished_site_goes_on_from_what_storage_proves(stage, old_site, run_jobs, deployed):
    folder = old_site(stage=stage)
    add_document(folder, "2024-01-01", pages=2, text="Roll call: all present.")
    add_document(folder, "2024-01-02", pdf=None, whole=True, text="Motion carried.")
    add_document(folder, "2024-01-03", pdf=pdfs.digital([["The unread minutes of the city council."]]))

    adopt(dry_run=False)
    run_to_the_end(run_jobs)

    site = Site.objects.get()
    assert (site.current_stage, site.last_error_message) == ("completed", None)
    assert {"Roll call: all present.", "Motion carried."} < deployed("a.ca")
    assert any("unread minutes" in text for text in deployed("a.ca"))
    assert_counters_equal_ledger()


def test_pages_that_only_the_old_database_has_become_texts(old_site, run_jobs, deployed):
    folder = old_site()
    add_document(folder, "2024-01-01", pages=3, text="Only in the database")
    add_document(folder, "2024-01-02", meeting="A/B", pages=1, agenda=True, text="An agenda")
    publish(folder)
    before = published(folder)
    forget_all_but_the_database(folder)

    (adopted,) = adopt(dry_run=False).sites

    assert (adopted.holdings.before.pages, adopted.holdings.pages, adopted.holdings.documents) == (4, 4, 2)
    flow.start("a.ca")
    run_jobs()
    assert deployed("a.ca") == set(before.values())
    assert set(Document.objects.values_list("kind", flat=True)) == {"minutes", "agenda"}


def test_a_dry_run_changes_nothing_and_foresees_what_is_done(old_site, settings, manage):
    folder = old_site(current_stage="extraction", updated_at=LONG_AGO)
    add_document(folder, "2024-01-01", pages=3)
    publish(folder)
    shutil.rmtree(folder / "txt")
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    foreseen = json.loads(manage("adopt_sites", "--dry-run", "--json").out)

    assert not any(model.objects.exists() for model in (Document, DocumentState, Run, Adoption, Intervention))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == files
    done = json.loads(manage("adopt_sites", "--json").out)
    assert done["sites"] == foreseen["sites"]
    assert done["sites"][0]["pages"] == 3


def test_a_second_time_finds_nothing_to_do(old_site, manage):
    add_document(old_site(), "2024-01-01", pages=3)
    old_site("b.ca")
    manage("adopt_sites")
    models = (Site, Document, DocumentState, Run, Adoption, Publication, Intervention)
    before = [list(model.objects.order_by("pk").values()) for model in models]

    ran = manage("adopt_sites")

    assert [list(model.objects.order_by("pk").values()) for model in models] == before
    assert "Took over 0 sites" in ran.out
    assert "2 sites had been taken over before" in ran.out


def test_a_half_read_document_is_read_whole_and_shown_until_then(old_site, run_jobs, deployed):
    words = "The council of the city met and approved page number"
    folder = old_site()
    add_document(
        folder, "2024-01-01", pages=2, text="Old text", pdf=pdfs.digital([[f"{words} {n}."] for n in "123"])
    )
    (adopted,) = adopt(dry_run=False).sites
    assert (adopted.holdings.documents, adopted.holdings.read, adopted.holdings.pages) == (1, 0, 2)

    flow.start("a.ca", first="compilation")
    run_jobs()
    assert deployed("a.ca") == {"Old text"}

    flow.start("a.ca", first="ocr")
    run_jobs()
    assert len(deployed("a.ca")) == 3


def test_a_half_read_document_that_cannot_be_read_keeps_its_old_text(old_site, run_jobs, deployed):
    folder = old_site()
    add_document(folder, "2024-01-01", pages=2, text="Old text", pdf=pdfs.digital([["a"], ["b"], ["c"]]))
    adopt(dry_run=False)
    (folder / "pdfs" / "CityCouncil" / "2024-01-01.pdf").write_bytes(b"%PDF-1.4 damaged since")

    flow.start("a.ca")
    run_jobs()

    assert deployed("a.ca") == {"Old text"}
    assert DocumentState.objects.get(pipeline="ocr").status == "failed_terminal"


def test_a_dangling_link_costs_only_itself(old_site, manage):
    folder = old_site()
    add_document(folder, "2024-01-01", pages=1)
    (folder / "pdfs" / "CityCouncil" / "2024-01-02.pdf").symlink_to(folder / "nowhere.pdf")
    elsewhere = folder.parent.parent / "elsewhere"
    add_document(elsewhere, "2024-01-03", meeting="Linked", pages=1)
    (folder / "pdfs" / "Linked").symlink_to(elsewhere / "pdfs" / "Linked")
    (folder / "txt" / "Linked").symlink_to(elsewhere / "txt" / "Linked")
    (folder / "pdfs" / "Loop").symlink_to(folder / "pdfs")

    ran = manage("adopt_sites")

    assert ran.code == 0
    assert "a.ca: left out: 2024-01-02.pdf: No such file or directory" in ran.out
    assert set(Document.objects.values_list("meeting", flat=True)) == {"CityCouncil", "Linked"}


def test_odd_names_keep_their_pages(old_site, run_jobs, deployed):
    folder = old_site()
    add_document(folder, "2024-01-01", meeting="pdfs", pages=1, text="In a meeting called pdfs")
    council = folder / "txt" / "Council"
    council.mkdir(parents=True)
    name = b"caf\xe9.txt".decode("utf-8", "surrogateescape")
    (council / name).write_text("In a file that is not UTF-8")

    adopt(dry_run=False)
    flow.start("a.ca")
    run_jobs()

    assert deployed("a.ca") == {"In a meeting called pdfs", "In a file that is not UTF-8"}


def test_documents_have_a_title_and_a_failure_was_not_tried_three_times(old_site, manage):
    add_document(old_site(stage="ocr"), "2024-01-01")

    manage("migrate_stuck_sites")

    assert Document.objects.get().title == "City Council minutes 2024-01-01"
    row = DocumentState.objects.get(pipeline="ocr")
    assert (row.status, row.attempt_count) == ("failed_terminal", 0)


def test_a_site_that_verify_has_mended_is_taken_over_all_the_same(old_site, manage):
    add_document(old_site(stage="ocr"), "2024-01-01", pages=1)
    manage("verify", "--files", "--fix")
    assert Document.objects.count() == 1

    ran = manage("migrate_stuck_sites")

    assert ran.code == 0, ran.err
    assert "a.ca: 1/1 completed, 0 failed" in ran.out
    assert_counters_equal_ledger()


# ---- Before the take-over -----------------------------------------------------------------------------


def test_reconcile_leaves_a_site_alone_until_it_is_taken_over(old_site, queued):
    folder = old_site(current_stage="deploy", updated_at=LONG_AGO)
    add_document(folder, "2024-01-01", pages=1)
    before = Site.objects.values().get()

    (found,) = reconcile().repairs

    assert (found.outcome, found.site_id) == ("waiting", "a.ca")
    assert "adopt_sites" in found.action
    assert Site.objects.values().get() == before
    assert not Run.objects.exists()


def test_no_run_begins_over_files_that_are_not_taken_over(old_site, manage):
    add_document(old_site(), "2024-01-01", pages=1)

    ran = manage("run_pipeline", "--all", "--no-wait")

    assert ran.code == 1
    assert "adopt_sites" in ran.err
    assert not Run.objects.exists()


def test_a_database_alone_is_reason_enough_not_to_begin(old_site):
    folder = old_site()
    publish(folder)

    with pytest.raises(flow.Refused, match="adopt_sites"):
        flow.start("a.ca")


def test_it_works_without_the_old_table_and_columns_too(make_site, settings, manage):
    make_site("late.ca")
    add_document(Path(settings.STORAGE_DIR) / "late.ca", "2024-01-01", pages=2)

    ran = manage("adopt_sites", "--json")

    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["sites"][0]["pages"] == 2
