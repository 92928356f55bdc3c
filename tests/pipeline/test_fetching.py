"""The fetch stage against a fake municipality, with real workers, a real queue and a real database."""

import os
import signal
import sqlite3
from contextlib import closing
from datetime import date, time, timedelta

import pytest
from django.utils import timezone

from pipeline import flow, jobs, order
from pipeline.models import DocumentState, Status
from pipeline.stages import fetch
from pipeline.work.fetch.answers import Answer
from sites.models import Document, Site, Source
from sites.stages import Progress, Stage
from sites.storage import SiteFiles
from tests import trivial
from tests.conftest import assert_counters_equal_ledger
from tests.fakecity import FakeCity, make_pdf
from tests.fakecity.meetings import Meeting
from tests.fakecity.platforms import PUBLISH

pytestmark = pytest.mark.django_db(transaction=True)

RECENT = date.today() - timedelta(days=20)
WORDS = "Roll call: all members of the council were present and the motion to adjourn carried."


@pytest.fixture
def city(settings):
    settings.FETCH_HOST_GAP_SECONDS = 0.005
    settings.FETCH_TIMEOUT_SECONDS = 1
    with FakeCity() as server:
        settings.FETCH_PRIVATE_HOSTS = [server.host]
        yield server


@pytest.fixture
def only_fetch(monkeypatch, settings) -> None:
    """The real fetch stage; the stages after it do next to nothing."""
    settings.QUEUE_FUNCTIONS = [trivial.FUNCTIONS]
    for stage, step in trivial.STEPS.items():
        if stage != Stage.FETCH:
            monkeypatch.setitem(order.STEPS, stage, step)
    settings.QUEUE_FUNCTIONS = [trivial.FUNCTIONS]


@pytest.fixture
def make_source(city):
    def make(path: str = "/meetings", platform: str = "generic", subdomain: str = "springfield.il") -> Source:
        site, _ = Site.objects.get_or_create(subdomain=subdomain)
        url = path if path.startswith("http") else city.url + path
        return Source.objects.create(site=site, platform=platform, url=url)

    return make


@pytest.fixture
def run(run_jobs):
    """Run a site once, all the way."""

    def run_site(site_id: str = "springfield.il", fork: bool = True) -> Site:
        flow.start(site_id)
        run_jobs(fork=fork)
        assert_counters_equal_ledger()
        return Site.objects.get(pk=site_id)

    return run_site


def a_page(*names: str) -> str:
    items = (f'<li>{RECENT:%B %d, %Y} <a href="/files/{name}.pdf">Council Minutes</a></li>' for name in names)
    return f"<h1>City Council</h1><ul>{''.join(items)}</ul>"


def pdfs_sent(city: FakeCity) -> list[str]:
    return [asked.path for asked in city.asked if "pdf" in asked.content_type and asked.sent]


def codes() -> dict[str, str]:
    """Error codes by the last part of the document's address."""
    rows = DocumentState.objects.filter(document__isnull=False).exclude(error_code=None)
    return {
        row.document.url.rpartition("/")[2]: row.error_code or ""
        for row in rows.select_related("document")
        if row.document
    }


def stored(site_id: str = "springfield.il") -> list[str]:
    """Every PDF that is kept, and everything that should not be there any more."""
    files = SiteFiles.of(site_id)
    return sorted(str(path.relative_to(files.root)) for path in files.root.rglob("*.pdf")) + [
        f"left over: {path.name}" for path in files.scratch.rglob("*") if path.is_file()
    ]


# ---- A second run -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("only_fetch")
@pytest.mark.parametrize("platform", sorted(PUBLISH))
def test_a_second_run_downloads_nothing_whatever_the_platform(platform, city, make_source, run):
    meetings = [
        Meeting(number, "City Council", RECENT - timedelta(days=number), time(18, 30), ("agenda", "minutes"))
        for number in (11, 12)
    ]
    source = make_source(PUBLISH[platform](city, meetings), platform)
    Site.objects.update(start_year=RECENT.year - 1)
    run(fork=False)
    first = list(Document.objects.order_by("pk").values("pk", "sha256", "fetched_at", "path"))
    sent = len(pdfs_sent(city))

    site = run(fork=False)

    assert len(first) == 4
    assert all(row["sha256"] for row in first)
    assert list(Document.objects.order_by("pk").values("pk", "sha256", "fetched_at", "path")) == first
    assert len(pdfs_sent(city)) == sent
    assert site.progress(Stage.FETCH) == Progress(1, 1, 0)
    source.refresh_from_db()
    assert source.warning == ""
    assert source.cursor["done"]


