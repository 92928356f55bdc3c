"""The shapes that platforms' pages come in besides the usual one, and what must not be read out of them."""

from datetime import date, time
from typing import Any

import pytest

from pipeline.errors import DocumentError, StageError
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.refs import DocRef
from pipeline.work.fetch.registry import build

DAY = date(2026, 6, 2)


def refs(platform: str, page, url: str = "https://city.example/", **options) -> list[DocRef]:
    fetcher: Any = build(platform, Client(), url, options)
    return list(fetcher.refs(page, url) if isinstance(page, str) else fetcher.refs(page))


# ---- BoardDocs ----------------------------------------------------------------------------------------

BOARD = "https://go.boarddocs.com/oh/akron/Board.nsf/Public"


def test_a_feed_that_is_not_well_formed_is_read_in_full():
    meetings = "".join(
        f'<meeting id="M{number:02}" bodyid="BB8W4G839BCC" bodyname="Board of Education" order="1">'
        f"<name>REGULAR MEETING</name><start><date format='yyyy-mm-dd'>2026-06-{number:02}</date><english>"
        f"<date>June {number}, 2026</date></english></start><description>At 5:30 p.m. in the Board Room"
        # A tag that is never closed, a bare ampersand, and a tag in the middle of a word.
        f"{'<b>' if number == 3 else ''} R&D {'</agendaitems>' if number == 5 else ''}</description>"
        f"<link>http://go.boarddocs.com/goto?open&id=M{number:02}</link>"
        f"<category><name>1. OPENING</name><agendaitems><item><name>1.1 Roll Call</name></item></agendaitems>"
        f"{'' if number == 7 else '</category>'}</meeting>"
        for number in range(1, 22)
    )
    fetcher: Any = build("boarddocs", Client(), BOARD)

    found = list(
        fetcher.feed_refs(f'<?xml version="1.0" encoding="UTF-8"?>\n<meetings>{meetings}</meetings>')
    )

    assert [ref.date for ref in found] == [date(2026, 6, number) for number in range(1, 22)]
    assert {(ref.title, ref.body, ref.time) for ref in found} == {
        ("REGULAR MEETING", "Board of Education", time(17, 30))
    }
    assert (
        found[0].url == "https://go.boarddocs.com/oh/akron/Board.nsf/goto?open&id=M01&committee=BB8W4G839BCC"
    )


def test_a_boarddocs_agenda_is_posted_for():
    fetcher: Any = build("boarddocs", Client(), BOARD)
    (ref,) = fetcher.refs([{"unique": "M1", "name": "MEETING", "numberdate": "20260602"}, {}], "C1", "Board")

    url, form = fetcher.request_for(ref.url)

    assert (ref.date, ref.body, ref.content_hint) == (DAY, "Board", "html")
    assert url.endswith("/Board.nsf/PRINT-AgendaDetailed?open")
    assert form == {"id": "M1", "current_committee_id": "C1"}
    with pytest.raises(DocumentError):
        fetcher.request_for("https://go.boarddocs.com/elsewhere")


def test_the_page_of_a_boarddocs_meeting_says_which_documents_it_has():
    fetcher: Any = build("boarddocs", Client(), BOARD)
    (agenda,) = fetcher.refs([{"unique": "M1", "name": "MEETING", "numberdate": "20260602"}], "C1", "Board")
    page = """<div class="meeting-description">3700 S. High St.<br>43207<br>6:00PM</div><div class="meeting-buttons">
      <a href="#" id="btn-view-agenda">View</a><a href="#" id="btn-download-agenda-pdf">Download</a>
      <a href="#" id="btn-view-minutes-id">View Minutes</a></div>"""

    first, minutes = fetcher.meeting_refs(agenda, page)

    assert (first.external_id, first.kind, first.time) == ("M1", "agenda", time(18, 0))
    assert (minutes.external_id, minutes.kind) == ("M1-minutes", "minutes")
    assert fetcher.request_for(minutes.url)[0].endswith("/Board.nsf/BD-GetMinutes?open")
    assert [ref.kind for ref in fetcher.meeting_refs(agenda, "")] == ["agenda"]
    attached = "https://go.boarddocs.com/oh/akron/Board.nsf/files/X7/$file/report.pdf"
    assert fetcher.request_for(attached) == (attached, None)


