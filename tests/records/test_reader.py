"""The reader: a page's text and picture, with what was searched for marked on both."""

import pytest

from records.results import page_url
from sites.models import Document

pytestmark = pytest.mark.django_db
FOUNTAIN = "The council thanked the mayor for the granite drinking fountain in the park"


@pytest.fixture
def fountain(make_site, add_document, publish, public) -> Document:
    site = make_site(
        "bend.or",
    )
    document = add_document(site, "minutes", ["Roll call", FOUNTAIN], method="ocr")
    publish(site)
    return document


def first_link(answer) -> str:
    return answer.context["found"].hits[0].url


def test_a_search_leads_to_the_page_with_its_words_marked_in_text_and_on_the_picture(client, fountain):
    found = client.get("/search", {"q": "granite drinking fountain"})
    page = client.get(first_link(found))

    assert "<mark>granite</mark> <mark>drinking</mark> <mark>fountain</mark>" in found.content.decode()
    assert "<mark>granite</mark>" in page.content.decode()
    assert [(box.left, box.top) for box in page.context["boxes"]] == [(7000, 0), (8000, 0), (9000, 0)]


def test_the_address_of_a_document_leads_to_its_first_page(client, fountain):
    url = first_link(client.get("/search", {"q": "fountain"}))
    document = url.split("/")[2]

    assert client.get(f"/bend.or/{document}")["Location"] == page_url("bend.or", document, 1)
    assert client.get(page_url("bend.or", document, 3)).status_code == 404
    assert client.get(page_url("bend.or", "0" * 16, 1)).status_code == 404
    assert client.get(page_url("nowhere.or", document, 1)).status_code == 404


def test_a_page_without_boxes_and_without_its_file_is_read_as_text(client, fountain, settings):
    for file in settings.STORAGE_DIR.rglob("*.json"):
        file.unlink()
    page = client.get(first_link(client.get("/search", {"q": "fountain"})))

    assert (page.context["boxes"], page.context["has_picture"]) == ([], False)
    assert "<mark>fountain</mark>" in page.content.decode()


def test_nobody_but_readers_sees_a_page(client, fountain, settings):
    url = first_link(client.get("/search", {"q": "fountain"}))
    settings.RECORDS_PUBLIC = False

    for address in (url, "/search?q=fountain", "/bend.or", url.split("?")[0] + "/1200.webp"):
        assert client.get(address)["Location"].startswith("/admin/login/")
