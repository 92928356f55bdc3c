"""Documents as rows: identity, versions, and a listing that can be recorded any number of times."""

from dataclasses import replace
from datetime import date, time, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from pipeline.stages import documents
from pipeline.work.fetch.download import Downloaded
from pipeline.work.fetch.listing import Listing, Recheck
from pipeline.work.fetch.refs import DocRef
from sites.models import Document, Site, Source

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]
DAY = date(2026, 6, 2)


@pytest.fixture
def source(db) -> Source:
    site = Site.objects.create(subdomain="springfield.il")
    return Source.objects.create(site=site, platform="civicplus", url="https://springfield.gov/AgendaCenter")


def a_ref(identity: str = "Agenda/_06022026-1", **values) -> DocRef:
    known = {"url": f"https://springfield.gov/{identity}", "title": "Agenda", "body": "City Council"}
    return DocRef(identity, **(known | {"date": DAY, "time": time(18, 30), "kind": "agenda"} | values))


def fetched(document: Document, content: str = "one") -> Document:
    documents.record_download(document, Downloaded(content * 8, 10, "application/pdf", etag=f'"{content}"'))
    document.refresh_from_db()
    return document


def record(source: Source, *refs: DocRef, checks: tuple[Recheck, ...] = (), **more) -> list[Document]:
    source.refresh_from_db()
    return documents.record_listing(source, Listing(refs, checks=checks, **more))


def test_a_new_reference_becomes_a_document_to_download(source):
    (document,) = record(source, a_ref(cancelled=True))

    assert (document.external_id, document.version, document.body) == (
        "Agenda/_06022026-1",
        1,
        "City Council",
    )
    assert (document.meeting, document.meeting_date, document.meeting_time) == (
        "CityCouncil",
        DAY,
        time(18, 30),
    )
    assert document.cancelled
    assert document.path == ""
    source.refresh_from_db()
    assert source.last_count == 1
    assert source.last_listed_at


def test_recording_a_listing_twice_adds_nothing(source):
    first = record(source, a_ref("a"), a_ref("b"))
    second = record(source, a_ref("a"), a_ref("b"))

    assert [row.pk for row in first] == [row.pk for row in second]
    fetched(first[0])
    assert [row.external_id for row in record(source, a_ref("a"), a_ref("b"))] == ["b"]
    assert Document.objects.count() == 2


def test_one_meeting_with_page_agenda_and_packet_is_three_documents(source):
    refs = [
        a_ref("x-1?html=true", content_hint="html"),
        a_ref("x-1"),
        a_ref("x-1?packet=true", kind="packet"),
    ]

    documents = [fetched(document, str(number)) for number, document in enumerate(record(source, *refs))]

    assert len({document.path for document in documents}) == 3


def test_two_meetings_of_one_body_on_one_day_do_not_share_a_file(source):
    documents = [fetched(row) for row in record(source, a_ref("1", time=time(9)), a_ref("2", time=time(18)))]

    assert len({document.path for document in documents}) == 2


def test_titles_dates_and_addresses_follow_the_source_and_the_file_stays(source):
    (document,) = record(source, a_ref())
    fetched(document)
    path = document.path

    record(
        source,
        a_ref(title="Amended agenda", date=DAY + timedelta(days=1), cancelled=True, url="https://new/"),
    )

    document.refresh_from_db()
    assert (document.title, document.meeting_date) == ("Amended agenda", DAY + timedelta(days=1))
    assert (document.url, document.path, document.version) == ("https://new/", path, 1)


def test_a_changed_document_is_a_new_version_and_the_old_one_stays_until_it_is_there(source):
    (old,) = record(source, a_ref())
    fetched(old)

    (new,) = record(source, a_ref(title="Amended"), checks=(Recheck(old.external_id, "changed"),))
    old.refresh_from_db()
    assert (new.version, new.title, new.sha256) == (2, "Amended", "")
    assert (old.superseded_at, old.title) == (None, "Agenda")

    fetched(new, "two")
    old.refresh_from_db()
    assert old.superseded_at
    assert new.superseded_at is None
    assert old.path != new.path


def test_a_change_that_is_found_again_before_it_is_downloaded_is_one_version(source):
    (old,) = record(source, a_ref())
    fetched(old)
    change = (Recheck(old.external_id, "changed"),)

    record(source, a_ref(), checks=change)
    record(source, a_ref(), checks=change)

    assert list(Document.objects.order_by("version").values_list("version", flat=True)) == [1, 2]


def test_a_changed_document_that_is_no_longer_listed_still_gets_its_version(source):
    (old,) = record(source, a_ref())
    fetched(old)

    (new,) = record(source, checks=(Recheck(old.external_id, "changed"),))

    assert (new.version, new.url, new.meeting_date) == (2, old.url, old.meeting_date)


def test_a_platform_that_publishes_anew_is_believed(source):
    (old,) = record(source, a_ref(revision="2026-06-01"))
    fetched(old)

    assert record(source, a_ref(revision="2026-06-01")) == []
    (new,) = record(source, a_ref(revision="2026-06-05"))

    old.refresh_from_db()
    assert (old.revision, new.revision, new.version) == ("2026-06-01", "2026-06-05", 2)


def test_a_revision_that_a_platform_no_longer_tells_is_no_change(source):
    (document,) = record(source, a_ref(revision="2026-06-01"))
    fetched(document)

    assert record(source, a_ref(revision="")) == []


