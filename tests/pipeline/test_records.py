"""Records on several machines, going back to an earlier version, and one database over all sites."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from pipeline.errors import SourceError
from pipeline.models import DocumentState, Intervention, Status
from pipeline.stages.compilation import compile_site
from pipeline.stages.deploy import Deployed, deploy_site, targets
from pipeline.stages.extraction import extract_document
from pipeline.work.database.search import search_pages
from sites.models import Document, Site
from sites.storage import SiteFiles, share
from tests.work.s3_server import KEYS, s3_server

pytestmark = pytest.mark.django_db
TEXT = """Present: Mayor Ann Ruiz, Bo Lee, Cy Ng

Moved by Lee, seconded by Ng, to buy a quetzal for $5,000. Carried 3-0."""


@pytest.fixture
def add_read_document(make_site) -> Callable[..., Document]:
    """A document whose text is there, as OCR leaves it."""

    def add(site: Site, name: str, text: str = TEXT) -> Document:
        now = timezone.now()
        document = Document.objects.create(
            site=site,
            external_id=name,
            title=name,
            body="Council",
            meeting="Council",
            meeting_date=date(2024, 1, 15),
            kind="minutes",
            path=f"pdfs/Council/{name}.pdf",
        )
        DocumentState.objects.create(
            site=site,
            document=document,
            pipeline="ocr",
            status=Status.PROCESSED,
            created_at=now,
            updated_at=now,
            processed_at=now,
        )
        folder = SiteFiles.of(site.pk).text_dir(document.path)
        folder.mkdir(parents=True)
        (folder / "1.txt").write_text(text)
        share().push(folder)
        return document

    return add


def go_through(site: Site, *documents: Document) -> Deployed:
    compile_site(site.pk)
    for document in documents:
        extract_document(document)
    return deploy_site(site.pk, timezone.now(), SiteFiles.of(site.pk).scratch / "deploy.db")


def rows(database: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


def test_text_and_facts_are_deployed_together(make_site, add_read_document, settings) -> None:
    site = make_site()
    deployed = go_through(site, add_read_document(site, "one"))

    served = settings.DEPLOY_DIR / "alameda.ca.db"
    assert (deployed.pages, deployed.changed) == (1, True)
    assert search_pages(served, "quetzal").total == 1
    assert rows(served, "SELECT mover, seconder, result, ayes FROM motions") == [
        ("Bo Lee", "Cy Ng", "passed", 3)
    ]
    assert rows(served, "SELECT name FROM sqlite_master WHERE name GLOB '[_]*'") == []


def test_a_run_that_changed_nothing_publishes_nothing(make_site, add_read_document) -> None:
    site = make_site()
    document = add_read_document(site, "one")
    first, second = go_through(site, document), go_through(site, document)

    assert (second.changed, second.version) == (False, first.version)


def test_workers_on_different_machines_share_what_they_do(
    make_site, add_read_document, settings, tmp_path, monkeypatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with s3_server("clerk") as endpoint:
        settings.STORAGE_URL = f"s3://clerk/files?endpoint={endpoint}"
        settings.STORAGE_DIR = tmp_path / "ocr_machine"
        site = make_site()
        document = add_read_document(site, "one")

        settings.STORAGE_DIR = tmp_path / "compiling_machine"
        compile_site(site.pk)
        settings.STORAGE_DIR = tmp_path / "another_compiling_machine"
        again = compile_site(site.pk)
        settings.STORAGE_DIR = tmp_path / "extracting_machine"
        extract_document(document)
        settings.STORAGE_DIR = tmp_path / "deploying_machine"
        output = SiteFiles.of(site.pk).scratch / "deploy.db"
        deployed = deploy_site(site.pk, timezone.now(), output)

    assert again.added == 0
    assert (deployed.pages, deployed.facts > 0) == (1, True)
    assert rows(settings.DEPLOY_DIR / "alameda.ca.db", "SELECT mover FROM motions") == [("Bo Lee",)]


def test_going_back_serves_the_version_before_and_is_recorded(make_site, add_read_document, settings) -> None:
    site = make_site()
    first = go_through(site, add_read_document(site, "one"))
    go_through(site, add_read_document(site, "two"))
    served = settings.DEPLOY_DIR / "alameda.ca.db"
    assert rows(served, "SELECT count(*) FROM pages") == [(2,)]

    call_command("rollback_deploy", site.pk, dry_run=True, stdout=StringIO())
    assert rows(served, "SELECT count(*) FROM pages") == [(2,)]
    call_command("rollback_deploy", site.pk, reason="wrong pages", stdout=StringIO())

    assert rows(served, "SELECT count(*) FROM pages") == [(1,)]
    done = Intervention.objects.get()
    assert (done.action, done.reason, done.details) == (
        "rollback",
        "wrong pages",
        {"versions": [first.version]},
    )


def test_going_back_when_there_is_nothing_to_go_back_to_says_so(make_site, add_read_document) -> None:
    site = make_site()
    with pytest.raises(CommandError, match="no target keeps versions"):
        call_command("rollback_deploy", site.pk, stdout=StringIO())
    go_through(site, add_read_document(site, "one"))
    with pytest.raises(CommandError, match="before"):
        call_command("rollback_deploy", site.pk, stdout=StringIO())
    with pytest.raises(CommandError, match="no site"):
        call_command("rollback_deploy", "nowhere.ca", stdout=StringIO())
    assert not Intervention.objects.exists()


def test_the_kept_versions_can_be_listed(make_site, add_read_document) -> None:
    site, out = make_site(), StringIO()
    deployed = go_through(site, add_read_document(site, "one"))

    call_command("rollback_deploy", site.pk, list=True, stdout=out)

    assert f"{deployed.version}  (served)" in out.getvalue()


def test_one_database_over_all_sites(make_site, add_read_document, settings) -> None:
    for subdomain in ("alameda.ca", "berkeley.ca"):
        site = make_site(subdomain)
        go_through(site, add_read_document(site, "one"))
    make_site("not_yet.ca")
    out = StringIO()

    call_command("build_full_db", stdout=out)

    everything = settings.DEPLOY_DIR / "all.db"
    assert "not_yet.ca: not compiled yet, left out" in out.getvalue()
    assert rows(everything, "SELECT subdomain FROM pages ORDER BY 1") == [("alameda.ca",), ("berkeley.ca",)]
    assert rows(everything, "SELECT subdomain, mover FROM motions ORDER BY 1") == [
        ("alameda.ca", "Bo Lee"),
        ("berkeley.ca", "Bo Lee"),
    ]
    assert search_pages(everything, "quetzal").total == 2


def test_a_deploy_that_fails_leaves_the_old_version_serving(make_site, add_read_document, settings) -> None:
    site = make_site()
    first = go_through(site, add_read_document(site, "one"))
    target = f"directory://{settings.DEPLOY_DIR}"
    settings.DEPLOY_TARGETS = ["command:/bin/false", target]

    with pytest.raises(SourceError):
        go_through(site, add_read_document(site, "two"))

    assert rows(settings.DEPLOY_DIR / "alameda.ca.db", "SELECT count(*) FROM pages") == [(1,)]
    assert [target.current(site.pk) for _, target in targets()] == [
        None,
        first.version,
        first.version,
    ]
    assert not list(SiteFiles.of(site.pk).scratch.glob("*.db"))


def test_facts_found_by_other_rules_are_read_anew(make_site, add_read_document, monkeypatch) -> None:
    site, out = make_site(), StringIO()
    extract_document(add_read_document(site, "one"))
    add_read_document(site, "two")

    call_command("extract_facts", stdout=out)
    monkeypatch.setattr("pipeline.work.extraction.document.RULES", 999)
    call_command("extract_facts", site=[site.pk], stdout=out)

    assert out.getvalue() == "1 of 2 documents read anew\n2 of 2 documents read anew\n"
    with pytest.raises(CommandError, match="no site"):
        call_command("extract_facts", site=["nowhere.ca"])
