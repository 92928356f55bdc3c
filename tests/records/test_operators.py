"""The operator's side: from the admin to the records and back, corrections, takedowns, notes, tokens."""

import re
import shutil

import pytest

from pipeline.models import Correction, Takedown
from pipeline.stages.documents import stable_id
from pipeline.work.ocr import read_document
from records.models import ApiToken, Note
from sites.models import Document
from sites.storage import SiteFiles
from tests import pdfs
from tests.records.conftest import passed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def minutes(town) -> Document:
    return Document.objects.select_related("source").get(site=town, title="minutes")


@pytest.fixture
def published(minutes) -> str:
    return f"/bend.or/{stable_id(minutes)}"


def admin_of(document: Document, act: str = "change/") -> str:
    return f"/admin/sites/document/{document.pk}/{act}"


def test_a_document_in_the_admin_shows_its_text_its_facts_and_the_way_to_the_reader(as_, minutes, published):
    page = as_("viewer").get(admin_of(minutes)).content.decode()

    assert f'href="{published}"' in page
    assert "MINUTES OF THE CITY COUNCIL" in page


def test_from_the_records_staff_come_back_to_the_admin_and_nobody_else_does(client, as_, minutes, published):
    viewer = as_("viewer")

    assert viewer.get(f"{published}/operate")["Location"] == admin_of(minutes)
    assert "/admin/sites/site/bend.or/change/" in viewer.get("/bend.or").content.decode()
    assert client.get(f"{published}/operate").status_code == 404
    assert "/admin/" not in client.get("/bend.or").content.decode()


def test_the_site_in_the_admin_leads_to_its_records(as_, town):
    assert 'href="/bend.or"' in as_("viewer").get("/admin/sites/site/bend.or/change/").content.decode()


def test_an_operator_puts_a_date_right_and_a_viewer_cannot(as_, minutes, run_jobs, client):
    right = {"meeting_date": "2024-02-01", "body": "City Council", "kind": "minutes", "reason": "misprint"}

    assert as_("viewer").post(admin_of(minutes, "correct/"), right).status_code == 403
    assert not Correction.objects.exists()
    answer = as_("operator").post(admin_of(minutes, "correct/"), right, follow=True)
    run_jobs()

    assert "Put right. Run" in answer.content.decode()
    assert client.get("/bend.or").context["latest"][0].date == "2024-02-01"


def test_a_wrong_correction_is_said_on_the_page(as_, minutes):
    operator = as_("operator")
    nothing = {"meeting_date": "2024-01-15", "body": "City Council", "kind": "minutes", "reason": ""}

    assert "says already" in operator.post(admin_of(minutes, "correct/"), nothing).content.decode()
    wrong = operator.post(admin_of(minutes, "correct/"), nothing | {"meeting_date": "soon", "kind": "poem"})
    assert wrong.status_code == 200
    assert not Correction.objects.exists()


def test_what_an_operator_takes_down_no_reader_finds_any_more(client, as_, minutes, published, run_jobs):
    operator = as_("operator")
    assert as_("viewer").post(admin_of(minutes, "act/take-down/"), {"confirmed": "1"}).status_code == 403

    operator.post(admin_of(minutes, "act/take-down/"), {"confirmed": "1", "reason": "a home address"})

    def seen():
        return [
            client.get("/api/v1/search", {"q": "bridge"}).json()["total"],
            client.get(published).status_code,
            client.get(f"{published}/2/1200.webp").status_code,
            client.get(f"/api/v1/sites{published.replace('/bend.or', '/bend.or/documents')}").status_code,
            "Bend.Or: minutes" in client.get("/feeds/search.atom", {"q": "bridge"}).content.decode(),
            "Ann Lee" in client.get("/bend.or").content.decode(),
        ]

    gone = [0, 404, 404, 404, False, False]
    assert seen() == gone
    run_jobs()
    assert seen() == gone
    assert Takedown.objects.get().by == "operator"

    operator.post(admin_of(minutes, "act/lift/"), {"confirmed": "1", "reason": ""})
    run_jobs()
    assert seen()[0] == 1
    assert client.get(published).status_code == 302


