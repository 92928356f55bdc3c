"""`add_site URL`: what it is, what would be fetched, and the rows for it."""

import json
from datetime import date, time, timedelta

import pytest
from django.core.management import CommandError, call_command

from pipeline.errors import StageError
from pipeline.operations import add_site
from sites.models import Site, Source
from tests.fakecity import FakeCity
from tests.fakecity.meetings import Meeting
from tests.fakecity.platforms import PUBLISH

pytestmark = pytest.mark.django_db(transaction=True)
TODAY = date.today()
MEETINGS = [
    Meeting(11, "City Council", TODAY - timedelta(days=10), time(18, 30), ("agenda", "minutes")),
    Meeting(12, "Planning Commission", TODAY - timedelta(days=20), time(19, 0), ("agenda",), cancelled=True),
]


@pytest.fixture
def city(settings):
    settings.FETCH_HOST_GAP_SECONDS = 0
    with FakeCity() as server:
        settings.FETCH_PRIVATE_HOSTS = [server.host]
        yield server


def add(capsys, *arguments: str) -> str:
    call_command("add_site", *arguments)
    return capsys.readouterr().out


def test_a_dry_run_names_the_platform_with_its_confidence_and_shows_documents_and_saves_nothing(city, capsys):
    shown = add(capsys, PUBLISH["civicplus"](city, MEETINGS), "--dry-run")

    assert "* CivicPlus Agenda Center (civicplus), 95%: its address" in shown
    assert "3 documents of 2 bodies" in shown
    assert f"{MEETINGS[0].date}  minutes  City Council: City Council Regular Meeting" in shown
    assert "CANCELLED" in shown
    assert "Would add" in shown
    assert not Site.objects.exists()
    assert not Source.objects.exists()


def test_the_site_and_its_source_are_created(city, capsys):
    url = PUBLISH["civicplus"](city, MEETINGS)

    add(
        capsys,
        url,
        "--subdomain",
        "springfield.il",
        "--name",
        "Springfield",
        "--state",
        "IL",
        "--start-year",
        "2019",
    )

    site = Site.objects.get()
    source = Source.objects.get()
    assert (site.pk, site.name, site.state, site.start_year) == ("springfield.il", "Springfield", "IL", 2019)
    assert (source.site_id, source.platform, source.url) == ("springfield.il", "civicplus", url)


def test_a_second_address_adds_a_second_source_and_the_same_one_adds_nothing(city, capsys):
    first = PUBLISH["civicplus"](city, MEETINGS)
    second = PUBLISH["generic"](city, MEETINGS)

    add(capsys, first, "--subdomain", "springfield.il")
    again = add(capsys, first, "--subdomain", "springfield.il")
    add(capsys, second, "--subdomain", "springfield.il")

    assert "Added 0 source(s) to springfield.il (the site was there already)" in again
    assert sorted(Source.objects.values_list("platform", flat=True)) == ["civicplus", "generic"]


def test_every_platform_found_can_be_added(city, capsys):
    PUBLISH["iqm2"](city, MEETINGS)
    PUBLISH["civicplus"](city, MEETINGS)
    landing = city.page(
        "/", f'<a href="/AgendaCenter">Agendas</a><iframe src="{city.url}/AgendaCenter/Board-3">'
    )

    add(capsys, landing, "--subdomain", "springfield.il", "--every")

    assert sorted(Source.objects.values_list("url", flat=True)) == [
        f"{city.url}/AgendaCenter",
        f"{city.url}/AgendaCenter/Board-3",
    ]


def test_the_answer_can_be_json(city, capsys):
    shown = json.loads(add(capsys, PUBLISH["generic"](city, MEETINGS), "--json", "--dry-run"))

    (found,) = shown["found"]
    assert (found["platform"], found["documents"], found["picked"]) == ("generic", 3, True)
    assert found["bodies"] == ["City Council", "Planning Commission"]
    assert shown["saved"] is False


def test_an_operator_may_name_the_platform_and_its_options(city, capsys):
    url = PUBLISH["generic"](city, MEETINGS)

    add(
        capsys,
        url,
        "--subdomain",
        "a",
        "--platform",
        "generic",
        "--option",
        "match=minutes",
        "--option",
        "pages=[]",
    )

    assert Source.objects.get().options == {"match": "minutes", "pages": []}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--platform", "gopher"], "no fetcher is called 'gopher'"),
        (["--platform", "generic", "--option", "colour=red"], "nothing here lists documents"),
        (["--platform", "generic", "--option", "colour"], "expected NAME=VALUE"),
        (["--subdomain", "No Such Name"], "cannot name a site"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_saved(arguments, said, city):
    with pytest.raises(CommandError, match=said):
        call_command("add_site", PUBLISH["generic"](city, MEETINGS), *arguments)

    assert not Site.objects.exists()


def test_a_page_that_is_not_there_or_has_nothing_is_an_error(city):
    with pytest.raises(CommandError, match="http_404"):
        call_command("add_site", f"{city.url}/nowhere")
    with pytest.raises(CommandError, match="nothing here lists documents"):
        call_command("add_site", city.page("/welcome", "<h1>Welcome</h1>"))
    with pytest.raises(CommandError, match="unsafe_address"):
        call_command("add_site", "http://169.254.169.254/latest/meta-data/")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://nc-nashcounty.civicplus.com/AgendaCenter", "nashcounty.nc"),
        ("https://nashville.legistar.com/Calendar.aspx", "nashville"),
        ("https://www.ci.alameda.ca.us/meetings", "alameda.ca"),
        ("https://ci.alameda.ca.us/meetings", "alameda.ca"),
        ("https://www.cityofavenal.com/AgendaCenter", "cityofavenal"),
        ("https://pub-chulavista.escribemeetings.com/", "chulavista"),
        ("https://go.boarddocs.com/oh/akron/Board.nsf/Public", "akron.oh"),
        ("https://webapi.legistar.com/v1/mecklenburg", "mecklenburg"),
    ],
)
def test_a_name_is_made_from_the_address(url, name):
    assert add_site.suggest_subdomain(url) == name


def test_a_name_that_leaves_the_storage_is_refused():
    for name in ("../etc", ".hidden", "a/b", "", "-a", "ä"):
        with pytest.raises(StageError):
            add_site.create(name, [])
