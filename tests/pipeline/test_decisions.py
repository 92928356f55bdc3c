"""What people decide about a document holds: over later listings, and in all that readers have."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import date

import pytest
from django.utils import timezone

from pipeline.flow import Refused
from pipeline.models import Correction, Intervention, Run, Takedown
from pipeline.operations import decisions, interventions
from pipeline.operations.decisions import Right
from pipeline.operations.interventions import Operator
from pipeline.stages import documents
from pipeline.stages.deploy import databases_dir, deploy_site
from pipeline.stages.documents import record_listing, stable_id
from pipeline.work.fetch.listing import Listing
from pipeline.work.fetch.refs import DocRef
from sites.models import Document, Source
from sites.storage import SiteFiles
from tests.conftest import assert_counters_equal_ledger
from tests.records.conftest import add_document, publish  # noqa: F401
from tests.records.minutes import MOTIONS, ROLL

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
ANN = Operator("ann", "the city's list is wrong")
SECRET = "Her telephone number is five five five"


@pytest.fixture
def source(make_site) -> Source:
    return Source.objects.create(site=make_site("bend.or"), platform="generic", url="https://bend.test/")


@pytest.fixture
def minutes(source, add_document, publish) -> Document:  # noqa: F811
    """Published, from a source that lists it still, beside another document."""
    add_document(source.site, "other", ["Something else"], source=source)
    found = add_document(source.site, "minutes", [ROLL, MOTIONS, SECRET], source=source, url=ref().url)
    Document.objects.filter(source=source).update(sha256="a" * 64, etag="1")
    publish(source.site)
    found.refresh_from_db()
    return found


def ref(**told) -> DocRef:
    listed = DocRef(
        external_id="minutes", url="https://bend.test/m.pdf", title="minutes", body="City Council"
    )
    return replace(listed, date=date(2024, 1, 15), kind="minutes", **told)


def listing(*refs: DocRef) -> Listing:
    return Listing(refs=refs, cursor={}, checks=())


def published(site_id: str) -> dict[str, tuple[str, str, str]]:
    with closing(sqlite3.connect(databases_dir() / f"{site_id}.db")) as connection:
        rows = connection.execute("SELECT id, date, body, kind FROM documents").fetchall()
    return {row[0]: row[1:] for row in rows}


# ---- Corrections --------------------------------------------------------------------------------------


def test_a_correction_is_published_and_kept_when_the_source_says_otherwise_again(minutes, source, run_jobs):
    right = Right(date(2024, 1, 16), "Planning Board", "agenda")

    decided = decisions.correct(minutes.pk, ANN, right)
    run_jobs()
    record_listing(source, listing(ref()))

    minutes.refresh_from_db()
    assert (minutes.meeting_date, minutes.body, minutes.kind) == tuple(vars(right).values())
    assert published("bend.or")[stable_id(minutes)] == ("2024-01-16", "Planning Board", "agenda")
    assert decided.run is not None
    assert Run.objects.get(pk=decided.run.pk).status == "completed"
    note = Intervention.objects.get(action="correct")
    assert (note.by, note.details["before"]["body"]) == ("ann", "City Council")
    assert_counters_equal_ledger()


def test_a_new_version_is_corrected_too(minutes, source):
    decisions.correct(minutes.pk, ANN, Right(date(2024, 1, 16), "City Council", "minutes"))
    Document.objects.filter(pk=minutes.pk).update(revision="1")

    record_listing(source, listing(ref(revision="2")))

    assert Document.objects.get(external_id="minutes", version=2).meeting_date == date(2024, 1, 16)


def test_what_was_not_corrected_still_follows_the_source(minutes, source):
    decisions.correct(minutes.pk, ANN, Right(date(2024, 1, 16), "City Council", "minutes"))

    record_listing(source, listing(replace(ref(), body="Council", title="New title")))

    minutes.refresh_from_db()
    assert (minutes.meeting_date, minutes.body, minutes.title) == (date(2024, 1, 16), "Council", "New title")


def test_what_says_nothing_new_is_refused(minutes):
    with pytest.raises(Refused, match="says already"):
        decisions.correct(minutes.pk, ANN, Right(minutes.meeting_date, minutes.body, minutes.kind))
    with pytest.raises(Refused, match="no kind"):
        decisions.correct(minutes.pk, ANN, Right(minutes.meeting_date, minutes.body, "poem"))
    assert not Correction.objects.exists()


def test_a_correction_while_the_site_is_paused_waits_for_its_next_run(minutes):
    interventions.pause("bend.or", ANN)

    decided = decisions.correct(minutes.pk, ANN, Right(None, "City Council", "minutes"))

    assert decided.run is None
    assert_counters_equal_ledger()


# ---- Takedowns ----------------------------------------------------------------------------------------


def every_byte() -> bytes:
    return b"".join(file.read_bytes() for file in databases_dir().rglob("*.db") if not file.is_symlink())


def test_a_takedown_is_gone_from_every_deployed_database_at_once(minutes, run_jobs):
    assert SECRET.encode() in every_byte()
    kept = stable_id(Document.objects.select_related("source").get(title="other"))

    decisions.take_down(minutes.pk, ANN)

    assert set(published("bend.or")) == {kept}
    assert SECRET.encode() not in every_byte()
    assert b"telephon" not in every_byte()
    run_jobs()
    assert set(published("bend.or")) == {kept}
    assert_counters_equal_ledger()


def test_what_is_taken_down_is_not_fetched_again_in_any_version(minutes, source):
    decisions.take_down(minutes.pk, ANN)
    Document.objects.filter(pk=minutes.pk).update(revision="1")

    waiting = record_listing(source, listing(ref(revision="2")))

    assert [document.external_id for document in waiting] == []
    assert Document.objects.get(version=2).skip_reason == "taken down: the city's list is wrong"
    known = documents.due_for_recheck(source, date(2020, 1, 1), 0)
    assert [each.external_id for each in known] == ["other"]


def test_a_deploy_under_way_does_not_bring_it_back(minutes):
    """The database is compiled, the document is taken down, and then the deploy goes on."""
    interventions.pause("bend.or", ANN)
    decisions.take_down(minutes.pk, ANN)

    deploy_site("bend.or", timezone.now(), SiteFiles.of("bend.or").scratch / "x.db")

    assert stable_id(minutes) not in published("bend.or")
    assert SECRET.encode() not in every_byte()


def test_a_takedown_can_be_lifted(minutes, run_jobs):
    decisions.take_down(minutes.pk, ANN)
    run_jobs()

    decisions.lift(minutes.pk, Operator("bob"))
    run_jobs()

    assert stable_id(minutes) in published("bend.or")
    assert Takedown.objects.get().lifted_by == "bob"
    actions = Intervention.objects.order_by("pk").values_list("action", "by")
    assert list(actions) == [("take down", "ann"), ("lift takedown", "bob")]
    with pytest.raises(Refused, match="not taken down"):
        decisions.lift(minutes.pk, ANN)


def test_a_takedown_needs_a_reason_and_happens_once(minutes):
    with pytest.raises(Refused, match="reason"):
        decisions.take_down(minutes.pk, Operator("ann"))
    decisions.take_down(minutes.pk, ANN)
    with pytest.raises(Refused, match="already"):
        decisions.take_down(minutes.pk, ANN)
