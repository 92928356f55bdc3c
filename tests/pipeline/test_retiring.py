"""Sites archived and removed, documents taken down: recorded, reversible for a while, then gone."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import boto3
import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.core.management import call_command
from django.utils import timezone

from pipeline.flow import Refused
from pipeline.models import DocumentState, Intervention, Retirement, Run, Takedown
from pipeline.operations import decisions, interventions, retiring
from pipeline.operations.interventions import Operator
from pipeline.operations.pruning import prune
from pipeline.stages.documents import stable_id
from pipeline.verify import verify
from pipeline.work import pictures
from pipeline.work.index import generations
from pipeline.work.index.schema import OLD_TEXT, TEXT, open_index
from sites.models import Document, Site
from sites.storage import SiteFiles
from tests.conftest import assert_counters_equal_ledger
from tests.records.conftest import add_document, publish  # noqa: F401
from tests.records.minutes import MOTIONS, ROLL
from tests.work.s3_server import KEYS, s3_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
ANN = Operator("ann", "they asked us to")
# In the text of one document of one site, and nowhere else.
SECRET = "quetzalcoatlus"
OTHER = "archaeopteryx"


@pytest.fixture
def towns(make_site, add_document, publish, settings) -> tuple[Site, Site]:  # noqa: F811
    """Two towns, published; the first has a document that says what nobody should."""
    settings.KEEP_REMOVED_DAYS = 30
    first, second = make_site("bend.or"), make_site("salem.or")
    for site in (first, second):
        add_document(site, "other", [ROLL, f"The {OTHER} ordinance of {site.pk}."])
    private = add_document(first, "private", [MOTIONS, f"Her number is {SECRET}."], sha256="ab" * 32)
    for document in Document.objects.all():
        file = SiteFiles.of(document.site_id).file(document.path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"%PDF of {document.title} {SECRET if document == private else OTHER}")
    publish(first)
    publish(second)
    key = pictures.key_of(private.sha256, 2, pictures.READ)
    picture = pictures.path_of(Path(settings.RECORDS_IMAGE_CACHE_DIR), key)
    picture.parent.mkdir(parents=True)
    picture.write_text(SECRET)
    call_command("build_full_db")
    DocumentState.objects.update(attempt_count=1)
    return first, second


def places_with(words: str, settings) -> set[str]:
    """Every store that holds these bytes: folders file by file, tables row by row."""
    found = set()
    folders = {
        "storage": settings.STORAGE_DIR,
        "published": settings.DEPLOY_DIR,
        "index": settings.SEARCH_INDEX_DIR,
        "pictures": settings.RECORDS_IMAGE_CACHE_DIR,
    }
    for name, folder in folders.items():
        files = (path for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink())
        if any(words.encode() in path.read_bytes() for path in files):
            found.add(name)
    for model in apps.get_models():
        if model._meta.managed and any(words in str(row) for row in model._default_manager.values_list()):
            found.add(model._meta.label)
    return found


def indexed(words: str) -> int:
    """How many pages the search index has with these words."""
    folder = generations.serving(Path(django_settings.SEARCH_INDEX_DIR))
    assert folder is not None
    index = open_index(folder)
    query = index.parse_query(f'"{words}"', [TEXT, OLD_TEXT])
    return len(index.searcher().search(query, limit=100).hits)


def later(days: int) -> None:
    """So many days go by."""
    for model in (Retirement, Takedown):
        model.objects.update(at=timezone.now() - timedelta(days=days))


def test_an_archived_site_stays_readable_and_starts_no_more_until_it_is_restored(towns, settings):
    site, _ = towns
    retiring.archive(site.pk, ANN)

    with pytest.raises(Refused, match="archived by ann"):
        interventions.start(site.pk, ANN)
    with pytest.raises(Refused, match=r"restore_site bend\.or"):
        interventions.resume(site.pk, ANN)
    with pytest.raises(Refused, match="archived already, by ann"):
        retiring.archive(site.pk, ANN)
    assert indexed(SECRET) > 0
    later(400)
    list(prune([], dry_run=False))
    assert Document.objects.filter(site=site).count() == 2

    assert retiring.restore(site.pk, Operator("bob")) is None
    interventions.start(site.pk, ANN)
    assert list(Intervention.objects.order_by("pk").values_list("action", "by")) == [
        ("archive", "ann"),
        ("restore archived", "bob"),
        ("start", "ann"),
    ]


def test_a_removed_site_is_gone_for_readers_at_once_and_comes_back_whole(towns, run_jobs, settings):
    site, _ = towns
    Site.objects.filter(pk=site.pk).update(last_completed_at=timezone.now())
    before = indexed(OTHER)

    done = retiring.remove(site.pk, ANN)

    assert done.left == ""
    call_command("build_full_db")
    assert {"published", "index"}.isdisjoint(places_with(SECRET, settings))
    assert indexed(SECRET) == 0
    assert 0 < indexed(OTHER) < before
    found = verify(with_files=True)
    assert found.ok, found.problems

    run = retiring.restore(site.pk, Operator("bob"))
    run_jobs()
    assert Run.objects.get(pk=run.pk).status == Run.Status.COMPLETED
    call_command("build_full_db")
    assert (indexed(OTHER), indexed(SECRET) > 0) == (before, True)
    assert_counters_equal_ledger()


def test_a_removed_site_is_gone_from_every_store_when_its_time_is_over(towns, settings):
    site, _ = towns
    assert {"storage", "published", "pictures"} <= places_with(SECRET, settings)
    retiring.remove(site.pk, ANN)
    call_command("build_full_db")

    later(29)
    list(prune([], dry_run=False))
    assert "storage" in places_with(SECRET, settings)
    later(31)
    counted = [each for each in prune(["sites"], dry_run=True) if each.count]
    assert len(counted) == 1
    assert Site.objects.count() == 2
    list(prune([], dry_run=False))

    assert places_with(SECRET, settings) == set()
    assert places_with("bend.or", settings) == {"pipeline.Intervention", "pipeline.Retirement"}
    assert "published" in places_with(OTHER, settings)
    retirement = Retirement.objects.get()
    assert retirement.purged_at
    assert retirement.details["documents"] == 2
    assert Intervention.objects.get(action="remove").details["site"] == "bend.or"
    found = verify(with_files=True)
    assert found.ok, found.problems
    Site.objects.create(subdomain="bend.or")
    retiring.archive("bend.or", ANN)


def test_a_document_that_is_taken_down_is_gone_from_every_store_when_its_time_is_over(
    towns, run_jobs, settings
):
    site, _ = towns
    document = Document.objects.select_related("source").get(title="private")
    decisions.take_down(document.pk, Operator("ann", "a private number"))
    run_jobs()
    call_command("build_full_db")
    assert places_with(SECRET, settings) <= {"storage", "pictures"}

    later(31)
    list(prune([], dry_run=False))

    assert places_with(SECRET, settings) == set()
    with closing(sqlite3.connect(SiteFiles.of(site.pk).database)) as compiled:
        assert stable_id(document) not in {row[0] for row in compiled.execute("SELECT id FROM documents")}
    document.refresh_from_db()
    assert document.skip_reason == "taken down: a private number"
    assert Takedown.objects.get().purged_at
    found = verify(with_files=True)
    assert found.ok, found.problems
    assert next(prune(["takedowns"], dry_run=True)).count == 0


def test_a_full_database_never_has_what_was_taken_down(towns, settings):
    """Its site is paused, so nothing compiles it again."""
    document = Document.objects.get(title="private")
    interventions.pause("bend.or", ANN)
    decisions.take_down(document.pk, ANN)

    call_command("build_full_db")

    assert "published" not in places_with(SECRET, settings)


def test_a_removal_needs_a_reason_and_ends_a_run(towns):
    site, _ = towns
    with pytest.raises(Refused, match="give one"):
        retiring.remove(site.pk, Operator("ann"))
    run = interventions.start(site.pk, ANN)

    retiring.remove(site.pk, ANN)

    assert Run.objects.get(pk=run.pk).status == Run.Status.CANCELLED
    assert_counters_equal_ledger()


def test_a_bucket_gives_back_documents_and_sites_with_every_version_that_it_keeps(
    towns,
    publish,  # noqa: F811
    settings,
    monkeypatch,
    tmp_path,
):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with s3_server("records") as endpoint:
        client = boto3.client("s3", endpoint_url=endpoint)

        def held(words: str) -> list[str]:
            found = client.list_objects_v2(Bucket="records").get("Contents", [])
            bodies = {
                each["Key"]: client.get_object(Bucket="records", Key=each["Key"])["Body"].read()
                for each in found
            }
            return sorted(key for key, body in bodies.items() if words.encode() in body)

        settings.DEPLOY_TARGETS = [f"directory://{settings.DEPLOY_DIR}", f"s3://records?endpoint={endpoint}"]
        for site in towns:
            publish(site)
        assert len(held(SECRET)) == 2

        decisions.take_down(Document.objects.get(title="private").pk, ANN)
        assert held(SECRET) == []
        assert len([key for key in held(OTHER) if key.startswith("bend.or")]) == 2

        retiring.remove("bend.or", ANN)
        assert [key for key in held("") if key.startswith("bend.or")] == []
        assert held(OTHER)
