"""Sites of every kind of storage: each page that could be read before the move can be read after it."""

from pathlib import Path

import pytest

from demo.legacy.others import KINDS, fill
from demo.legacy.readers import compare, shown_by_clerk, shown_by_the_old_system
from pipeline import flow
from pipeline.models import DocumentState
from pipeline.takeover.every_site import adopt
from pipeline.verify import verify
from sites.models import Site
from sites.stages import Stage
from tests.conftest import assert_counters_equal_ledger

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture
def storage(old_site, settings) -> Path:
    for number in range(len(KINDS)):
        stage = ("deploy", "extraction", None)[number % 3]
        folder = old_site(f"other{number}.wa", stage)
        folder.rmdir()
        fill(folder, number)
    return Path(settings.STORAGE_DIR)


def test_not_one_page_is_lost(storage, settings, run_jobs):
    before = shown_by_the_old_system(storage)

    report = adopt(dry_run=False)
    for site in Site.objects.exclude(documents=None):
        flow.restart(site.pk, first=Stage.OCR)
    run_jobs()

    assert not report.unreadable
    found = compare(before, shown_by_clerk(Path(settings.DEPLOY_DIR)))
    assert not found.lost, found
    assert (found.sites, found.pages_before) == (11, 82)
    assert_counters_equal_ledger()
    assert not DocumentState.objects.filter(status="in_progress").exists()
    wrong = {problem.check: problem.examples for problem in verify(with_files=True).problems}
    assert "fetched documents without their file" not in wrong
    assert wrong["links that lead nowhere"] == ("other8.wa/pdfs/CityCouncil/2024-01-02.pdf",)
    no_pdf = Site.objects.filter(last_error_message__startswith="StageError: No PDF").values_list(
        "pk", flat=True
    )
    assert set(no_pdf) <= {"other12.wa", "other13.wa"}, "only where there is nothing"
