"""BoardBook, SuiteOne, AgendaQuick, OpenCities, Swagit, OnBoard and Simbli, in the shapes of their pages."""

import json
from datetime import date, time
from typing import Any

import pytest

from pipeline.errors import SourceError
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.detect import recognise
from pipeline.work.fetch.gate import LocalGate
from pipeline.work.fetch.listing import ListedDays, take
from pipeline.work.fetch.refs import DocRef
from pipeline.work.fetch.registry import build, fetchers
from tests.fakecity import FakeCity
from tests.fakecity.server import Reply, Request

TODAY, DAY = date(2026, 6, 10), date(2026, 6, 2)


@pytest.fixture
def city():
    with FakeCity() as server:
        yield server


@pytest.fixture
def client(city):
    with Client(gate=LocalGate(0), private_hosts=[city.host]) as opened:
        yield opened


def refs(platform: str, page: str, url: str) -> list[DocRef]:
    fetcher: Any = build(platform, Client(), url)
    return list(fetcher.refs(page, url))


def told(found: list[DocRef]) -> list[tuple]:
    return [(ref.external_id, ref.body, ref.date, ref.time, ref.kind) for ref in found]


BOARDBOOK = """<meta name="copyright" content="Sparq Data Solutions Inc."><h1>Springfield Schools Public View</h1><table>
  <tr class=" row-for-board"><td><div>June 2, 2026 at 4:30 PM - Regular</div>
    <div><b>Meeting Type:</b> Regular</div></td><td>Board Room [<a href="https://maps.google.com/?q=1">map it</a>]</td>
    <td><ul><li><a href="/Public/Agenda/1810?meeting=74">Agenda</a></li>
      <li><a href="/Public/Minutes/1810?meeting=74">Minutes</a></li></ul></td></tr>
  <tr class=" row-for-board"><td><div>May 19, 2026 at 5:00 PM - Board of Trustees Special Meeting</div></td>
    <td>CANCELED</td><td><a href="/Public/Agenda/1810?meeting=70">Agenda</a></td></tr></table>"""


def test_boardbook_lists_agendas_and_minutes_as_pages():
    found = refs("boardbook", BOARDBOOK, "https://meetings.boardbook.org/Public/Organization/1810")

    assert told(found) == [
        ("agenda-74", "Springfield Schools", DAY, time(16, 30), "agenda"),
        ("minutes-74", "Springfield Schools", DAY, time(16, 30), "minutes"),
        ("agenda-70", "Board of Trustees", date(2026, 5, 19), time(17, 0), "agenda"),
    ]
    assert {ref.content_hint for ref in found} == {"html"}
    assert [ref.cancelled for ref in found] == [False, False, True]


SUITEONE = """<table class="eventTable"><caption>Recent events</caption>
  <tr><th>Meeting</th><th>Date | Time</th><th>Agenda</th></tr>
  <tr><td><a href="/event/?id=32">City Council Special Meeting <span>(opens in new window)</span></a></td>
    <td data-sort="639">Jun 2, 2026 | 06:00 PM</td>
    <td><a href="/event/GetAgendaFile/Agenda?aid=3453" title="download agenda file"></a></td>
    <td><a href="/event/GetAgendaPacketFile/Agenda%20Packet?apid=3244"></a></td>
    <td><a href="/event/GetMinutesFile/Minutes?mid=1205"></a></td>
    <td><a href="/event/?id=32" title="video"></a></td></tr></table>"""


def test_suiteone_lists_the_files_of_each_meeting():
    assert told(refs("suiteone", SUITEONE, "https://springfield.suiteonemedia.com/")) == [
        ("aid=3453", "City Council", DAY, time(18, 0), "agenda"),
        ("apid=3244", "City Council", DAY, time(18, 0), "packet"),
        ("mid=1205", "City Council", DAY, time(18, 0), "minutes"),
    ]


def test_agendaquick_is_read_month_by_month(city, client):
    def month(request: Request) -> Reply:
        row = """<tr><td><a href="agenda_publish.cfm?id=7&mt=ALL&dsp=ag&seq=22">Jun 2, 2026 6:30 PM</a></td>
          <td>City Council</td><td><a href="agenda_publish.cfm?id=7&dsp=min&seq=23">Minutes</a></td>
          <td><a href="/docs/2026/packet_22.pdf">Packet</a> <a href="/video.cfm?x=1">Video</a></td></tr>"""
        asked = (request.query.get("get_year"), request.query.get("get_month"))
        return Reply(f"<table id='meeting-table'>{row if asked == ('2026', '6') else ''}</table>".encode())

    city.answer("/agenda_publish.cfm", month)
    fetcher = build("agendaquick", client, f"{city.url}/agenda_publish.cfm?id=7")

    found = list(fetcher.between(date(2026, 4, 20), TODAY))

    assert [(ref.external_id.rpartition("/")[2], ref.kind, ref.content_hint) for ref in found] == [
        ("agenda-22", "agenda", "html"),
        ("minutes-23", "minutes", "html"),
        ("packet_22.pdf", "packet", "pdf"),
    ]
    assert {(ref.body, ref.date, ref.time) for ref in found} == {("City Council", DAY, time(18, 30))}
    assert [asked.query["get_month"] for asked in city.gets()] == ["6", "5", "4"]


