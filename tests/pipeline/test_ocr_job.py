"""The OCR job: a long document survives the death of its work-horse, and the ledger shows how far it is."""

import os
import signal
from pathlib import Path

import pytest

from pipeline import flow
from pipeline.models import DocumentState, Status
from pipeline.state.attempt import Attempt
from sites.stages import Progress, Stage
from sites.storage import SiteFiles
from tests import pdfs

pytestmark = pytest.mark.django_db(transaction=True)
PAGES = 600


@pytest.fixture
def killed_once_at(monkeypatch, tmp_path: Path):
    """The work-horse that gets this far first dies there by SIGKILL."""

    def arrange(page: int) -> Path:
        real, mark = Attempt.progress, tmp_path / "killed"

        def deadly(attempt: Attempt, done: int, total: int) -> None:
            real(attempt, done, total)
            if done == page and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)

        monkeypatch.setattr(Attempt, "progress", deadly)
        return mark

    return arrange


def test_600_pages_killed_in_the_middle_go_on_from_where_they_were(
    make_site, make_documents, run_jobs, killed_once_at
):
    site = make_site()
    [document] = make_documents(site, ["Budget"])
    files = SiteFiles.of(site.pk)
    file, text = files.file(document.path), files.text_dir(document.path)
    file.parent.mkdir(parents=True)
    file.write_bytes(
        pdfs.digital([f"Page {number}", *pdfs.prose(number, 4)] for number in range(1, PAGES + 1))
    )
    mark = killed_once_at(PAGES // 2)

    flow.start(site.pk, first=Stage.OCR)
    run_jobs(fork=True, only="ocr")

    row = DocumentState.objects.get(document=document, pipeline=Stage.OCR)
    assert (row.status, row.attempt_count) == (Status.PROCESSED, 2)
    assert (row.progress_done, row.progress_total) == (PAGES, PAGES)
    assert row.facts["methods"] == {"text": PAGES}
    document.refresh_from_db()
    site.refresh_from_db()
    assert document.pages == PAGES
    assert site.progress(Stage.OCR) == Progress(1, 1, 0)
    killed_at = mark.stat().st_mtime_ns
    again = [page for page in text.glob("*.txt") if page.stat().st_mtime_ns > killed_at]
    assert len(again) == PAGES // 2
    assert (text / f"{PAGES}.txt").read_text().startswith(f"Page {PAGES}\n")


def test_a_sites_languages_reach_the_engine(make_site, make_documents, run_jobs):
    site = make_site(languages="tlh")
    [document] = make_documents(site, ["Minutes"])
    file = SiteFiles.of(site.pk).file(document.path)
    file.parent.mkdir(parents=True)
    file.write_bytes(pdfs.scanned([["Roll call"]], pdfs.FAX))

    flow.start(site.pk, first=Stage.OCR)
    run_jobs(only="ocr")

    row = DocumentState.objects.get(document=document, pipeline=Stage.OCR)
    # It waits: the machine lacks the language, which is no failure of the document.
    assert (row.status, row.error_code) == (Status.FAILED_RETRYABLE, "language_missing")
    assert row.attempt_count == 0
    assert "tlh.traineddata" in row.error_message


@pytest.mark.parametrize(
    ("folder", "ends"),
    [(True, (Status.FAILED_TERMINAL, "missing_file", 1)), (False, (Status.FAILED_RETRYABLE, "storage", 0))],
    ids=["the file", "the whole folder of the site"],
)
def test_a_file_that_is_gone_fails_for_good_and_storage_that_is_gone_waits(
    make_site, make_documents, run_jobs, folder, ends
):
    site = make_site()
    [document] = make_documents(site, ["Minutes"])
    if folder:
        SiteFiles.of(site.pk).root.mkdir(parents=True)

    flow.start(site.pk, first=Stage.OCR)
    run_jobs(only="ocr")

    row = DocumentState.objects.get(document=document, pipeline=Stage.OCR)
    assert (row.status, row.error_code, row.attempt_count) == ends
