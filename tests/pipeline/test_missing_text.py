"""Text that was read and is not in storage: never compiled as nothing, and seen by verify where it was."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta

import pytest
from django.utils import timezone

from pipeline.errors import SourceError
from pipeline.models import DocumentState, Status
from pipeline.stages.compilation import compile_site
from pipeline.stages.deploy import deploy_site
from pipeline.stages.extraction import extract_document
from pipeline.verify import files as verify_files
from sites.models import Document, Site, Stage
from sites.storage import SiteFiles

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def read(make_site, make_documents) -> Callable[..., tuple[Site, Document]]:
    """A site whose one document was read: so many pages, as its ledger row says."""

    def make(pages: int = 2) -> tuple[Site, Document]:
        site = make_site()
        (document,) = make_documents(site, ["Minutes"])
        folder = SiteFiles.of(site.pk).text_dir(document.path)
        folder.mkdir(parents=True)
        for number in range(1, pages + 1):
            (folder / f"{number}.txt").write_text(f"The council approved budget {number}.")
        SiteFiles.of(site.pk).file(document.path).parent.mkdir(parents=True)
        SiteFiles.of(site.pk).file(document.path).write_bytes(b"%PDF-")
        done(site, document, Stage.OCR, facts={"pages": pages})
        return site, document

    return make


def done(site: Site, document: Document | None, stage: str, **values) -> None:
    earlier = timezone.now() - timedelta(minutes=5)
    DocumentState.objects.create(
        site=site,
        document=document,
        unit="" if document else "site",
        pipeline=stage,
        status=Status.PROCESSED,
        attempt_count=1,
        last_attempt_at=timezone.now(),
        processed_at=earlier if document else timezone.now(),
        created_at=earlier,
        updated_at=earlier,
        **values,
    )


def findings(check: str) -> list[str]:
    return [finding.what for finding in verify_files.find() if finding.check == check]


def test_text_that_is_away_fails_the_compile_and_is_compiled_when_it_is_back(read):
    site, document = read()
    folder = SiteFiles.of(site.pk).text_dir(document.path)
    away = folder.rename(folder.with_name("away"))

    with pytest.raises(SourceError, match="txt/Council/0") as failed:
        compile_site(site.pk)
    assert failed.value.code == "missing_text"

    away.rename(folder)
    assert compile_site(site.pk).pages == 2


def test_one_page_that_is_away_fails_the_compile(read):
    site, document = read(pages=3)
    (SiteFiles.of(site.pk).text_dir(document.path) / "2.txt").unlink()

    with pytest.raises(SourceError, match="2 of 3 pages"):
        compile_site(site.pk)


def test_a_compile_that_fails_leaves_the_database_as_it_was(read):
    site, _ = read()
    compile_site(site.pk)
    second = Document.objects.create(
        site=site, external_id="second", meeting="Council", kind="minutes", path="pdfs/Council/second.pdf"
    )
    done(site, second, Stage.OCR, facts={"pages": 1})

    with pytest.raises(SourceError):
        compile_site(site.pk)
    with closing(sqlite3.connect(SiteFiles.of(site.pk).database)) as database:
        assert database.execute("SELECT count(*) FROM pages").fetchone() == (2,)


def test_a_text_in_one_file_as_the_old_system_wrote_it_is_not_missing(read):
    site, document = read(pages=0)
    folder = SiteFiles.of(site.pk).text_dir(document.path)
    folder.rmdir()
    folder.with_name(f"{folder.name}.txt").write_text("page one\fpage two")
    DocumentState.objects.filter(pipeline=Stage.OCR).update(facts={"taken_over": True, "pages": 1})

    assert compile_site(site.pk).pages == 2


def test_pages_that_an_earlier_compile_left_out_come_back_with_the_next_one(read):
    site, _ = read()
    compile_site(site.pk)
    lose_pages(site)

    assert compile_site(site.pk).pages == 2


def lose_pages(site: Site) -> None:
    """As a compile left it that took absent text for no pages."""
    with closing(sqlite3.connect(SiteFiles.of(site.pk).database)) as database:
        database.execute(
            "INSERT INTO pages_fts (pages_fts, rowid, text) SELECT 'delete', rowid, text FROM pages"
        )
        database.execute("DELETE FROM pages")
        database.execute("UPDATE documents SET pages = 0")
        database.commit()


def test_verify_compares_compiled_and_published_pages_with_those_that_were_read(read, settings):
    site, document = read()
    compile_site(site.pk)
    done(site, None, Stage.COMPILATION)
    assert not findings(verify_files.FEWER_COMPILED)

    lose_pages(site)
    assert findings(verify_files.FEWER_COMPILED) == ["pdfs/Council/0.pdf: 0 of 2 pages in meetings.db"]

    extract_document(document)
    deploy_site(site.pk, timezone.now(), SiteFiles.of(site.pk).scratch / "deploy.db")
    done(site, None, Stage.DEPLOY)
    assert findings(verify_files.FEWER_PUBLISHED) == ["pdfs/Council/0.pdf: 0 of 2 pages in alameda.ca.db"]


def test_verify_does_not_miss_pages_that_were_read_after_the_last_compile(read):
    site, _ = read()
    compile_site(site.pk)
    done(site, None, Stage.COMPILATION)
    later = Document.objects.create(
        site=site, external_id="later", meeting="Council", kind="minutes", path="pdfs/Council/later.pdf"
    )
    done(site, later, Stage.OCR, facts={"pages": 1})
    DocumentState.objects.filter(document=later).update(processed_at=timezone.now() + timedelta(minutes=1))

    assert not findings(verify_files.FEWER_COMPILED)


def test_facts_that_are_away_fail_the_deploy_instead_of_being_taken_back(read):
    site, document = read()
    compile_site(site.pk)
    extract_document(document)
    done(site, document, Stage.EXTRACTION)
    SiteFiles.of(site.pk).facts_file(document.path).unlink()

    with pytest.raises(SourceError, match=r"facts/Council/0\.json") as failed:
        deploy_site(site.pk, timezone.now(), SiteFiles.of(site.pk).scratch / "deploy.db")
    assert failed.value.code == "missing_facts"