# ---- Versions -----------------------------------------------------------------------------------------


@pytest.mark.both_databases
def test_a_changed_document_becomes_a_new_version_and_is_read_and_the_old_one_is_kept(city, make_source, run):
    make_source()
    city.page("/meetings", a_page("a", "b"))
    city.pdf("/files/a.pdf", make_pdf(f"{WORDS} The armadillo ordinance."))
    city.pdf("/files/b.pdf", make_pdf(WORDS))
    run()
    city.pdf("/files/a.pdf", make_pdf(f"{WORDS} The barracuda ordinance."))

    site = run()

    old, new = Document.objects.filter(external_id__endswith="a.pdf").order_by("version")
    assert (old.version, new.version) == (1, 2)
    assert old.superseded_at
    assert new.superseded_at is None
    files = SiteFiles.of(site.pk)
    assert b"armadillo" in files.file(old.path).read_bytes()
    assert b"barracuda" in files.file(new.path).read_bytes()
    assert "barracuda" in (files.text_dir(new.path) / "1.txt").read_text()
    assert "armadillo" in (files.text_dir(old.path) / "1.txt").read_text()
    assert site.progress(Stage.FETCH) == Progress(2, 2, 0)
    assert site.progress(Stage.OCR) == Progress(1, 1, 0)
    with closing(sqlite3.connect(files.database)) as database:
        texts = " ".join(text for (text,) in database.execute("SELECT text FROM pages"))
    assert "barracuda" in texts


@pytest.mark.usefixtures("only_fetch")
def test_without_validators_a_document_is_compared_only_now_and_then(city, make_source, run):
    make_source()
    city.page("/meetings", a_page("a"))
    city.pdf("/files/a.pdf", make_pdf("one"), validators=False)
    run()
    city.pdf("/files/a.pdf", make_pdf("two"), validators=False)

    run()
    assert (pdfs_sent(city), Document.objects.count()) == (["/files/a.pdf"], 1)

    Document.objects.update(checked_at=timezone.now() - timedelta(days=15))
    run()
    assert list(Document.objects.order_by("version").values_list("version", flat=True)) == [1, 2]


@pytest.mark.usefixtures("only_fetch")
def test_a_document_that_is_gone_at_the_source_is_kept_here(city, make_source, run):
    make_source()
    city.page("/meetings", a_page("a", "b"))
    city.pdf("/files/a.pdf", make_pdf("one"))
    city.pdf("/files/b.pdf", make_pdf("two"))
    run()
    city.page("/meetings", a_page("b"))
    city.page("/files/a.pdf", "gone", status=404)

    run()

    assert Document.objects.filter(superseded_at=None).count() == 2
    assert len(stored()) == 2


# ---- HTML agendas -------------------------------------------------------------------------------------


@pytest.mark.both_databases
def test_an_agenda_that_is_a_page_becomes_a_document_with_text(city, make_source, run):
    meetings = [Meeting(11, "City Council", RECENT, time(18, 30), ("agenda", "minutes"))]
    make_source(PUBLISH["granicus"](city, meetings), "granicus")

    site = run()

    agenda, minutes = Document.objects.order_by("kind")
    files = SiteFiles.of(site.pk)
    assert (agenda.content_type, minutes.content_type) == ("text/html", "application/pdf")
    assert (agenda.path[-5:], minutes.path[-4:]) == (".html", ".pdf")
    assert "agenda of the City Council" in (files.text_dir(agenda.path) / "1.txt").read_text()
    assert site.progress(Stage.OCR) == Progress(2, 2, 0)