# ---- CivicPlus ----------------------------------------------------------------------------------------


def test_no_agenda_center_link_is_left_out_however_its_row_looks():
    page = """<div id="cat3"><h2>Board of Zoning</h2><table><tbody>
      <tr><td><a name="_06022026-7"></a><p>Hearing</p><a href="/AgendaCenter/ViewFile/Agenda/_06022026-7">Agenda</a>
          <a href="/AgendaCenter/ViewFile/Agenda/_06022026-7?html=true">HTML</a>
          <a href="/AgendaCenter/ViewFile/Agenda/_06022026-7?packet=true">Packet</a></td></tr>
      <tr><td><p>No anchor</p><a href="/AgendaCenter/ViewFile/Minutes/_06022026-8">Minutes</a></td></tr>
      <tr><td><a name="_99992026-9"></a><p>A date that is none</p>
          <a href="/AgendaCenter/ViewFile/Agenda/_99992026-9">Agenda</a></td></tr></tbody></table></div>
      <div id="cat4"><h2>No table at all</h2>
          <a href="https://city.example/AgendaCenter/ViewFile/ArchivedAgenda/_06022026-10">Old</a></div>
      <a href="/AgendaCenter/PreviousVersions/_06022026-7">Previous versions</a>
      <a href="/AgendaCenter/ViewFile/Item/12?fileID=3">Attachment</a>"""

    found = {ref.external_id: ref for ref in refs("civicplus", page)}

    assert sorted(found) == [
        "Agenda/_06022026-7",
        "Agenda/_06022026-7?html=true",
        "Agenda/_06022026-7?packet=true",
        "Agenda/_99992026-9",
        "ArchivedAgenda/_06022026-10",
        "Minutes/_06022026-8",
    ]
    assert [found[key].kind for key in sorted(found)] == [
        "agenda",
        "agenda",
        "packet",
        "agenda",
        "agenda",
        "minutes",
    ]
    assert found["Agenda/_06022026-7?html=true"].content_hint == "html"
    assert found["Agenda/_99992026-9"].date is None
    assert found["Minutes/_06022026-8"].date == DAY


# ---- Granicus -----------------------------------------------------------------------------------------


def test_rows_of_pictures_name_their_body_and_date():
    page = """<div class="row"><div><span class="committee">Finance Committee 8:30 AM</span><br>Jun 2, 2026</div>
      <div><a href="http://x.granicus.com/AgendaViewer.php?view_id=4&clip_id=9"><img alt="Agenda for Jun 2, 2026"></a>
      <a href="http://x.granicus.com/MinutesViewer.php?view_id=4&clip_id=9"><img alt="Minutes"></a></div></div>
      <div class="row"><div><span class="committee">Board on 2026-06-02 - (after Finance)</span><br>Jun 2, 2026</div>
      <div><a href="//x.granicus.com/AgendaViewer.php?view_id=5&event_id=325"><img alt="Agenda"></a></div></div>"""

    found = [(ref.external_id, ref.body, ref.date, ref.time, ref.kind) for ref in refs("granicus", page)]

    assert found == [
        ("agenda-clip-9", "Finance Committee", DAY, time(8, 30), "agenda"),
        ("minutes-clip-9", "Finance Committee", DAY, time(8, 30), "minutes"),
        ("agenda-event-325", "Board", DAY, None, "agenda"),
    ]


def test_a_list_whose_cells_have_other_names_or_none_is_read_too():
    page = """<table><tr><td headers="EventName">Board of Appeals</td><td headers="EventDate">06/02/26 09:00 AM</td>
      <td><a href="/GeneratedAgendaViewer.php?view_id=1&clip_id=5">Agenda</a></td></tr></table>
      <h3>City Council</h3><ul><li>Jun 2, 2026 <a href="/AgendaViewer.php?view_id=1&event_id=9">Agenda</a></li></ul>"""

    assert [(ref.body, ref.date, ref.time) for ref in refs("granicus", page)] == [
        ("Board of Appeals", DAY, time(9, 0)),
        ("City Council", DAY, None),
    ]


