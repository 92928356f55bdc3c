"""Usable by keyboard and screen reader, in light and dark, on a phone."""

from datetime import timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, expect

from pipeline import flow
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator
from sites.models import Site
from tests.browser.conftest import log_in, shoot

pytestmark = pytest.mark.django_db(transaction=True)
SERIOUS = ("serious", "critical")
PAGES = {
    "dashboard": "/",
    "sites": "/admin/sites/site/",
    "site": "/admin/sites/site/alameda.ca/change/",
    "ledger": "/admin/pipeline/documentstate/",
    "confirmation": "/admin/sites/site/alameda.ca/act/retry/",
}


@pytest.fixture
def busy(people, make_site, trivial_jobs, run_jobs) -> None:
    """A bit of everything that can be seen."""
    flow.start(make_site("alameda.ca", titles=["ok", "bad", "bad"]).pk, by="cron")
    flow.start(make_site("failed.ca", titles=["bad"]).pk, by="cron")
    run_jobs()
    flow.start(make_site("stuck.ca", titles=["ok", "ok"]).pk)
    run_jobs(only="fetch")
    interventions.pause(make_site("paused.ca").pk, Operator("ann", "tired"))
    Site.objects.filter(pk="stuck.ca").update(updated_at=timezone.now() - timedelta(hours=3))
    make_site("never.ca")


def serious(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:160]} ({node['failureSummary'][:200]})"
        for violation in found
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)], ids=["light", "dark", "phone"]
)
def test_axe_finds_nothing_serious(open_page, busy, scheme, width):
    page = open_page(width=width, scheme=scheme)
    log_in(page, "operator")
    for name, address in PAGES.items():
        page.goto(address)
        shoot(page, f"{name}-{scheme}-{width}")
        assert serious(page) == [], name
        # Nothing is wider than the window but what scrolls by itself.
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name


def test_by_keyboard_alone(open_page, busy):
    page = open_page()
    log_in(page, "operator")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Pause updates")).to_be_focused()
    page.keyboard.press("Tab")
    focused = page.evaluate("document.activeElement.id")
    assert focused == "need-1"
    # A refresh does not take the place away from whoever is there.
    with page.expect_response(lambda response: response.url.endswith("/")):
        page.evaluate("htmx.trigger('#board', 'clerk:refresh')")
    page.wait_for_function("document.activeElement.id === 'need-1'")
