"""The same file is the same document, wherever and however often it is found, adopted or fetched."""

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline import flow, workload
from pipeline.flow import Refused
from pipeline.models import DocumentState, Run, Status
from pipeline.operations import interventions
from pipeline.stages import documents
from pipeline.stages.compilation import compile_site
from pipeline.verify import files as verify_files
from sites.models import Document, Site, Source
from sites.stages import Stage
from sites.storage import SiteFiles
from tests.conftest import assert_counters_equal_ledger
from tests.fakecity import FakeCity, make_pdf
from tests.pipeline.test_fetching import WORDS, a_page

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture
def city(settings):
    settings.FETCH_HOST_GAP_SECONDS = 0.005
    settings.FETCH_TIMEOUT_SECONDS = 1
    with FakeCity() as server:
        settings.FETCH_PRIVATE_HOSTS = [server.host]
        server.page("/meetings", a_page("a", "b", "c"))
        for name in "abc":
            server.pdf(f"/files/{name}.pdf", make_pdf(f"{WORDS} {name}"))
        yield server


@pytest.fixture
def source(city) -> Source:
    site = Site.objects.create(subdomain="springfield.il")
    return Source.objects.create(site=site, platform="generic", url=f"{city.url}/meetings")


@pytest.fixture
def run(run_jobs):
    def run_site(site_id: str = "springfield.il") -> Site:
        flow.start(site_id)
        run_jobs()
        assert_counters_equal_ledger()
        return Site.objects.get(pk=site_id)

    return run_site


def published(site_id: str = "springfield.il") -> int:
    return compile_site(site_id).documents


def wanted() -> list[Document]:
    return list(Document.objects.filter(superseded_at=None, skip_reason="").order_by("external_id"))


def files_of(site_id: str = "springfield.il") -> list[str]:
    root = SiteFiles.of(site_id).root
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.pdf"))


def readings() -> int:
    return DocumentState.objects.filter(pipeline=Stage.OCR, status=Status.PROCESSED).count()


def test_a_source_that_is_removed_and_added_again_doubles_nothing(source, city, run):
    run()
    before = [(row.pk, row.path) for row in wanted()]
    url = source.url
    source.delete()
    Source.objects.create(site_id="springfield.il", platform="generic", url=url)

    run()

    assert [(row.pk, row.path) for row in wanted()] == before
    assert all(row.source for row in wanted())
    assert published() == 3


def test_the_same_files_at_another_address_take_over_what_a_removed_source_left(source, city, run):
    run()
    readings_before, kept = readings(), files_of()
    source.delete()
    city.page("/archive", a_page("a", "b", "c").replace("/files/", "/files/../files/"))
    Source.objects.create(site_id="springfield.il", platform="generic", url=f"{city.url}/archive")
    Document.objects.update(external_id="somewhere else")

    run()

    assert published() == 3
    assert len(wanted()) == 3 and all(row.source and row.url for row in wanted())
    assert files_of() == kept
    assert readings() == readings_before  # what was read is not read again


def test_one_file_under_many_addresses_is_one_document(source, city, run):
    links = "".join(f'<li><a href="/files/a.pdf?session={n}">Minutes {n}</a></li>' for n in range(12))
    city.page("/meetings", f"<h1>City Council</h1><ul>{links}</ul>")

    site = run()

    assert len(wanted()) == 1
    assert published() == 1
    assert len(files_of()) == 1
    assert site.current_stage == Stage.COMPLETED
    others = Document.objects.exclude(skip_reason="")
    assert others.count() == 11
    assert {row.skip_reason for row in others} == {f"the same file as {wanted()[0].path}"}


def test_a_second_address_that_gets_a_file_of_its_own_becomes_a_document_of_its_own(source, city, run):
    names = ('<a href="/files/a.pdf">Minutes</a>', '<a href="/files/copy.pdf">Minutes again</a>')
    city.page("/meetings", f"<h1>City Council</h1><ul><li>{'</li><li>'.join(names)}</li></ul>")
    city.pdf("/files/copy.pdf", make_pdf(f"{WORDS} a"))
    run()
    assert len(wanted()) == 1

    city.pdf("/files/copy.pdf", make_pdf(f"{WORDS} and something else"))
    run()

    assert len(wanted()) == 2
    assert published() == 2