def test_a_reader_says_what_is_not_right_and_an_operator_settles_it(client, as_, minutes, published):
    told = {"about": "text", "text": "It says <b>Ruiz</b>", "email": ""}
    answer = client.post(f"{published}/2/note", told, follow=True)
    note = Note.objects.get()

    assert "An operator will look at it" in answer.content.decode()
    assert (note.document, note.page, note.settled_at) == (minutes, 2, None)
    operator = as_("operator")
    listed = operator.get("/admin/records/note/?settled=no").content.decode()
    assert "It says &lt;b&gt;Ruiz" in listed
    assert f"{published}/2" in listed
    assert "1 open" in operator.get(admin_of(minutes)).content.decode()
    operator.post(f"/admin/records/note/{note.pk}/act/settle/", {"confirmed": "1", "reason": "read again"})
    note.refresh_from_db()
    assert (note.settled_by, note.answer) == ("operator", "read again")


def test_machines_and_strangers_leave_no_notes(client, minutes, published, settings):
    told = {"about": "text", "text": "Buy", "email": ""}
    client.post(f"{published}/2/note", told | {"website": "x"})
    client.post(f"{published}/9/note", told)
    client.post(f"{published}/2/note", told | {"text": ""})
    settings.RECORDS_PUBLIC = False
    client.post(f"{published}/2/note", told)

    assert not Note.objects.exists()


def test_an_operator_issues_a_token_whose_secret_is_shown_once(client, as_, town, settings):
    settings.RECORDS_PUBLIC = False
    operator = as_("operator")
    answer = operator.post(
        "/admin/records/apitoken/add/", {"name": "The Bulletin", "per_minute": "100"}, follow=True
    )
    secret = re.search(r"clerk_[\w-]+", answer.content.decode())
    assert secret is not None
    headers = {"Authorization": f"Bearer {secret[0]}"}
    token = ApiToken.objects.get()

    assert client.get("/api/v1/sites/bend.or", headers=headers).status_code == 200
    assert secret[0] not in operator.get("/admin/records/apitoken/").content.decode()
    operator.post(f"/admin/records/apitoken/{token.pk}/act/revoke/", {"confirmed": "1"})
    assert client.get("/api/v1/sites/bend.or", headers=headers).status_code == 401


def test_an_operator_has_a_document_read_again_by_ocr_and_readers_get_the_new_text(
    as_, minutes, published, run_jobs, client
):
    file = SiteFiles.of(minutes.site_id).file(minutes.path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(
        pdfs.digital([["The council met on Main Street and adopted the budget."], ["Roll call"]])
    )
    folder = SiteFiles.of(minutes.site_id).text_dir(minutes.path)
    shutil.rmtree(folder)
    assert read_document(file, folder).methods == {"text": 2}
    for document in Document.objects.filter(site=minutes.site):
        passed(document, "fetch")
    address = admin_of(minutes, "read-again/")
    wanted = {"by_ocr": "on", "dpi": "200", "languages": "", "reason": "its letters are mixed up"}

    assert as_("viewer").post(address, wanted).status_code == 403
    operator = as_("operator")
    assert "no such" not in operator.get(address).content.decode()
    assert "joined by +" in operator.post(address, wanted | {"languages": "a b"}).content.decode()
    assert not Correction.objects.exists()
    answer = operator.post(address, wanted, follow=True)
    assert "It is being read again" in answer.content.decode()
    run_jobs()

    page = client.get(f"{published}/1").content.decode()
    assert "Read from a scan by OCR" in page
    assert "adopted the budget" in page
    assert "it was read so already" in operator.post(address, wanted).content.decode()
    known = Correction.objects.get()
    assert (known.by_ocr, known.dpi, known.meeting_date, known.by) == (True, 200, None, "operator")
