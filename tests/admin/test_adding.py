"""Adding a site from the admin, from an address."""

from datetime import date, time, timedelta

import pytest
from django.urls import reverse

from sites.models import Site, Source
from tests.fakecity import FakeCity
from tests.fakecity.meetings import Meeting
from tests.fakecity.platforms import PUBLISH

pytestmark = pytest.mark.django_db(transaction=True)
ADD = reverse("admin:sites_site_add")
MEETINGS = [
    Meeting(11, "City Council", date.today() - timedelta(days=10), time(18, 30), ("agenda", "minutes"))
]


@pytest.fixture
def city(settings):
    settings.FETCH_HOST_GAP_SECONDS = 0
    with FakeCity() as server:
        settings.FETCH_PRIVATE_HOSTS = [server.host]
        yield server


def test_the_platform_is_recognised_shown_and_saved(as_, city):
    client, url = as_("operator"), PUBLISH["civicplus"](city, MEETINGS)
    page = client.post(ADD, {"url": url, "state": "il"})
    shown = page.content.decode()
    assert "CivicPlus Agenda Center" in shown
    assert "City Council Regular Meeting" in shown
    assert not Site.objects.exists()

    found = page.context["save"].initial
    answer = client.post(ADD, {**found, "subdomain": "springfield.il", "name": "Springfield"})
    assert answer.headers["Location"] == reverse("admin:sites_site_change", args=["springfield.il"])
    site, source = Site.objects.get(), Source.objects.get()
    assert (site.pk, site.name, site.state) == ("springfield.il", "Springfield", "IL")
    assert (source.site, source.platform) == (site, "civicplus")


def test_an_address_that_lists_nothing_is_said(as_, city):
    city.page("/", "<html><body>Welcome</body></html>")
    shown = as_("operator").post(ADD, {"url": city.url}).content.decode()
    assert "Nothing here lists documents" in shown
    assert not Site.objects.exists()


@pytest.mark.parametrize(
    "change", [{"platform": "nonsense"}, {"subdomain": "No Such Name!"}], ids=["platform", "name"]
)
def test_what_cannot_be_saved_is_said(as_, db, change):
    data = {"subdomain": "springfield.il", "platform": "civicplus", "source": "https://x.example/", **change}
    assert as_("operator").post(ADD, data).status_code == 200
    assert not Site.objects.exists()


def test_by_hand(as_, db):
    client = as_("operator")
    data = {"subdomain": "springfield.il", "sources-TOTAL_FORMS": "0", "sources-INITIAL_FORMS": "0"}
    assert client.get(f"{ADD}?by_hand=1").status_code == 200
    assert client.post(f"{ADD}?by_hand=1", data).status_code == 302
    assert Site.objects.get().current_stage is None


def test_a_viewer_adds_nothing(as_, db):
    assert as_("viewer").get(ADD).status_code == 403
