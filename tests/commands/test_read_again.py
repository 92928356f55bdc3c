"""`manage.py read_again`: pages come out better, the records follow, and it is on record."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from pipeline import flow
from pipeline.models import DocumentState, Intervention, Run, Status
from pipeline.stages.ocr import ocr_options
from pipeline.work import ocr
from sites.models import Document, Site
from sites.storage import SiteFiles
from tests import pdfs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
LINES = [
    "Council Member Garcia moved and Council Member Chen seconded a motion to approve item 12.",
    "Carried.",
]


@pytest.fixture
def site(make_site, make_documents, settings) -> Site:
    """A site with one document, a scan, whose page is on record as read with little confidence."""
    site = make_site()
    [document] = make_documents(site, ["minutes"])
    files = SiteFiles.of(site.pk)
    file, text_dir = files.file(document.path), files.text_dir(document.path)
    file.parent.mkdir(parents=True)
    file.write_bytes(pdfs.scanned([LINES], pdfs.CLEAN))
    ocr.read_document(file, text_dir, options=ocr_options())
    facts = json.loads((text_dir / "1.json").read_text())
    (text_dir / "1.json").write_text(json.dumps(facts | {"confidence": 60.0, "words": []}))
    (text_dir / "1.txt").write_text("Councjl Membr Gar")
    now = timezone.now()
    times = {"created_at": now, "updated_at": now, "processed_at": now}
    DocumentState.objects.create(
        site=site, document=document, pipeline="ocr", status=Status.PROCESSED, attempt_count=1, **times
    )
    return site


def read_again(site: Site, *arguments: str) -> str:
    out = StringIO()
    call_command("read_again", "--site", site.pk, "--engine", "tesserocr", *arguments, stdout=out)
    return out.getvalue()


def text_of(site: Site) -> str:
    document = Document.objects.get(site=site)
    return (SiteFiles.of(site.pk).text_dir(document.path) / "1.txt").read_text()


def test_pages_come_out_better_and_the_records_follow(site, run_jobs):
    said = read_again(site, "--reason", "better engine")

    run = Run.objects.get()
    assert said.endswith(f"1 pages of 1 documents read again, 1 are better; run {run.pk} publishes them\n")
    assert text_of(site).split()[:4] == ["Council", "Member", "Garcia", "moved"]
    note = Intervention.objects.get()
    assert (note.action, note.reason) == ("read_again", "better engine")
    assert {
        "engine": "tesserocr",
        "below": 85,
        "pages": 1,
        "better": 1,
        "run": run.pk,
    }.items() <= note.details.items()
    document = Document.objects.get()
    facts = SiteFiles.of(site.pk).facts_file(document.path).read_text()
    assert "Garcia" in facts

    run_jobs()
    run.refresh_from_db()
    assert run.status == Run.Status.COMPLETED
    assert read_again(site).endswith("0 pages of 0 documents read again, 0 are better\n")


def test_a_dry_run_counts_and_changes_nothing(site):
    assert read_again(site, "--dry-run") == "alameda.ca: 1 pages to read again (dry-run)\n"
    assert read_again(site, "--dry-run", "--below", "50") == "alameda.ca: 0 pages to read again (dry-run)\n"
    assert text_of(site) == "Councjl Membr Gar"
    assert not Intervention.objects.exists()
    assert not Run.objects.exists()


def test_a_site_in_a_run_is_refused(site):
    flow.start(site.pk)
    with pytest.raises(CommandError, match="in a run"):
        read_again(site)


def test_a_document_without_its_file_is_named_and_the_command_ends_with_1(site):
    SiteFiles.of(site.pk).file(Document.objects.get().path).unlink()
    with pytest.raises(CommandError) as error:
        read_again(site)

    assert error.value.returncode == 1
    assert not Run.objects.exists()