def test_hidden_stamps_stored_files_and_the_same_clip_in_two_views_do_not_confuse():
    page = """<table><tr class="listingRow"><td headers="Name">City Council</td>
      <td headers="Date CC"><span style="display:none;">1780423200</span>June&nbsp;2,&nbsp;2026 - 6:30&nbsp;PM</td>
      <td><a href="/DocumentViewer.php?file=x_packet.pdf&view=1">Agenda Packet</a></td>
      <td><a href="/AgendaViewer.php?view_id=2&clip_id=9">Agenda</a></td></tr>
      <tr><td>City Council</td><td>June 2, 2026</td><td><a href="/AgendaViewer.php?view_id=7&clip_id=9">A</a></td></tr>
      </table><a href="/privacy.pdf">Privacy</a>"""

    found = [(ref.kind, ref.date, ref.time, ref.content_hint) for ref in refs("granicus", page)]

    assert found == [("packet", DAY, time(18, 30), "pdf"), ("agenda", DAY, time(18, 30), "html")]


# ---- Legistar -----------------------------------------------------------------------------------------


def legistar_page(
    heads: str, cells: str, grid: str = "gridCalendar", title: str = "Ramsey County - Board"
) -> str:
    head = "".join(f'<th class="rgHeader">{name}</th>' for name in heads.split("|"))
    return f"""<title>{title}</title><table class="rgMasterTable" id="ctl00_{grid}_ctl00"><thead><tr>{head}</tr></thead>
        <tbody><tr class="rgRow">{"".join(f"<td>{cell}</td>" for cell in cells.split("|"))}</tr></tbody></table>"""


def test_the_columns_of_a_calendar_are_the_citys_own():
    page = legistar_page(
        "Date&nbsp;|ics|Time|Accessible Agenda|Agenda Packet|Proposed Amendments|Video|Minutes",
        "6/2/2026|<a href='View.ashx?M=IC&ID=1'>i</a>|9:00 AM|<a href='View.ashx?M=AADA&ID=1'>x</a>"
        "|<a href='View.ashx?M=PA&ID=1'>x</a>|<a href='View.ashx?M=E1&ID=1'>x</a>"
        "|<a href='Video.aspx?ID=1'>Video</a>|<a>Not&nbsp;available</a>",
    )

    found = [(ref.external_id, ref.kind, ref.content_hint) for ref in refs("legistar", page)]
    first = refs("legistar", page)[0]

    assert found == [("AADA-1", "agenda", "html"), ("PA-1", "packet", "pdf"), ("E1-1", "other", "pdf")]
    assert (first.body, first.date, first.time) == ("Board", DAY, time(9, 0))


def test_a_deferred_meeting_is_off_and_a_deferred_compensation_board_is_not():
    def row(body: str, when: str) -> str:
        return legistar_page(
            "Name|Meeting Date|Meeting Time|Agenda",
            f"{body}|6/2/2026|{when}|<a href='View.ashx?M=A&ID=1'>A</a>",
        )

    assert refs("legistar", row("Council", "Deferred"))[0].cancelled
    assert not refs("legistar", row("Deferred Compensation Board", "9:00 AM"))[0].cancelled


def test_only_the_calendar_is_read_where_there_is_one():
    upcoming = legistar_page(
        "Name|Meeting Date|Agenda", "Council|6/2/2026|<a href='View.ashx?M=A&ID=1'>A</a>", "gridUpcoming"
    )
    calendar = legistar_page(
        "Name|Meeting Date|Agenda", "Council|6/2/2026|<a href='View.ashx?M=A&ID=2'>A</a>"
    )

    assert [ref.external_id for ref in refs("legistar", upcoming + calendar)] == ["A-2"]
    assert [ref.external_id for ref in refs("legistar", upcoming)] == ["A-1"]


def test_the_web_api_needs_a_client_in_its_address():
    fetcher = build("legistar_api", Client(), "https://webapi.legistar.com/")

    with pytest.raises(StageError, match="does not name a client"):
        list(fetcher.between(DAY, DAY))