def test_opencities_is_asked_for_the_documents_of_each_meeting(city, client):
    entry = """<article class="accordion-list-item-container"><a class="accordion-trigger minutes-trigger"
      data-cvid="{}" href="#"><span class="minutes-date">{}</span> <span class="meeting-type">{}</span></a></article>"""
    home = city.page(
        "/meetings",
        entry.format("c-1", "02 June 2026", "Council Meeting")
        + "<a rel='next' href='/meetings?page=2'>Next</a>",
    )
    city.answer("/OCServiceHandler.axd", lambda request: _opencities_documents(request))

    listing = take(build("opencities", client, home), ListedDays.of(TODAY, start_year=2026), {})

    assert [(ref.url.removeprefix(city.url), ref.body, ref.date, ref.kind) for ref in listing.refs] == [
        ("/files/agenda.pdf", "Council Meeting", DAY, "agenda"),
        ("/files/m2.docx", "Council Meeting", DAY, "minutes"),
    ]
    assert "leads back" in listing.warning


def _opencities_documents(request: Request) -> Reply:
    assert request.query["cvid"] == "c-1"
    html = """<div class="meeting-document"><h3>Agenda</h3><a href="/files/agenda.pdf">Agenda (PDF, 2MB)</a></div>
      <div class="meeting-document"><h3>Minutes</h3><a href="/files/m2.docx">Download</a></div><a href="/map">Map</a>"""
    return Reply(
        json.dumps({"_response_status": {"status": "Okay"}, "html": html}).encode(), "application/json"
    )


def test_swagit_lists_recordings_that_have_documents():
    page = """<table id="video-table"><tr><td><a href="/videos/1001">City Council<br>Jun 2, 2026</a></td>
      <td><a href="/videos/1001/agenda">Agenda</a></td><td><a href="/files/minutes-1001.pdf">Minutes</a></td></tr>
      <tr><td><a href="/videos/1000">City Council<br>May 5, 2026</a></td><td></td></tr></table>"""

    assert told(refs("swagit", page, "https://springfield.new.swagit.com/views/9/")) == [
        ("agenda-1001", "City Council", DAY, None, "agenda"),
        ("springfield.new.swagit.com/files/minutes-1001.pdf", "City Council", DAY, None, "minutes"),
    ]


def test_onboard_is_read_from_the_group_to_its_meetings(city, client):
    group = city.page(
        "/Group/org/g1",
        """<h1>Finance Committee</h1><ul><li>June 2, 2026 8:30 AM <a href="/Meeting/org/m1">View</a></li>
        <li>June 9, 2020 <a href="/Meeting/org/m0">View</a></li></ul>""",
    )
    city.page(
        "/Meeting/org/m1", "<a href='/Document/org/d1'>Agenda Packet</a><a href='/Group/org/g1'>Back</a>"
    )

    found = list(build("onboard", client, group).between(date(2026, 1, 1), TODAY))

    assert [(ref.url.removeprefix(city.url), ref.body, ref.date, ref.time, ref.kind) for ref in found] == [
        ("/Document/org/d1", "Finance Committee", DAY, time(8, 30), "packet")
    ]


def test_simbli_is_asked_with_the_tokens_of_its_page(city, client):
    page = "/SB_Meetings/SB_MeetingListing.aspx"
    city.page(page, "<script>var constr = 'abc'; var sToken = \"t-1\";</script>")

    def service(request: Request) -> Reply:
        asked = json.loads(request.body)
        assert (asked["ConnectionString"], asked["SecurityToken"], asked["SchoolID"]) == ("abc", "t-1", "404")
        meeting = {
            "Master_MeetingID": 9,
            "MM_MeetingTitle": "Board &amp; Cabinet",
            "DateTime": "06/02/2026 - 06:30 PM",
        }
        return Reply(json.dumps({"MeetingList": [meeting]}).encode(), "application/json")

    city.answer("/Services/api/GetMeetingListing", service)

    (ref,) = take(build("simbli", client, f"{city.url}{page}?S=404"), ListedDays.of(TODAY), {}).refs

    assert (ref.url, ref.body) == (f"{city.url}/SB_Meetings/ViewMeeting.aspx?S=404&MID=9", "Board & Cabinet")
    assert (ref.date, ref.time, ref.content_hint) == (DAY, time(18, 30), "html")


