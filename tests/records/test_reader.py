"""The reader: a page's text and picture, with what was searched for marked on both."""

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.utils import timezone

from pipeline.work.ocr.process.parent import let_cool
from records import pictures
from records.results import page_url
from sites.models import Document, Source
from sites.storage import SiteFiles
from tests import pdfs

pytestmark = pytest.mark.django_db
FOUNTAIN = "The council thanked the mayor for the granite drinking fountain in the park"


@pytest.fixture
def fountain(make_site, add_document, publish, public) -> Document:
    site = make_site("bend.or")
    document = add_document(site, "minutes", ["Roll call", FOUNTAIN], method="ocr")
    publish(site)
    return document


@pytest.fixture
def with_file(fountain):
    """The PDF is there, too."""
    file = SiteFiles.of("bend.or").file(fountain.path)
    file.parent.mkdir(parents=True)
    file.write_bytes(pdfs.digital([["Roll call"], [FOUNTAIN]]))
    yield file
    let_cool()


def first_link(answer) -> str:
    return answer.context["found"].hits[0].url


def page_of(client, words: str = "fountain"):
    return client.get(first_link(client.get("/search", {"q": words})))


def test_a_search_leads_to_the_page_with_its_words_marked_in_text_and_on_the_picture(client, fountain):
    found = client.get("/search", {"q": "granite drinking fountain"})
    page = client.get(first_link(found))

    assert "<mark>granite</mark> <mark>drinking</mark> <mark>fountain</mark>" in found.content.decode()
    assert "<mark>granite</mark>" in page.content.decode()
    assert [(box.left, box.top) for box in page.context["boxes"]] == [(7000, 0), (8000, 0), (9000, 0)]
    assert "Read from a scan by OCR, 91 % sure" in page.content.decode()


def test_the_address_of_a_document_leads_to_its_first_page(client, fountain):
    url = first_link(client.get("/search", {"q": "fountain"}))
    document = url.split("/")[2]

    assert client.get(f"/bend.or/{document}")["Location"] == page_url("bend.or", document, 1)
    assert client.get(page_url("bend.or", document, 3)).status_code == 404
    assert client.get(page_url("bend.or", "0" * 16, 1)).status_code == 404
    assert client.get(page_url("nowhere.or", document, 1)).status_code == 404
    assert client.get(f"/bend.or/{document}/2.txt").content.decode() == FOUNTAIN


def test_search_within_a_document_and_its_neighbours(client, fountain):
    page = client.get(f"{page_of(client).request['PATH_INFO'][:-2]}/1", {"q": "mayor"})
    every = client.get(f"{page_of(client).request['PATH_INFO'][:-2]}/pages", {"q": "mayor"})

    assert [link.number for link in page.context["found_on"]] == [2]
    assert (page.context["previous"], page.context["next"].number) == (None, 2)
    assert [(link.number, link.found) for link in every.context["pages"]] == [(1, False), (2, True)]


def test_a_page_without_boxes_and_without_its_file_is_read_as_text(client, fountain, settings):
    for file in settings.STORAGE_DIR.rglob("*.json"):
        file.unlink()
    page = page_of(client)

    assert (page.context["boxes"], page.context["has_picture"]) == ([], False)
    assert "<mark>fountain</mark>" in page.content.decode()
    assert client.get(page.request["PATH_INFO"] + "/1200.webp").status_code == 404
    assert client.get(page.request["PATH_INFO"][:-2] + "/original").status_code == 404


def test_a_page_is_cited_by_its_stable_address(client, fountain):
    page = page_of(client)
    text = page.content.decode()
    told = json.loads(text.partition('<script type="application/ld+json">')[2].partition("</script>")[0])

    assert page.context["address"] == f"http://testserver{page.request['PATH_INFO']}"
    assert all(page.context["address"] in citation.text for citation in page.context["citations"])
    assert (told["name"], told["pagination"]) == ("minutes", "2")
    assert 'property="og:title"' in text


def test_facts_of_the_page_point_to_their_place(client, make_site, add_document, publish, public):
    site = make_site("bend.or")
    add_document(
        site, "minutes", ["Moved by Lee, seconded by Ng, to buy a fountain for $5,000. Carried 3-0."]
    )
    publish(site)
    facts = page_of(client).context["facts"]
    marked = client.get(facts["Money"][0].url)

    assert facts["Money"][0].text == "$5,000"
    assert "<mark>$5,000</mark>" in marked.content.decode()
    assert len(marked.context["boxes"]) == 1