# ---- Municode, NovusAGENDA, OnBase, eScribe, IQM2 -----------------------------------------------------


def test_a_municode_table_of_the_second_generation_is_read_too():
    page = """<table><tr><td class="views-field-date">June 2, 2026 - 6:30pm</td><td>City Council</td>
      <td><a href="https://mccmeetings.blob.core.usgovcloudapi.net/x-pubu/MEET-Agenda-77.pdf">PDF</a>
          <a href="https://meetings.municode.com/adaHtmlDocument/index?cc=X&me=77">HTML</a></td></tr></table>"""

    pdf, html = refs("municode", page)

    assert (pdf.external_id, pdf.kind, pdf.body, pdf.date, pdf.time) == (
        "MEET-Agenda-77.pdf",
        "agenda",
        "City Council",
        DAY,
        time(18, 30),
    )
    assert html.content_hint == "html"


def test_a_novus_page_for_small_screens_is_read_too():
    page = """<div class="list"><div class="meeting"><span>06/02/26</span> <b>Planning Commission</b>
      <a href="DisplayAgendaPDF.ashx?MeetingID=365">Agenda</a>
      <a href="DisplayAgendaPDF.ashx?MinutesMeetingID=302">Minutes</a></div>
      <div class="meeting"><span>05/05/26</span> <b>City Council</b>
      <a href="#" onclick="javascript:w=window.open('MeetingView.aspx?MeetingID=360&doctype=Agenda','w')">View</a></div></div>"""

    found = [(ref.external_id, ref.body, ref.date, ref.content_hint) for ref in refs("novusagenda", page)]

    assert found == [
        ("agenda-365", "Planning Commission", DAY, "pdf"),
        ("minutes-302", "Planning Commission", DAY, "pdf"),
        ("agenda-360", "City Council", date(2026, 5, 5), "html"),
    ]


def test_an_escribe_list_that_is_packed_twice_is_unpacked():
    meeting = '[{"MeetingName": "Council", "StartDate": "2026/06/02 18:30:00", "MeetingDocumentLink":'
    packed = {
        "d": meeting + ' [{"Url": "FileStream.ashx?DocumentId=7", "Type": "Agenda", "Format": ".pdf"}]}]'
    }

    (ref,) = refs("escribe", packed, "https://pub-x.escribemeetings.com/")

    assert (ref.external_id, ref.date, ref.time) == ("FileStream.ashx?DocumentId=7", DAY, time(18, 30))


def test_a_cancelled_iqm2_meeting_with_documents_is_cancelled():
    page = """<div class="Row MeetingRow"><div class="RowTop"><div class="RowLink">
      <a href="Detail_Meeting.aspx?ID=1" title="TUESDAY, JUNE 2, 2026&#13;Board:&#09;Council&#13;Status:&#09;Cancelled">
      Jun 2, 2026 </a></div><div class="MeetingLinks"><a href='FileOpen.aspx?Type=14&ID=1'>Agenda</a>
      <a href='FileOpen.aspx?Type=1&ID=1'>Agenda Packet</a><a href='' class='HiddenDocumentLink'>Minutes</a></div></div></div>"""

    found = refs("iqm2", page, "https://x.iqm2.com/Citizens/Calendar.aspx")

    assert [(ref.kind, ref.body, ref.date, ref.time, ref.cancelled) for ref in found] == [
        ("agenda", "Council", DAY, None, True),
        ("packet", "Council", DAY, None, True),
    ]
    assert found[0].url == "https://x.iqm2.com/Citizens/FileOpen.aspx?Type=14&ID=1"