def test_a_revision_that_a_platform_only_now_tells_is_no_change(source):
    (old,) = record(source, a_ref())
    fetched(old)

    assert record(source, a_ref(revision="2026-06-05")) == []
    old.refresh_from_db()
    assert old.revision == "2026-06-05"


def test_what_was_checked_and_is_the_same_is_noted(source):
    (document,) = record(source, a_ref())
    fetched(document)
    Document.objects.update(checked_at=timezone.now() - timedelta(days=30))

    record(source, a_ref(), checks=(Recheck(document.external_id, "same", etag='"new"'),))

    document.refresh_from_db()
    assert document.checked_at is not None
    assert document.checked_at > timezone.now() - timedelta(minutes=1)
    assert document.etag == '"new"'


def test_a_document_left_out_on_purpose_is_not_downloaded(source):
    record(source, a_ref())
    Document.objects.update(skip_reason="an operator said so")

    assert record(source, a_ref()) == []


def test_a_source_that_lists_nothing_says_so(source):
    record(source)
    source.refresh_from_db()
    assert source.warning == "It lists no documents."

    record(source, a_ref())
    source.refresh_from_db()
    assert source.warning == ""

    record(source, warning="The address now looks like PrimeGov.")
    source.refresh_from_db()
    assert source.warning.startswith("It used to list documents (1 so far)")
    assert source.warning.endswith("PrimeGov.")
    assert source.last_count == 0


def test_a_page_keeps_its_suffix_and_a_pdf_gets_its_own(source):
    (document,) = record(source, a_ref(content_hint="html"))
    assert documents.accepted(document) == "html"

    documents.record_download(document, Downloaded("a" * 64, 10, "application/pdf"))

    document.refresh_from_db()
    assert document.path.endswith(".pdf")
    assert document.content_type == "application/pdf"


def test_agendas_lie_apart_from_minutes(source):
    agenda, minutes = record(source, a_ref("a"), a_ref("m", kind="minutes"))

    assert fetched(agenda).path.startswith("_agendas/pdfs/CityCouncil/2026-06-02-")
    assert fetched(minutes).path.startswith("pdfs/CityCouncil/2026-06-02-")


def test_the_number_of_queries_does_not_grow_with_the_listing(source):
    def cost(count: int) -> int:
        refs = tuple(a_ref(f"{count}-{number}") for number in range(count))
        with CaptureQueriesContext(connection) as queries:
            record(source, *refs)
        return len(queries)

    few, many = cost(3), cost(400)

    # SQLite takes a thousand values in one statement.
    assert many <= few + (3 if connection.vendor == "postgresql" else 15)


# ---- What is looked at again --------------------------------------------------------------------------


def due(source: Source, days: int = 14) -> list[str]:
    return [known.external_id for known in documents.due_for_recheck(source, DAY, days)]


def test_documents_of_the_window_with_validators_are_asked_about_every_time(source):
    for document in record(
        source, a_ref("new"), a_ref("old", date=DAY - timedelta(days=1)), a_ref("undated", date=None)
    ):
        fetched(document)

    assert sorted(due(source)) == ["new", "undated"]


def test_documents_without_validators_are_fetched_again_only_now_and_then(source):
    (document,) = record(source, a_ref())
    fetched(document)
    Document.objects.update(etag="")
    assert due(source) == []

    Document.objects.update(checked_at=timezone.now() - timedelta(days=15))
    assert due(source) == [document.external_id]


def test_superseded_and_missing_documents_are_not_asked_about(source):
    (old,) = record(source, a_ref())
    fetched(old)
    (new,) = record(source, a_ref(), checks=(Recheck(old.external_id, "changed"),))
    fetched(new, "two")
    record(source, a_ref("waiting"))

    (known,) = documents.due_for_recheck(source, DAY, 14)

    assert known.sha256 == new.sha256


def test_a_document_that_must_be_posted_for_is_posted_for_again(db):
    site = Site.objects.create(subdomain="akron.oh")
    base = "https://go.boarddocs.com/oh/akron/Board.nsf"
    source = Source.objects.create(site=site, platform="boarddocs", url=f"{base}/Public")
    (document,) = record(source, replace(a_ref("X1"), url=f"{base}/goto?open&id=X1&committee=C1"))
    fetched(document)

    (known,) = documents.due_for_recheck(source, DAY, 14)

    assert known.url == f"{base}/PRINT-AgendaDetailed?open"
    assert known.form == {"id": "X1", "current_committee_id": "C1"}


def test_references_that_no_table_keeps_cost_only_themselves(source):
    long = "".join(chr(33 + number * 7919 % 90) for number in range(4000))
    bad = [
        a_ref(long),
        a_ref("nul\x00"),
        a_ref("half\ud800"),
        a_ref("b", url="file:///etc/passwd"),
        a_ref(""),
    ]

    recorded = record(source, a_ref("good"), *bad)

    assert [document.external_id for document in recorded] == ["good"]
    source.refresh_from_db()
    assert source.warning.startswith("5 references cannot be kept")


def test_a_body_of_any_script_is_a_folder_that_file_systems_take(source):
    (document,) = record(source, a_ref(body="議会" * 100))

    assert len(document.meeting.encode()) <= 255
    assert document.meeting.startswith("議会")


def test_an_attachment_that_no_table_keeps_is_left_out(source):
    (page,) = record(source, a_ref("page", content_hint="html"))
    html = f"<a href='/{'x' * 2800}.pdf'>Exhibit A</a><a href='/b.pdf'>Exhibit B</a>"

    attached = documents.record_attachments(page, html.encode())

    assert [document.title for document in attached] == ["Exhibit B"]