@pytest.mark.usefixtures("only_fetch")
@pytest.mark.parametrize(("options", "expected"), [({}, 1), ({"attachments": True}, 3)])
def test_what_an_agenda_page_links_to_is_fetched_where_it_is_asked_for(
    options, expected, city, make_source, run
):
    source = make_source("/view", "granicus")
    Source.objects.update(options=options)
    agenda = "/AgendaViewer.php?view_id=1&clip_id=9"
    city.page(
        "/view", f'<tr><td>Council</td><td>{RECENT:%B %d, %Y}</td><td><a href="{agenda}">Agenda</a></td></tr>'
    )
    files = (
        '<a href="MetaViewer.php?meta_id=7">Report</a> <a href="/map.pdf">Map</a> <a href="/map.pdf">Map</a>'
    )
    city.page("/AgendaViewer.php", f"<html><p>{WORDS}</p>{files}</html>")
    city.pdf("/MetaViewer.php", make_pdf(WORDS))
    city.pdf("/map.pdf", make_pdf("A map"))

    run(fork=False)
    site = run(fork=False)

    documents = source.documents.order_by("pk")
    assert [document.title for document in documents[1:]] == ["Report", "Map"][: expected - 1]
    assert {document.meeting_date for document in documents} == {RECENT}
    assert [bool(document.sha256) for document in documents] == [True] * expected
    assert site.progress(Stage.FETCH) == Progress(1, 1, 0)


# ---- Bad days -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("only_fetch")
def test_what_cannot_be_fetched_is_counted_with_its_reason_and_the_rest_goes_on(city, make_source, run):
    make_source()
    names = ("good", "gone", "login", "wall", "loop", "metadata", "robots", "cut")
    city.page("/meetings", a_page(*names))
    city.robots("User-agent: *\nDisallow: /files/robots.pdf")
    city.pdf("/files/good.pdf", make_pdf(WORDS))
    city.page("/files/login.pdf", "<html>Please log in</html>", "application/pdf")
    city.page("/files/wall.pdf", "no", status=401)
    city.redirect("/files/loop.pdf", "/files/loop.pdf")
    city.redirect("/files/metadata.pdf", "http://169.254.169.254/latest/meta-data/x.pdf")
    city.pdf("/files/robots.pdf", make_pdf(WORDS))
    city.pdf("/files/cut.pdf", make_pdf(WORDS), truncate_at=200)

    site = run()

    assert codes() == {
        "gone.pdf": "http_404",
        "login.pdf": "not_a_pdf",
        "wall.pdf": "http_401",
        "loop.pdf": "redirect_loop",
        "metadata.pdf": "unsafe_address",
        "robots.pdf": "robots_disallowed",
        "cut.pdf": "truncated",
    }
    assert site.current_stage == Stage.COMPLETED
    assert site.progress(Stage.FETCH) == Progress(9, 2, 7)
    assert len(stored()) == 1
    assert city.gets("/files/robots.pdf") == []


@pytest.mark.usefixtures("only_fetch")
def test_a_server_that_asks_for_patience_is_asked_again_later(city, make_source):
    make_source()
    city.page("/meetings", a_page("a"))
    city.pdf("/files/a.pdf", make_pdf(WORDS))
    city.fault("/files/a.pdf", status=429, headers={"Retry-After": "1"})

    flow.start("springfield.il")
    (row,) = _after_first_try()

    assert row.status == Status.FAILED_RETRYABLE
    assert row.error_code == "http_429"
    assert row.retry_at is not None
    assert row.retry_at - row.updated_at > timedelta(seconds=0.5)


def _after_first_try() -> list[DocumentState]:
    """One listing and one download, by hand: a worker would go on until all is done."""
    listing = DocumentState.objects.get(unit__startswith="source:")
    jobs.list_source(listing.pk, listing.run_id, listing.enqueue_seq)
    download = DocumentState.objects.get(document__isnull=False)
    jobs.download_document(download.pk, download.run_id, download.enqueue_seq)
    return list(DocumentState.objects.filter(document__isnull=False))


@pytest.mark.usefixtures("only_fetch")
def test_one_sources_failure_does_not_stop_the_others(city, make_source, run):
    broken, fine = make_source("/broken"), make_source()
    city.page("/broken", "sorry", status=400)
    city.page("/meetings", a_page("a"))
    city.pdf("/files/a.pdf", make_pdf(WORDS))

    site = run()

    broken.refresh_from_db()
    fine.refresh_from_db()
    assert "400" in broken.warning
    assert fine.warning == ""
    assert site.current_stage == Stage.COMPLETED
    assert site.progress(Stage.FETCH) == Progress(3, 2, 1)
    assert DocumentState.objects.get(unit=f"source:{broken.pk}").error_code == "http_400"


