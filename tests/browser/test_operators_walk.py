"""A new operator's ways: to the first records, past a wall, through two thousand failures."""

from datetime import date, time, timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from pipeline.models import BulkAct, DocumentState, Run
from pipeline.operations import bulk
from sites.models import Document, Site, Source
from tests.browser.conftest import log_in, shoot
from tests.browser.test_accessibility import serious
from tests.fakecity import FakeCity
from tests.fakecity.meetings import Meeting
from tests.fakecity.platforms import PUBLISH

pytestmark = pytest.mark.django_db(transaction=True)
MEETINGS = [
    Meeting(number, body, date.today() - timedelta(days=10 * number), time(18, 30), ("agenda", "minutes"))
    for number, body in enumerate(("City Council", "Planning Commission"), start=1)
]


@pytest.fixture
def city(settings):
    settings.FETCH_HOST_GAP_SECONDS = 0
    with FakeCity() as server:
        settings.FETCH_PRIVATE_HOSTS = [server.host]
        yield server


def look_at(page: Page, address: str) -> None:
    page.goto("/admin/sites/site/add/")
    page.get_by_label("Address").fill(address)
    page.get_by_role("button", name="Look").click()


def test_from_an_empty_start_to_the_first_records(open_page, people, city, run_jobs):
    page = open_page()
    log_in(page, "operator")
    expect(page.get_by_role("heading", name="Three steps to your first records")).to_be_visible()
    shoot(page, "first-steps")
    assert serious(page) == []

    page.get_by_role("link", name="How to start them").click()
    expect(page.get_by_text("manage.py workers").first).to_be_visible()
    shoot(page, "help-workers")
    page.goto("/")
    page.get_by_role("link", name="Add a city").click()
    look_at(page, PUBLISH["civicplus"](city, MEETINGS))
    expect(page.get_by_text("No worker serves the queue")).to_be_visible()
    run_jobs(only="fetch")
    # The page follows by itself.
    expect(page.get_by_role("heading", name="4 documents found")).to_be_visible()
    expect(page.get_by_role("row", name="City Council").first).to_be_visible()
    shoot(page, "first-city-found")
    assert serious(page) == []

    page.get_by_label("Key").fill("springfield.il")
    page.get_by_label("Name").fill("Springfield")
    page.get_by_role("button", name="Add site").click()
    expect(page.get_by_text("1 source added.")).to_be_visible()
    assert Run.objects.get().started_by == "operator"
    run_jobs()
    expect(page.locator(".site-state .badge").first).to_have_text("completed")
    page.reload()
    page.get_by_role("link", name="Read its records").click()
    expect(page.get_by_role("heading", name="Springfield").first).to_be_visible()
    page.goto("/dashboard/")
    expect(page.get_by_role("heading", name="Health")).to_be_visible()
    expect(page.get_by_role("heading", name="Three steps to your first records")).to_have_count(0)


def test_a_bot_wall_and_a_name_are_answered_in_one_sentence(open_page, people, city, run_jobs):
    city.page("/meetings", "<title>Just a moment...</title>", status=403)
    page = open_page(width=390)
    log_in(page, "operator")
    look_at(page, f"{city.url}/meetings")
    run_jobs(only="fetch")
    expect(page.get_by_text("The city's server turns programs away")).to_be_visible()
    expect(page.get_by_text("Ask the city to let Clerk through")).to_be_visible()
    expect(page.get_by_role("button", name="Add site")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    shoot(page, "bot-wall-phone")

    look_at(page, "springfield")
    expect(page.get_by_role("link", name="https://www.springfield.gov/")).to_be_visible()


@pytest.fixture
def two_thousand(people, settings) -> None:
    """Failures of a hundred sites, twenty each, whose runs have ended."""
    now = timezone.now()
    sites = [Site(subdomain=f"city{number}.ca", current_stage="completed") for number in range(100)]
    Site.objects.bulk_create(sites)
    sources = Source.objects.bulk_create(
        Source(site=site, platform="generic", url=f"http://{site.pk}.test/") for site in sites
    )
    documents = Document.objects.bulk_create(
        Document(site=source.site, source=source, external_id=str(number), meeting="Council", kind="minutes")
        for source in sources
        for number in range(20)
    )
    DocumentState.objects.bulk_create(
        DocumentState(
            site=document.site,
            document=document,
            pipeline="fetch",
            status="failed_terminal",
            error_code="http_404",
            error_message=f"http://x.test/{document.pk}.pdf answered 404 Not Found",
            attempt_count=1,
            last_attempt_at=now,
            created_at=now,
            updated_at=now,
        )
        for document in documents
    )


def test_two_thousand_failures_are_retried_in_the_background(open_page, two_thousand, run_jobs, monkeypatch):
    monkeypatch.setattr(bulk, "SLICE_SECONDS", 2)
    page = open_page()
    log_in(page, "operator")
    page.get_by_role("link", name="See all 2,000").first.click()
    page.get_by_role("button", name="Retry all of these (2,000)").click()
    expect(page.get_by_text("2,000 failures to try again: 2,000 in fetch.")).to_be_visible()
    page.get_by_role("button", name="Retry", exact=True).click()
    expect(page.get_by_role("heading", name="0 of 100")).to_be_visible()
    expect(page.get_by_text("You can leave this page")).to_be_visible()
    shoot(page, "bulk-running")

    run_jobs(only="high")
    expect(page.get_by_text("100 done, 0 refused, 0 waiting")).to_be_visible()
    shoot(page, "bulk-finished")
    assert BulkAct.objects.get().status == "finished"
    assert DocumentState.objects.filter(retried=1).count() == 2000
    assert Run.objects.running().count() == 100