def test_a_copy_cannot_be_unskipped_for_it_has_no_file(source, city, run):
    city.page(
        "/meetings", '<h1>City Council</h1><a href="/files/a.pdf?1">x</a><a href="/files/a.pdf?2">y</a>'
    )
    run()
    copy = Document.objects.exclude(skip_reason="").get()

    with pytest.raises(Refused, match="the same file"):
        interventions.unskip(copy.pk, interventions.Operator("ann"))


def test_another_sites_document_is_not_superseded_by_one_without_a_source(make_site):
    ours, theirs = make_site("a.ca"), make_site("b.ca")
    old = Document.objects.create(
        site=theirs, external_id="123", meeting="Council", path="pdfs/Council/x.pdf"
    )
    new = Document.objects.create(site=ours, external_id="123", version=2, meeting="Council")

    documents.record_download(new, DOWNLOADED)

    old.refresh_from_db()
    assert old.superseded_at is None


DOWNLOADED = documents.Downloaded("b" * 64, 10, "application/pdf")


def test_a_disabled_source_is_not_downloaded_from(source, city, run):
    city.page("/meetings", a_page("a", "not there"))
    run()
    (failed,) = to_fetch()

    Source.objects.update(enabled=False)

    assert failed.sha256 == ""
    assert to_fetch() == []


def to_fetch() -> list[Document]:
    return list(workload.work_for("springfield.il", Stage.FETCH).documents or ())


def test_a_source_that_is_disabled_during_a_run_is_left_alone(source, city, run_jobs):
    flow.start("springfield.il")
    Source.objects.update(enabled=False)
    asked = len(city.asked)

    run_jobs()

    assert len(city.asked) == asked
    row = DocumentState.objects.get(pipeline=Stage.FETCH)
    assert row.error_code == "source_disabled"


# ---- A restore: an older database beside newer storage -------------------------------------------------


@pytest.fixture
def restored(source, city, run) -> Source:
    """Documents were fetched and read after the backup was taken; then the backup was put back."""
    run()
    Document.objects.all().delete()
    Run.objects.all().delete()
    Site.objects.update(run_id=None, current_stage=None)
    Source.objects.update(cursor={}, last_listed_at=None)
    return Source.objects.get()


def test_files_that_are_adopted_and_then_fetched_end_as_one_document_each(restored, city, run):
    fixed = verify_files.fix(list(verify_files.find()))
    assert len(fixed.mended) == 3

    site = run()

    assert site.current_stage == Stage.COMPLETED
    assert site.fetch_failed == 0
    assert len(wanted()) == Document.objects.count() == 3
    assert all(row.source_id == restored.pk and row.url and row.sha256 for row in wanted())
    assert published() == 3
    assert len(files_of()) == 3


def test_an_adopted_file_that_has_changed_at_its_source_meanwhile_is_fetched_too(restored, city, run):
    verify_files.fix(list(verify_files.find()))
    city.pdf("/files/a.pdf", make_pdf(f"{WORDS} amended"))

    site = run()

    assert site.fetch_failed == 0
    assert site.current_stage == Stage.COMPLETED


def test_an_adopted_file_knows_its_content(restored):
    verify_files.fix(list(verify_files.find()))

    assert all(len(row.sha256) == 64 for row in Document.objects.all())


def test_a_copy_of_a_document_is_not_adopted(source, run):
    run()
    original = SiteFiles.of("springfield.il").file(wanted()[0].path)
    original.with_name("copy.pdf").write_bytes(original.read_bytes())

    fixed = verify_files.fix(list(verify_files.find()))

    assert not fixed.mended
    assert [Path(left.what).name for left in fixed.left] == ["copy.pdf"]


def test_a_ghost_of_an_earlier_attempt_cannot_put_older_content_in_the_place_of_newer(source, run):
    document = Document.objects.create(site_id="springfield.il", source=source, external_id="x", meeting="C")
    older, newer = DOWNLOADED, replace(DOWNLOADED, sha256="c" * 64)

    assert documents.path_for(document, older) != documents.path_for(document, newer)
    assert documents.path_for(document, newer) == documents.path_for(document, newer)
