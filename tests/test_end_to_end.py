"""One site all the way: a real HTTP server, real downloads, real text, a real database that answers."""

import sqlite3
from contextlib import closing

import pytest

from pipeline import flow
from pipeline.models import DocumentState, Run
from sites.models import Site, Source
from sites.stages import Progress, Stage
from sites.storage import SiteFiles
from tests.conftest import assert_counters_equal_ledger
from tests.fakecity.pdfs import make_pdf
from tests.fakecity.server import FakeCity

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def city(settings):
    settings.FETCH_HOST_GAP_SECONDS = 0.01
    with FakeCity() as server:
        settings.FETCH_PRIVATE_HOSTS = [server.host]
        yield server


def link(path: str, text: str) -> str:
    return f'<li><a href="{path}">{text}</a></li>'


def test_a_city_becomes_a_database_that_answers(city, run_jobs, settings):
    good = [
        link(f"/files/council-minutes-2024-0{month}-15.pdf", f"City Council Minutes 0{month}/15/2024")
        for month in (1, 2)
    ]
    bad = [
        link("/files/council-agenda-2024-03-15.pdf", "City Council Agenda 03/15/2024"),
        link("/files/gone-2024-04-15.pdf", "City Council Minutes 04/15/2024"),
        link("/files/page-2024-05-15.pdf", "City Council Agenda 05/15/2024"),
    ]
    city.page("/meetings", f"<html><body><ul>{''.join(good + bad)}</ul></body></html>")
    city.pdf(
        "/files/council-minutes-2024-01-15.pdf", make_pdf("Motion to adopt the quetzal ordinance carried.")
    )
    city.pdf(
        "/files/council-minutes-2024-02-15.pdf", make_pdf("Roll call: all members were present tonight.")
    )
    city.pdf("/files/council-agenda-2024-03-15.pdf", b"%PDF-1.4 broken")
    city.page("/files/page-2024-05-15.pdf", "<html><body>Please log in</body></html>")
    site = Site.objects.create(subdomain="springfield.il", name="Springfield")
    Source.objects.create(site=site, platform="generic", url=f"{city.url}/meetings")

    run = flow.start(site.pk)
    run_jobs(fork=True)

    site.refresh_from_db()
    run.refresh_from_db()
    codes = set(DocumentState.objects.exclude(error_code=None).values_list("pipeline", "error_code"))
    assert run.status == Run.Status.COMPLETED, (run.message, codes)
    assert site.current_stage == Stage.COMPLETED
    assert site.progress(Stage.FETCH) == Progress(6, 4, 2)
    assert site.progress(Stage.OCR) == Progress(3, 2, 1)
    assert {("fetch", "http_404"), ("fetch", "not_a_pdf")} < codes
    assert [code for stage, code in codes if stage == "ocr"] == ["corrupt"]
    assert site.pages == 2
    assert_counters_equal_ledger()
    with closing(sqlite3.connect(settings.DEPLOY_DIR / "springfield.il.db")) as database:
        found = database.execute(
            "SELECT text FROM pages WHERE rowid IN "
            "(SELECT rowid FROM pages_fts WHERE pages_fts MATCH 'quetzal')"
        ).fetchall()
    assert len(found) == 1
    assert "quetzal ordinance" in found[0][0]
    assert not [path for path in SiteFiles.of(site.pk).scratch.rglob("*") if path.is_file()]


def test_a_second_run_downloads_nothing_and_reads_nothing_again(city, run_jobs):
    city.page("/meetings", f"<ul>{link('/files/minutes-2024-01-15.pdf', 'Council Minutes 01/15/2024')}</ul>")
    city.pdf("/files/minutes-2024-01-15.pdf", make_pdf("Roll call: all members were present tonight."))
    site = Site.objects.create(subdomain="springfield.il")
    Source.objects.create(site=site, platform="generic", url=f"{city.url}/meetings")
    flow.start(site.pk)
    run_jobs(fork=True)
    before = len(city.gets("/files"))

    flow.start(site.pk)
    run_jobs(fork=True)

    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert (before, len(city.gets("/files"))) == (1, 1)
    assert site.progress(Stage.FETCH) == Progress(1, 1, 0)
    assert site.progress(Stage.OCR) == Progress(0, 0, 0)
    assert_counters_equal_ledger()