@pytest.mark.parametrize("app", ["/OnBaseAgendaOnline", "/AgendaOnline", "/221agendaonline"])
def test_an_onbase_list_without_marks_on_its_cells_is_read_too(app):
    page = f"""<table><tr><th>Name</th><th>Type</th><th>Date</th></tr>
      <tr><td>Board of Supervisors</td><td>Formal</td><td>6/2/2026 9:30:00 AM</td><td>
        <a href="{app}/Meetings/ViewMeeting?id=447&amp;doctype=1">Agenda</a>
        <a href="{app}/Documents/Downloadfile/A.pdf?documentType=1&amp;meetingId=447"><img alt="PDF"></a>
        <a href="{app}/Meetings/ViewMeeting?id=447&amp;doctype=2">Minutes</a></td></tr></table>"""

    agenda, minutes = refs("onbase", page, f"https://city.example{app}/Meetings/Search")

    assert (agenda.external_id, agenda.kind, agenda.content_hint) == ("447-1", "agenda", "pdf")
    assert (agenda.title, agenda.body, agenda.date, agenda.time) == (
        "Board of Supervisors",
        "Formal",
        DAY,
        time(9, 30),
    )
    assert (minutes.external_id, minutes.kind) == ("447-2", "minutes")
    assert minutes.url == f"https://city.example{app}/Documents/ViewAgenda?meetingId=447&doctype=2"


def test_the_blocks_of_a_newer_municode_page_are_read_too():
    page = """<ul><li class="meeting"><h3>City Council</h3><time>June 2, 2026 at 6:30 PM</time>
      <a href="https://mccmeetings.blob.core.usgovcloudapi.net/x-pubu/MEET-Agenda-77.pdf">Agenda</a>
      <a href="https://mccmeetings.blob.core.usgovcloudapi.net/x-pubu/MEET-Packet-77.pdf">Packet</a></li></ul>"""

    found = [(ref.kind, ref.body, ref.date, ref.time) for ref in refs("municode", page)]

    assert found == [
        ("agenda", "City Council", DAY, time(18, 30)),
        ("packet", "City Council", DAY, time(18, 30)),
    ]


def test_a_link_that_only_a_script_opens_is_a_link():
    page = """<table><tr><td headers="Name">City Council</td><td headers="Date">June 2, 2026</td><td>
      <a href="javascript:void(0);" onclick="window.open('//x.granicus.com/AgendaViewer.php?view_id=2&clip_id=9')">
      Agenda</a></td></tr></table>"""

    assert [(ref.external_id, ref.date) for ref in refs("granicus", page)] == [("agenda-clip-9", DAY)]


@pytest.mark.parametrize("host", ["city.portal", "city.api", "city"])
def test_any_address_of_a_civicclerk_city_leads_to_its_api(host):
    fetcher: Any = build("civicclerk", Client(), f"https://{host}.civicclerk.com/")

    assert fetcher.api() == "https://city.api.civicclerk.com/v1"
    assert fetcher.home(fetcher.url) == "https://city.portal.civicclerk.com/"


def test_one_published_file_without_a_number_does_not_cost_the_others():
    files = [{"type": "Agenda"}, {"fileId": 7, "type": 2, "name": "Council Minutes"}]
    event = {"eventName": "Council", "startDateTime": "2026-06-02T18:30:00Z", "publishedFiles": files}

    (ref,) = refs("civicclerk", {"value": [event]}, "https://x.portal.civicclerk.com/")

    assert (ref.external_id, ref.kind) == ("7", "minutes")


def test_a_calendar_may_link_to_a_file_that_is_kept_elsewhere():
    page = legistar_page(
        "Name|Meeting Date|Minutes", "Council|6/2/2026|<a href='https://files.example/june-2.PDF'>Minutes</a>"
    )

    (ref,) = refs("legistar", page)

    assert (ref.external_id, ref.kind, ref.date) == ("files.example/june-2.PDF", "minutes", DAY)


# ---- Any page -----------------------------------------------------------------------------------------