def test_versions_and_what_changed_between_them(client, make_site, add_document, publish, public):
    site = make_site("bend.or")
    source = Source.objects.create(site=site, platform="generic", url="http://bend.test/")
    told = {"source": source, "title": "minutes"}
    add_document(site, "m", ["Call to order\nThe fountain is granite"], superseded_at=timezone.now(), **told)
    add_document(site, "m", ["Call to order\nThe fountain is marble"], version=2, **told)
    publish(site)
    newest = page_of(client)
    old = client.get(newest.context["versions"][1].url, follow=True)
    changed = client.get(newest.context["versions"][1].changes).content.decode()

    assert client.get("/search", {"q": "granite"}).context["found"].counts.total == 0
    assert [(each.number, each.shown) for each in newest.context["versions"]] == [(2, True), (1, False)]
    assert "This version was superseded" in old.content.decode()
    assert "Removed: </span>The fountain is granite" in changed
    assert "Added: </span>The fountain is marble" in changed
    assert "Removed: </span>Call to order" not in changed


def test_the_original_is_the_file_and_nothing_but_a_record_can_be_asked_for(client, with_file, settings):
    base = page_of(client).request["PATH_INFO"][:-2]
    secret = Path(settings.STORAGE_DIR) / "bend.or" / "secret.pdf"
    secret.write_bytes(b"%PDF-secret")
    answer = client.get(f"{base}/original")

    assert b"".join(answer.streaming_content) == with_file.read_bytes()
    assert (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("application/pdf", "nosniff")
    for path in (
        "/bend.or/secret.pdf",
        "/bend.or/../secret.pdf",
        f"{base}/../secret.pdf",
        "/..%2fx/meetings.db",
    ):
        assert client.get(path).status_code == 404


def test_a_stranger_s_web_page_is_handed_out_as_a_file(client, make_site, add_document, publish, public):
    site = make_site("bend.or")
    document = add_document(site, "a", ["fountain"], path="pdfs/Council/a.html", content_type="text/html")
    file = SiteFiles.of(site.pk).file(document.path)
    file.parent.mkdir(parents=True)
    file.write_text("<script>alert(1)</script>")
    publish(site)
    page = page_of(client)
    answer = client.get(page.request["PATH_INFO"][:-2] + "/original")

    assert page.context["has_picture"] is False
    assert answer["Content-Type"] == "application/octet-stream"
    assert "attachment" in answer["Content-Disposition"]
    assert "sandbox" in answer["Content-Security-Policy"]


def test_a_picture_is_drawn_once_and_then_kept(client, with_file, monkeypatch):
    url = page_of(client).request["PATH_INFO"]
    first = client.get(f"{url}/1200.webp")
    with_file.unlink()
    again = client.get(f"{url}/1200.webp")
    unchanged = client.get(f"{url}/1200.webp", headers={"if-none-match": first["ETag"]})

    assert (first.status_code, first["Content-Type"], first.content[8:12]) == (200, "image/webp", b"WEBP")
    assert again.content == first.content
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert client.get(f"{url}/777.webp").status_code == 404


def test_the_kept_pictures_stay_within_their_bound(settings, tmp_path):
    settings.RECORDS_IMAGE_CACHE_MB = 1
    for number in range(5):
        pictures.keep(f"a{number}", bytes(20_000))
        path = tmp_path / "images" / "a" / f"a{number}.webp"
        os.utime(path, (number, number))
    pictures.keep("a9", bytes(20_000))

    kept = {path.stem for path in (tmp_path / "images" / "a").iterdir()}
    assert kept == {"a3", "a4", "a9"}


def test_nobody_but_readers_sees_a_page(client, with_file, settings):
    url = page_of(client).request["PATH_INFO"]
    settings.RECORDS_PUBLIC = False
    document = url[:-2]
    addresses = [url, f"{url}.txt", f"{url}/1200.webp", f"{document}/original", f"{document}/pages", document]
    addresses += ["/search?q=fountain", "/search.csv?q=fountain", "/search.json", "/bend.or", "/sitemap.xml"]
    addresses += ["/sitemaps/bend.or/1.xml", "/bend.or/0000000000000000/1", "/nowhere.or"]

    for address in addresses:
        assert client.get(address)["Location"].startswith("/admin/login/"), address
    assert client.get("/robots.txt").content.decode() == "User-agent: *\nDisallow: /\n"


def test_crawlers_are_told_what_there_is(client, fountain):
    robots = client.get("/robots.txt").content.decode()
    index = ElementTree.fromstring(client.get("/sitemap.xml").content)
    (part,) = [loc.text for loc in index.iterfind(".//{*}loc")]
    listed = [loc.text for loc in ElementTree.fromstring(client.get(part).content).iterfind(".//{*}loc")]

    assert "Sitemap: http://testserver/sitemap.xml" in robots
    assert "Disallow: /search" in robots
    assert listed[0] == "http://testserver/bend.or"
    assert {client.get(address).status_code for address in listed} == {200}
    assert client.get("/sitemaps/bend.or/9.xml").status_code == 404
