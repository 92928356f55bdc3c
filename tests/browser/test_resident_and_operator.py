"""The resident finds a vote, the operator corrects a page, a search is followed; every page is looked at."""

import re
from datetime import date

import pytest
from playwright.sync_api import Page, expect

from pipeline.stages.documents import stable_id
from pipeline.work.ocr.process.parent import let_cool
from records.following import links
from records.models import Note, SavedSearch
from sites.models import Document, Site
from tests.browser.conftest import PASSWORD, shoot
from tests.browser.test_accessibility import serious
from tests.browser.test_reading_room import _write_pdf as write_pdf
from tests.browser.test_reading_room import fits
from tests.mail_server import Postbox, serving
from tests.records.conftest import add_document, public, publish, town  # noqa: F401 - fixtures
from tests.records.minutes import MOTIONS, ROLL

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bend(town):  # noqa: F811 - a fixture
    """A town with a name, and the file of its minutes."""
    Site.objects.filter(pk=town.pk).update(name="Bend", state="OR")
    minutes = Document.objects.get(site=town, title="minutes")
    write_pdf(minutes, [ROLL.splitlines(), MOTIONS.splitlines()])
    yield minutes
    let_cool()


def test_the_resident_finds_how_her_council_voted(open_page, bend):
    page = open_page(width=390, height=800)
    page.goto("/")
    page.get_by_label("Name or state").fill("bend")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Bend", exact=True).first.click()
    expect(page.get_by_role("heading", name="Latest meetings")).to_be_visible()
    shoot(page, "records-site-phone")

    page.get_by_role("link", name="Meetings", exact=True).click()
    page.get_by_role("link", name="City Council").first.click()
    expect(page.get_by_text("Ordinance No. 2024-07").first).to_be_visible()
    shoot(page, "records-meeting-phone")
    page.get_by_role("link", name="Cara Stone").first.click()
    expect(page.get_by_role("heading", name="Cara Stone")).to_be_visible()
    shoot(page, "records-person-phone")
    page.locator("main a[href*='?at=']").first.click()
    expect(page.locator("mark").first).to_be_visible()
    assert fits(page)


def test_the_operator_goes_from_the_admin_to_the_page_and_puts_it_right(open_page, people, bend):
    site = f"/admin/sites/site/{bend.site_id}/change/"
    page = open_page()
    page.goto(site)
    page.get_by_label("Username").fill("operator")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="Read its records").click()
    expect(page.get_by_role("heading", name="Bend")).to_be_visible()
    page.goto(f"/bend.or/{stable_id(bend)}/2")
    expect(page.locator(".picture img")).to_be_visible()
    page.get_by_role("link", name="Something is not right on this page").click()
    page.get_by_label("What you see").fill("The second motion passed 3-0.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("An operator will look at it")).to_be_visible()

    page.get_by_role("link", name="In the admin").click()
    expect(page.get_by_text("1 open")).to_be_visible()
    shoot(page, "records-document-in-admin")
    page.get_by_role("link", name="Put right its date").click()
    page.get_by_label("Body").fill("Town Council")
    page.get_by_label("Why").fill("its letterhead says so")
    page.get_by_role("button", name=re.compile("right|Correct", re.IGNORECASE)).click()
    expect(page.get_by_text("Put right. Run")).to_be_visible()
    assert Note.objects.get().settled_at is None


def test_a_search_is_followed_from_its_page_to_the_end(open_page, bend, settings):
    box = Postbox()
    server = serving(box)
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", server.port, False
    page = open_page()
    page.goto("/")
    settings.PUBLIC_URL = re.sub(r"/$", "", page.url)
    page.goto("/search?q=bridge")
    page.get_by_role("link", name="Follow by mail").click()
    page.get_by_label("Your mail address").fill("ann@bend.test")
    page.get_by_label("at once").check()
    shoot(page, "records-follow")
    look(page, "follow")
    page.get_by_role("button", name="Follow").click()
    expect(page.get_by_text("Look into your mail")).to_be_visible()
    address = re.search(r"http://\S+/confirm/\S+", box.text())
    assert address
    page.goto(address[0])
    look(page, "confirm")
    page.get_by_role("button", name="Yes, send me what is new").click()
    expect(page.get_by_text("You will be told of what is new")).to_be_visible()
    look(page, "followed")
    page.get_by_label("How often").select_option("weekly")
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_label("How often")).to_have_value("weekly")
    page.goto(links.to_stop(SavedSearch.objects.get().pk))
    page.get_by_role("button", name="End it").click()
    expect(page.get_by_role("heading", name="Ended")).to_be_visible()
    server.stop()


def look(page: Page, name: str) -> None:
    """In the dark, and on a phone."""
    page.emulate_media(color_scheme="dark")
    shoot(page, f"records-{name}-dark")
    assert serious(page) == [], name
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 800})
    shoot(page, f"records-{name}-phone")
    assert serious(page) == [], name
    assert fits(page), name
    page.set_viewport_size({"width": 1280, "height": 900})


ADDRESSES = {
    "site": "/bend.or",
    "meetings": "/bend.or/meetings",
    "people": "/bend.or/people",
    "person": "/bend.or/people/Cara Stone",
    "motions": "/bend.or/tables/motions",
    "legislation": "/bend.or/legislation",
    "law": "/bend.or/legislation/ordinance/2024-07",
    "money": "/bend.or/tables/money",
    "places": "/bend.or/tables/addresses",
}


def test_every_other_page_is_accessible(open_page, bend, add_document, publish):  # noqa: F811 - fixtures
    minutes = stable_id(bend)
    add_document(
        bend.site,
        "minutes",
        [ROLL],
        version=2,
        path="pdfs/Council/second.pdf",
        meeting_date=date(2024, 1, 15),
    )
    publish(Site.objects.get(pk="bend.or"))
    page = open_page()
    for name, address in ADDRESSES.items():
        answer = page.goto(address)
        assert answer is not None
        assert answer.status == 200, address
        look(page, name)
    page.goto("/bend.or/meetings")
    page.locator("main a[href*='/meetings/']").first.click()
    look(page, "meeting")
    page.goto(f"/bend.or/{minutes}/1/note")
    look(page, "note")