def test_simbli_that_shows_a_riddle_instead_of_its_list_is_the_wrong_page(city, client):
    city.page("/SB_Meetings/SB_MeetingListing.aspx", "<script>challenge()</script>")

    with pytest.raises(SourceError) as caught:
        take(
            build("simbli", client, f"{city.url}/SB_Meetings/SB_MeetingListing.aspx?S=404"),
            ListedDays.of(TODAY),
            {},
        )

    assert caught.value.code == "wrong_page"


@pytest.mark.parametrize(
    ("url", "platform"),
    [
        ("https://meetings.boardbook.org/Public/Organization/1810", "boardbook"),
        ("https://meeting.sparqdata.com/Public/Organization/120", "boardbook"),
        ("https://springfield.suiteonemedia.com/", "suiteone"),
        ("https://public.destinyhosted.com/agenda_publish.cfm?id=24263", "agendaquick"),
        ("https://springfield.new.swagit.com/views/9/", "swagit"),
        ("https://public.onboardmeetings.com/Group/org/g1", "onboard"),
        ("https://simbli.eboardsolutions.com/SB_Meetings/SB_MeetingListing.aspx?S=404", "simbli"),
        ("https://ccsd.community.diligentoneplatform.com/Portal/", "civicweb"),
        ("https://eatwp.diligent.community/Portal/MeetingTypeList.aspx", "civicweb"),
    ],
)
def test_a_platform_is_known_by_its_address(url, platform):
    sure = {name: fetcher.detect(url, "") for name, fetcher in fetchers().items()}

    assert max(sure, key=lambda name: sure[name]) == platform
    assert sure[platform] >= 0.9


@pytest.mark.parametrize(("page", "platform"), [(BOARDBOOK, "boardbook"), (SUITEONE, "suiteone")])
def test_a_platform_is_known_by_its_page(page, platform, city, client):
    assert recognise(city.page("/meetings", page), client)[0].platform == platform


def test_opencities_is_known_by_its_list(city, client):
    page = "<a class='accordion-trigger minutes-trigger' data-cvid='1'><span class='minutes-date'>2 June 2026</span></a>"

    assert recognise(city.page("/meetings", page), client)[0].platform == "opencities"


CALENDAR = """BEGIN:VCALENDAR
BEGIN:VEVENT
UID:e1
DTSTART;TZID=America/Chicago:20260602T183000
SUMMARY:City Council Regular Meeting
DESCRIPTION:<a href="https://town.example/files/agenda-1.pdf">Agenda</a>\\, and
  the <a href="https://drive.google.com/file/d/1AbC/view">Packet</a>\\; <a href="https://zoom.us/j/1">join</a>
ATTACH;FILENAME="Minutes draft.docx":https://town.example/m/9
END:VEVENT
BEGIN:VEVENT
UID:e2
DTSTART;VALUE=DATE:20260609
STATUS:CANCELLED
SUMMARY:Planning Commission
DESCRIPTION:See https://town.example/files/Notice.pdf or call us.
END:VEVENT
END:VCALENDAR
"""


def test_a_calendar_feed_lists_what_its_events_attach_and_link_to():
    found = refs("calendar", CALENDAR.replace("\n", "\r\n"), "https://town.example/board.ics")

    assert [(ref.url.rpartition("//")[2], ref.body, ref.date, ref.time, ref.kind) for ref in found] == [
        ("town.example/m/9", "City Council", DAY, time(18, 30), "minutes"),
        ("town.example/files/agenda-1.pdf", "City Council", DAY, time(18, 30), "agenda"),
        ("drive.google.com/file/d/1AbC/view", "City Council", DAY, time(18, 30), "packet"),
        ("town.example/files/Notice.pdf", "Planning Commission", date(2026, 6, 9), None, "other"),
    ]
    assert [ref.cancelled for ref in found] == [False, False, False, True]


@pytest.mark.parametrize(
    ("shown", "feed"),
    [
        (
            "https://calendar.google.com/calendar/embed?src=town%40group.calendar.google.com&ctz=America/Chicago",
            "https://calendar.google.com/calendar/ical/town%40group.calendar.google.com/public/basic.ics",
        ),
        (
            "https://outlook.office365.com/owa/calendar/abc@town.example/def/calendar.html",
            "https://outlook.office365.com/owa/calendar/abc@town.example/def/calendar.ics",
        ),
    ],
)
def test_the_feed_behind_a_calendar_in_a_frame_is_found(shown, feed, city, client):
    page = city.page("/events", f"<h1>Events</h1><iframe src='{shown}'></iframe>")

    found = recognise(page, client)

    assert (found[0].platform, found[0].url) == ("calendar", feed)


def test_a_page_instead_of_a_feed_is_the_wrong_page():
    with pytest.raises(SourceError) as caught:
        refs("calendar", "<html>Sign in</html>", "https://town.example/board.ics")

    assert caught.value.code == "wrong_page"
