"""A new operator finds the failure, reads why, retries it, watches it finish, and finds the way around."""

import re

import pytest
from playwright.sync_api import expect

from pipeline import flow
from pipeline.models import Intervention, Run
from sites.models import Document, Site
from tests.browser.conftest import log_in, shoot
from tests.conftest import assert_counters_equal_ledger

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ended(people, make_site, trivial_jobs, run_jobs) -> Site:
    """A site that has ended with a broken document, and others around it."""
    site = make_site("alameda.ca", titles=["ok", "ok", "bad"])
    make_site("berkeley.ca", titles=["ok"])
    flow.start(site.pk, by="cron")
    run_jobs()
    return Site.objects.get(pk=site.pk)


def test_from_the_failure_to_its_end(open_page, ended, run_jobs):
    page = open_page()
    log_in(page, "operator")

    # See the failure.
    expect(page.get_by_role("heading", name="What needs you now")).to_be_visible()
    expect(page.get_by_role("link", name="1 failure", exact=True)).to_be_visible()
    shoot(page, "dashboard")

    # Open it, and read why.
    page.get_by_role("link", name="1 failure", exact=True).click()
    expect(page.get_by_text("corrupt").first).to_be_visible()
    shoot(page, "failures")
    page.locator("#result_list tbody a").first.click()
    expect(page.locator(".failure-why")).to_contain_text("DocumentError: this PDF is broken")
    shoot(page, "failure")

    # Retry it, having been told what that means.
    Document.objects.filter(title="bad").update(title="mended")
    page.get_by_role("link", name="Retry").click()
    expect(page.get_by_text("1 failure to try again: 1 in ocr.")).to_be_visible()
    shoot(page, "confirm")
    page.get_by_label("Why").fill("the city published a new scan")
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("Retry: done for 1.")).to_be_visible()

    # Watch it finish: the page moves by itself while the workers work.
    page.get_by_role("link", name="alameda.ca").first.click()
    expect(page.locator(".site-state .badge").first).to_have_text("ocr")
    shoot(page, "site-running")
    run_jobs()
    expect(page.locator(".site-state .badge").first).to_have_text("completed")
    expect(page.get_by_text("Nothing has failed.")).to_be_visible()
    expect(page.get_by_text("the city published a new scan")).to_be_visible()
    shoot(page, "site")
    assert Run.objects.filter(site=ended).count() == 2
    assert_counters_equal_ledger()


def test_pause_and_resume(open_page, ended):
    page = open_page()
    log_in(page, "operator")
    page.goto("/admin/sites/site/alameda.ca/change/")

    page.get_by_role("link", name="Pause", exact=True).click()
    page.get_by_label("Why").fill("their server is down")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".site-state")).to_contain_text("paused")

    page.get_by_role("link", name="Resume").click()
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".site-state")).not_to_contain_text("paused")
    acts = Intervention.objects.order_by("at").values_list("action", "by", "reason")
    assert list(acts) == [("pause", "operator", "their server is down"), ("resume", "operator", "")]


def test_search_the_list_and_start_what_was_found(open_page, ended, run_jobs):
    page = open_page()
    log_in(page, "operator")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Sites").click()
    shoot(page, "sites")
    page.get_by_role("searchbox").fill("berk")
    page.keyboard.press("Enter")
    expect(page.locator("#result_list tbody tr")).to_have_count(1)

    page.locator("#action-toggle").check()
    page.locator("select[name=action]").select_option("start")
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_text("1 site: berkeley.ca")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("Start: done for 1.")).to_be_visible()
    run_jobs()
    page.reload()
    expect(page.locator("#result_list tbody")).to_contain_text("completed")


def test_a_viewer_sees_everything_and_may_act_on_nothing(open_page, ended):
    page = open_page()
    log_in(page, "viewer")
    expect(page.get_by_role("link", name="1 failure", exact=True)).to_be_visible()

    page.goto("/admin/sites/site/")
    expect(page.locator("#result_list tbody tr")).to_have_count(2)
    expect(page.locator("select[name=action]")).to_have_count(0)
    expect(page.get_by_role("checkbox")).to_have_count(0)

    page.goto("/admin/sites/site/alameda.ca/change/")
    expect(page.get_by_role("heading", name="This run")).to_be_visible()
    expect(page.locator(".acts")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("save", re.I))).to_have_count(0)
    shoot(page, "viewer-site")

    answer = page.goto("/admin/sites/site/alameda.ca/act/start/")
    assert answer is not None
    assert answer.status == 403


def test_the_dashboard_renews_itself_and_can_be_held_still(open_page, ended):
    page = open_page()
    log_in(page, "operator")
    expect(page.locator(".numbers")).to_contain_text("Sites2")
    Site.objects.create(subdomain="oakland.ca")
    page.evaluate("htmx.trigger('#board', 'clerk:refresh')")
    expect(page.locator(".numbers")).to_contain_text("Sites3")

    page.get_by_role("button", name="Pause updates").press("Enter")
    expect(page.get_by_role("button", name="Go on updating")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Updates are paused")).to_be_visible()
