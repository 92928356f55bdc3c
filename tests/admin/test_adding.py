"""Adding a site from the admin, from an address: a job looks, the page shows it, a person saves."""

from datetime import date, time, timedelta

import pytest
from django.urls import reverse

from pipeline.models import Look, Run
from pipeline.operations import looking
from pipeline.operations.guessing import guess
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


@pytest.fixture
def look_at(as_, run_jobs):
    """What the page says once the job has looked."""

    def look(url: str, **more: str) -> str:
        client = as_("operator")
        answer = client.post(ADD, {"url": url, **more})
        assert answer.status_code == 302, answer.content.decode()
        run_jobs(only="fetch")
        page = client.get(answer.headers["Location"])
        return " ".join(page.content.decode().split())

    return look


def test_the_platform_is_recognised_shown_by_body_and_year_and_saved(as_, city, run_jobs):
    client, url = as_("operator"), PUBLISH["civicplus"](city, MEETINGS)
    begun = client.post(ADD, {"url": url})
    waiting = client.get(begun.headers["Location"]).content.decode()
    assert f"Looking at {url}" in waiting
    assert "No worker serves the queue" in waiting
    run_jobs(only="fetch")
    page = client.get(begun.headers["Location"])
    shown = page.content.decode()
    assert "CivicPlus Agenda Center" in shown
    assert "City Council Regular Meeting" in shown
    assert f'<th scope="col" class="number">{MEETINGS[0].date.year}</th>' in shown
    assert not Site.objects.exists()

    answer = client.post(
        begun.headers["Location"], {"subdomain": "springfield.il", "name": "Springfield", "state": "il"}
    )
    assert answer.headers["Location"] == reverse("admin:sites_site_change", args=["springfield.il"])
    site, source = Site.objects.get(), Source.objects.get()
    assert (site.pk, site.name, site.state) == ("springfield.il", "Springfield", "IL")
    assert (source.site, source.platform) == (site, "civicplus")
    assert "1 source added." in client.get(answer.headers["Location"]).content.decode()
    assert not Run.objects.exists()


def test_its_first_run_starts_with_it_where_that_is_asked_for(as_, city, run_jobs):
    client, url = as_("operator"), PUBLISH["civicplus"](city, MEETINGS)
    begun = client.post(ADD, {"url": url}).headers["Location"]
    run_jobs(only="fetch")
    client.post(begun, {"subdomain": "springfield.il", "start": "on"})
    assert Run.objects.get().started_by == "operator"


def test_two_looks_of_one_job_change_nothing(as_, city, run_jobs):
    city.page("/", "<html><body>Welcome</body></html>")
    as_("operator").post(ADD, {"url": city.url})
    run_jobs(only="fetch")
    before = Look.objects.values().get()
    looking.look(before["id"])
    assert Look.objects.values().get() == before


WORDS = "Welcome to the city. " * 40
PAGES = {
    "nothing on it lists documents": f"<p>{WORDS}</p>",
    "turns programs away": "<title>Just a moment...</title><script src='/challenge-platform/x.js'></script>",
    "asks for a password": "<form><input type='password' name='p'></form>",
    "recordings of meetings, and no documents": f"<p>{WORDS}</p><iframe src='https://youtu.be/x'></iframe>",
    "until a browser runs its scripts": "<div id='root'></div><script src='/app.js'></script>",
}


@pytest.mark.parametrize("says", PAGES, ids=lambda says: says.split()[-1])
def test_a_page_without_documents_is_said_why_in_one_sentence(look_at, city, says):
    city.page("/", f"<html><body>{PAGES[says]}</body></html>")
    shown = look_at(city.url)
    assert says in shown
    assert "What to do:" in shown
    assert not Site.objects.exists()


@pytest.mark.parametrize(
    ("status", "says"), [(403, "turns programs away"), (404, "has no such page"), (500, "has trouble")]
)
def test_a_refusal_is_said_in_one_sentence(look_at, city, status, says):
    city.page("/meetings", "no", status=status)
    assert says in look_at(f"{city.url.rstrip('/')}/meetings")


def test_robots_are_respected_and_said(look_at, city):
    city.robots("User-agent: *\nDisallow: /")
    city.page("/", "<html></html>")
    assert "robots.txt asks programs not to read this page" in look_at(city.url)


def test_a_name_is_no_address_and_the_likely_one_is_offered(look_at, make_site):
    make_site("springfield.il")
    shown = look_at("Springfield")
    assert "This is a name, not an address." in shown
    assert "https://www.springfield.gov/" in shown
    assert "springfield.il" in shown


@pytest.mark.django_db(transaction=False)
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("springfield.gov/meetings", "https://springfield.gov/meetings"),
        ("  http://a.org ", "http://a.org"),
        ("127.0.0.1:8000/x", "https://127.0.0.1:8000/x"),
        ("springfield", ""),
    ],
)
def test_https_is_put_in_front(typed, meant):
    assert looking.address_of(typed) == meant


@pytest.mark.django_db(transaction=False)
@pytest.mark.parametrize(
    ("url", "html", "expected"),
    [
        (
            "https://www.springfield.gov/",
            "<title>City of Springfield, IL | Agendas</title>",
            ("Springfield", "IL", "city"),
        ),
        ("https://nc-nashcounty.civicplus.com/", "<title>Agenda Center</title>", ("", "NC", "")),
        (
            "https://x.org/",
            "<title>Meetings</title>100 Main St, Bend, OR 97701 Town of Bend",
            ("Bend", "OR", "town"),
        ),
        ("https://x.org/", "<title>Meetings</title>", ("", "", "")),
    ],
)
def test_name_state_and_kind_are_guessed(url, html, expected):
    found = guess(url, html)
    assert (found.name, found.state, found.kind) == expected


def test_what_cannot_be_saved_is_said(as_, city, run_jobs):
    client = as_("operator")
    begun = client.post(ADD, {"url": PUBLISH["civicplus"](city, MEETINGS)}).headers["Location"]
    run_jobs(only="fetch")
    assert client.post(begun, {"subdomain": "No Such Name!"}).status_code == 200
    assert not Site.objects.exists()


def test_by_hand(as_, db):
    client = as_("operator")
    data = {"subdomain": "springfield.il", "sources-TOTAL_FORMS": "0", "sources-INITIAL_FORMS": "0"}
    assert client.get(f"{ADD}?by_hand=1").status_code == 200
    assert client.post(f"{ADD}?by_hand=1", data).status_code == 302
    assert Site.objects.get().current_stage is None


def test_a_viewer_adds_nothing(as_, db):
    assert as_("viewer").get(ADD).status_code == 403
