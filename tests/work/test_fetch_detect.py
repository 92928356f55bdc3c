"""I have an address and do not know the platform."""

import pytest

from pipeline.work.fetch.client import Client
from pipeline.work.fetch.detect import recognise
from pipeline.work.fetch.gate import LocalGate
from pipeline.work.fetch.registry import fetchers
from tests.fakecity import FakeCity
from tests.fakecity.meetings import MEETINGS
from tests.fakecity.platforms import PUBLISH

ADDRESSES = {
    "https://go.boarddocs.com/oh/akron/Board.nsf/Public": "boarddocs",
    "https://southfultonga.portal.civicclerk.com/event/12/overview": "civicclerk",
    "https://nc-nashcounty.civicplus.com/AgendaCenter": "civicplus",
    "https://www.cityofavenal.com/AgendaCenter/City-Council-1": "civicplus",
    "https://dallasisd.civicweb.net/Portal/MeetingTypeList.aspx": "civicweb",
    "https://pub-chulavista.escribemeetings.com/?Year=2026": "escribe",
    "https://rtachicago.granicus.com/ViewPublisher.php?view_id=4": "granicus",
    "https://hanfordca.iqm2.com/Citizens/Default.aspx": "iqm2",
    "https://nashville.legistar.com/Calendar.aspx": "legistar",
    "https://webapi.legistar.com/v1/mecklenburg": "legistar_api",
    "https://meetings.municode.com/PublishPage?cid=CLOVIS": "municode",
    "https://dinuba.novusagenda.com/agendapublic/": "novusagenda",
    "https://onlinedocs.akronohio.gov/OnBaseAgendaOnline/": "onbase",
    "https://claytoncountyga.primegov.com/public/portal": "primegov",
    "file:///srv/records": "local",
}


@pytest.fixture
def city():
    with FakeCity() as server:
        yield server


@pytest.fixture
def client(city):
    with Client(gate=LocalGate(0), private_hosts=[city.host]) as opened:
        yield opened


@pytest.mark.parametrize(("url", "platform"), ADDRESSES.items())
def test_an_address_tells_its_platform_and_no_other(url, platform):
    sure = {name for name, fetcher in fetchers().items() if fetcher.detect(url, "") >= 0.6}

    assert sure == {platform}


@pytest.mark.parametrize("platform", ["civicplus", "granicus", "iqm2", "legistar", "novusagenda", "onbase"])
def test_a_page_under_the_citys_own_name_tells_its_platform(platform, city, client):
    url = PUBLISH[platform](city, MEETINGS)
    names = (("From", "To"), ("startDate", "endDate"), ("dropsv", "dropev"))
    dates = "?" + "&".join(f"{start}=01/01/2020&{end}=12/31/2026" for start, end in names)
    listed = {"civicplus": "/AgendaCenter/Search/", "onbase": "/OnBaseAgendaOnline/Meetings/Search"}
    page = client.page(city.url + listed.get(platform, url.removeprefix(city.url).partition("?")[0]) + dates)

    confidence = {
        name: fetcher.detect("https://www.springfield.gov/meetings", page.text)
        for name, fetcher in fetchers().items()
    }

    assert max(confidence, key=lambda name: confidence[name]) == platform
    assert confidence[platform] >= 0.7


def test_a_page_that_leads_to_a_platform_gives_the_platforms_address(city, client):
    url = city.page(
        "/government/meetings",
        """<h1>Meetings</h1><a href="/old/1999.pdf">1999 minutes</a>
        <a href="https://springfield.legistar.com/MeetingDetail.aspx?ID=12">Next meeting</a>
        <iframe src="https://springfield.granicus.com/ViewPublisher.php?view_id=3"></iframe>""",
    )

    found = recognise(url, client)

    assert [(item.platform, item.url) for item in found[:2]] == [
        ("granicus", "https://springfield.granicus.com/ViewPublisher.php?view_id=3"),
        ("legistar", "https://springfield.legistar.com/Calendar.aspx"),
    ]
    assert found[-1].platform == "generic"
    assert all(0 < item.confidence <= 1 for item in found)
    assert "leads to" in found[0].reason


def test_a_link_to_one_document_is_not_a_list(city, client):
    documents = (
        "https://meetings.municode.com/d/f?u=https://x/MEET-Agenda-1.pdf",
        "https://x.granicus.com/AgendaViewer.php",
    )
    url = city.page("/meetings", "".join(f'<a href="{address}">Agenda</a>' for address in documents))

    assert [item.url for item in recognise(url, client) if item.url != url] == []


def test_a_page_of_pdf_links_is_a_page_of_pdf_links(city, client):
    found = recognise(PUBLISH["generic"](city, MEETINGS), client)

    assert [item.platform for item in found] == ["generic"]


def test_a_page_with_nothing_on_it_is_nothing(city, client):
    assert recognise(city.page("/", "<h1>Welcome</h1>"), client) == []