def test_a_page_of_links_gives_each_file_once_with_its_body_date_and_kind():
    page = """<h1>Agendas &amp; Minutes</h1><div data-title="Recreation Commission 2026">
      <p>June 2, 2026 &mdash; <a href="/up/2026/07/RC-Agenda.pdf">view agenda</a>
      <a href="http://city.example/up/2026/07/RC-Agenda.pdf#page=2">again</a>
      <a href="/up/RC-minutes-06022026.pdf">view minutes</a></p></div>
      <h2>City Council</h2><ul><li><a href="/DocumentCenter/View/77/June-2-2026-Minutes">June 2, 2026 Minutes</a></li>
      <li><a href="/DocumentCenter/View/78/Dog-licence">Dog licence form</a></li>
      <li><a href="/files/cancelled.pdf">June 2, 2026 CANCELLED</a></li>
      <li><a href="download.php?f=minutes.pdf">Undated minutes</a></li></ul><a href="mailto:x@y.z">x.pdf</a>"""

    found = {ref.external_id: ref for ref in refs("generic", page)}

    assert sorted(found) == [
        "city.example/DocumentCenter/View/77/June-2-2026-Minutes",
        "city.example/download.php?f=minutes.pdf",
        "city.example/files/cancelled.pdf",
        "city.example/up/2026/07/RC-Agenda.pdf",
        "city.example/up/RC-minutes-06022026.pdf",
    ]
    agenda = found["city.example/up/2026/07/RC-Agenda.pdf"]
    assert (agenda.body, agenda.date, agenda.kind) == ("Recreation Commission", DAY, "agenda")
    assert found["city.example/files/cancelled.pdf"].cancelled
    assert found["city.example/files/cancelled.pdf"].body == "City Council"
    assert found["city.example/download.php?f=minutes.pdf"].date is None


def test_the_year_may_stand_in_the_heading_and_a_heading_of_both_kinds_names_none():
    page = """<h2>City Council 2026</h2><ul><li><a href="/a.pdf">June 2 Agenda</a></li>
      <li><a href="/b.pdf">6/2 Minutes</a></li></ul>
      <h2>2026 Agendas &amp; Minutes</h2><ul><li><a href="/Rules+of+June+2.pdf">Read more</a></li></ul>"""

    assert [(ref.date, ref.kind) for ref in refs("generic", page)] == [
        (DAY, "agenda"),
        (DAY, "minutes"),
        (DAY, "other"),
    ]


def test_a_shared_folder_is_asked_for_the_file_itself():
    page = """<a href="https://drive.google.com/file/d/1aB_c-9/view?usp=sharing">June 2, 2026 Minutes</a>
      <a href="https://www.dropbox.com/s/77/agenda.pdf?dl=0">June 2, 2026 Agenda</a>
      <a href="https://drive.google.com/file/d/2/view">Bus map</a>"""

    asked = [build("generic", Client(), ref.url).request_for(ref.url)[0] for ref in refs("generic", page)]

    assert asked == [
        "https://drive.google.com/uc?export=download&id=1aB_c-9",
        "https://www.dropbox.com/s/77/agenda.pdf?dl=1",
    ]


def test_the_options_of_a_page_of_links_narrow_and_widen_it():
    page = '<a href="/a-minutes.pdf">a</a><a href="/b-agenda.pdf">b</a><a href="/get?id=7">Minutes of May</a>'

    assert [ref.url for ref in refs("generic", page, match="minutes", body="Council")] == [
        "https://city.example/a-minutes.pdf"
    ]
    widened = refs("generic", page, match="minutes", all_links=True)
    assert [ref.url for ref in widened] == [
        "https://city.example/a-minutes.pdf",
        "https://city.example/get?id=7",
    ]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("platform", ["generic", "granicus", "civicplus"])
def test_a_page_with_thousands_of_links_does_not_take_long(platform):
    rows = [f'<a href="/AgendaViewer.php?clip_id={n}">x</a><a href="/{n}.pdf">x</a><br>' for n in range(2000)]
    divisions = [f"<div>June 2, 2026 {row}</div>" for row in rows]

    refs(platform, f"<h1>Council</h1><p>{''.join(rows)}</p>{''.join(divisions)}")


@pytest.mark.parametrize(
    "page",
    [
        "",
        "   ",
        "\x00",
        "<",
        "<html",
        "not a page at all",
        "<a href='http://[::1'>x.pdf</a>",
        "<table><tr><td>" * 500,
    ],
)
@pytest.mark.parametrize(
    "platform", ["civicplus", "generic", "granicus", "iqm2", "legistar", "municode", "novusagenda", "onbase"]
)
def test_a_page_that_is_none_lists_nothing(platform, page):
    assert refs(platform, page) == []
