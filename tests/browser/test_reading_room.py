"""The journalist's way, from a word to the page that has it: by mouse, by keyboard, on a phone."""

import re
from collections.abc import Callable
from datetime import date

import pytest
from playwright.sync_api import Locator, Page, expect

from pipeline.work.ocr.process.parent import let_cool
from sites.models import Document, Site, Source
from sites.storage import SiteFiles
from tests import pdfs
from tests.browser.conftest import log_in, shoot
from tests.browser.test_accessibility import serious
from tests.records.conftest import add_document, public, publish  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db(transaction=True)
RENTAL = "The council heard the second reading of the short-term rental ordinance on Main Street."


@pytest.fixture
def library(make_site, add_document, publish, public):  # noqa: F811 - fixtures
    """Two towns; the minutes of one have two versions, and their file."""
    bend = make_site("bend.or")
    Site.objects.filter(pk="bend.or").update(name="Bend", state="OR")
    source = Source.objects.create(site=bend, platform="generic", url="http://bend.test/")
    told = {"source": source, "title": "Minutes of May 1", "url": "http://bend.test/minutes.pdf"}
    old = add_document(bend, "m", ["Roll call", RENTAL.replace("second", "first")], **told)
    Document.objects.filter(pk=old.pk).update(superseded_at="2024-05-02T00:00Z")
    new = add_document(bend, "m", ["Roll call", RENTAL], version=2, meeting_date=date(2024, 5, 1), **told)
    _write_pdf(new, [["Roll call"], [RENTAL]])
    add_document(bend, "agenda", ["Rental licenses"], kind="agenda", meeting_date=date(2022, 2, 1))
    reno = make_site("reno.nv")
    Site.objects.filter(pk="reno.nv").update(name="Reno", state="NV")
    add_document(reno, "scan", [f"{RENTAL} again"], method="ocr", meeting_date=date(2023, 3, 9))
    for site in (bend, reno):
        publish(Site.objects.get(pk=site.pk))
    yield
    let_cool()


def _write_pdf(document: Document, pages: list[list[str]]) -> None:
    file = SiteFiles.of(document.site_id).file(document.path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pdfs.digital(pages))


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def search_for(page: Page, words: str) -> None:
    page.goto("/")
    page.get_by_role("searchbox", name="Search every page").fill(words)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_the_journalist_s_way(open_page, library):
    page = open_page()
    search_for(page, "short-term rentol")
    page.get_by_role("link", name="short-term rental", exact=True).click()
    expect(page.get_by_text("2 pages")).to_be_visible()
    page.get_by_role("link", name="2024: 1 pages").click()
    expect(page.locator(".hits li")).to_have_count(1)
    shoot(page, "records-search")

    page.get_by_role("link", name="Minutes of May 1, page 2").click()
    expect(page.locator("mark").first).to_have_text("short-term")
    expect(page.locator(".picture rect")).to_have_count(2)
    picture = page.locator(".picture img")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 1000
    assert picture.bounding_box()
    shoot(page, "records-reader")

    page.get_by_role("link", name="what changed").click()
    expect(page.locator("ins")).to_contain_text("second reading")
    expect(page.locator("del")).to_contain_text("first reading")


def test_a_word_is_marked_where_it_stands_on_the_picture(open_page, library):
    page = open_page()
    search_for(page, "Roll")
    page.get_by_role("link", name="Minutes of May 1, page 1").click()
    mark, picture = page.locator(".picture rect").bounding_box(), page.locator(".picture").bounding_box()

    assert mark and picture
    assert mark["width"] > 5
    assert picture["x"] <= mark["x"] < picture["x"] + picture["width"]


def read_the_first(page: Page, words: str) -> None:
    search_for(page, words)
    follow(page, page.locator(".hits a").first)


def follow(page: Page, link: Locator) -> None:
    with page.expect_navigation():
        link.click()


PAGES: dict[str, Callable[[Page], object]] = {
    "home": lambda page: page.goto("/"),
    "search": lambda page: search_for(page, "rental"),
    "nothing": lambda page: search_for(page, "zebra -rental"),
    "reader": lambda page: read_the_first(page, "short-term"),
    "pages": lambda page: follow(page, page.get_by_role("link", name="All pages")),
}


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)], ids=["light", "dark", "phone"]
)
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(open_page, library, scheme, width):
    page = open_page(width=width, scheme=scheme)
    for name, go in PAGES.items():
        go(page)
        page.wait_for_load_state()
        shoot(page, f"records-{name}-{scheme}-{width}")
        assert serious(page) == [], name
        assert fits(page), name


def test_by_keyboard_and_without_scripts(browser, live_server, library):
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/search")
    expect(page.get_by_role("searchbox", name="Words to search for")).to_be_focused()
    page.keyboard.type("rental")
    page.keyboard.press("Enter")
    page.locator(".hits a").first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/[0-9a-f]{16}/\d+\?q=rental"))
    expect(page.locator("mark").first).to_be_visible()
    context.close()


def test_records_that_are_not_public_are_for_staff(open_page, people, library, settings):
    settings.RECORDS_PUBLIC = False
    page = open_page()
    page.goto("/search?q=rental")
    expect(page.get_by_label("Password")).to_be_visible()

    log_in(page, "viewer")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Records").click()
    expect(page.get_by_role("heading", name="Public records")).to_be_visible()