@pytest.mark.usefixtures("only_fetch")
def test_a_source_that_falls_silent_or_moves_says_so_and_takes_it_back(city, make_source, run):
    source = make_source()
    city.page("/meetings", a_page("a"))
    city.pdf("/files/a.pdf", make_pdf(WORDS))
    run()
    city.page(
        "/meetings", '<p>We have moved:</p><iframe src="https://springfield.primegov.com/public/portal">'
    )

    run()
    source.refresh_from_db()
    assert "used to list documents" in source.warning
    assert "PrimeGov (https://springfield.primegov.com/public/portal)" in source.warning

    city.page("/meetings", a_page("a"))
    run()
    source.refresh_from_db()
    assert source.warning == ""


@pytest.mark.usefixtures("only_fetch")
def test_a_view_with_nothing_but_videos_is_no_error_and_a_warning(city, make_source, run):
    rows = "".join(
        f'<tr><td class="name">Audit Committee</td><td>Jun&nbsp;{day},&nbsp;2026</td><td>'
        f"<a onClick=\"window.open('//x/MediaPlayer.php?view_id=24&clip_id={day}')\">Video</a></td></tr>"
        for day in range(1, 29)
    )
    city.page("/ViewPublisher.php", f"<table>{rows}</table>")
    source = make_source("/ViewPublisher.php?view_id=24", "granicus")

    site = run()

    source.refresh_from_db()
    assert source.warning == "It lists no documents."
    assert site.current_stage == Stage.COMPLETED
    assert site.last_error_stage == "fetch"
    assert "No PDF was found" in (site.last_error_message or "")


@pytest.mark.usefixtures("only_fetch")
def test_a_source_that_is_pointed_elsewhere_begins_anew(city, make_source, run):
    meetings = [Meeting(11, "City Council", date(2024, 3, 5), time(18, 30), ("minutes",))]
    source = make_source(PUBLISH["iqm2"](city, []), "iqm2")
    Site.objects.update(start_year=2023)
    run()
    PUBLISH["legistar"](city, meetings)
    Source.objects.filter(pk=source.pk).update(platform="legistar", url=f"{city.url}/Calendar.aspx")

    run()

    assert Document.objects.get().meeting_date == date(2024, 3, 5)


@pytest.mark.usefixtures("only_fetch")
def test_a_source_that_was_removed_while_it_waited_is_said_so(city, make_source, run_jobs):
    source = make_source()
    flow.start("springfield.il")
    Source.objects.all().delete()

    run_jobs(fork=True)

    row = DocumentState.objects.get(unit=f"source:{source.pk}")
    assert (row.status, row.error_code) == (Status.FAILED_TERMINAL, "source_gone")


# ---- Killed in the middle -----------------------------------------------------------------------------


@pytest.mark.both_databases
@pytest.mark.usefixtures("only_fetch")
@pytest.mark.parametrize("moment", ["in mid-download", "before it is kept", "after the file is in its place"])
def test_kill_nine_loses_and_doubles_nothing(moment, city, make_source, run, monkeypatch, tmp_path):
    make_source()
    city.page("/meetings", a_page("a", "b"))
    contents = {name: make_pdf(WORDS) + b"%" + name.encode() * 300_000 for name in ("a", "b")}
    for name, content in contents.items():
        city.pdf(f"/files/{name}.pdf", content)
    die = _killer(tmp_path / "died")
    if moment == "in mid-download":
        monkeypatch.setattr(Answer, "chunks", _dying_chunks(Answer.chunks, die))
    elif moment == "before it is kept":
        monkeypatch.setattr(fetch, "keep", _dying(fetch.keep, die, after=False))
    else:
        monkeypatch.setattr(fetch.documents, "record_download", _dying(fetch.documents.record_download, die))

    site = run()

    assert (tmp_path / "died").exists()
    assert site.current_stage == Stage.COMPLETED
    assert site.progress(Stage.FETCH) == Progress(3, 3, 0)
    documents = Document.objects.order_by("external_id")
    files = SiteFiles.of(site.pk)
    assert [files.file(document.path).read_bytes() for document in documents] == list(contents.values())
    assert stored() == sorted(document.path for document in documents)


def _killer(mark):
    """Kills this process the first time, and only then."""

    def die() -> None:
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    return die


def _dying(real, die, after: bool = True):
    def deadly(*args, **kwargs):
        if not after:
            die()
        result = real(*args, **kwargs)
        die()
        return result

    return deadly


def _dying_chunks(real, die):
    def chunks(self, most):
        for chunk in real(self, most):
            yield chunk
            if self.response.url.path.endswith(".pdf"):
                die()

    return chunks
