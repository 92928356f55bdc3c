"""Platforms whose lists or documents must be posted for."""

import json
import re
from collections.abc import Sequence
from datetime import date
from urllib.parse import parse_qs

from tests.fakecity.meetings import Meeting, by_number
from tests.fakecity.platforms.apis import a_pdf, as_json
from tests.fakecity.platforms.pages import a_page, between
from tests.fakecity.server import FakeCity, Reply, Request

ROWS = 2


def form_of(request: Request) -> dict[str, str]:
    return {
        name: values[-1] for name, values in parse_qs(request.body.decode(), keep_blank_values=True).items()
    }


def pager(target: str, number: int, last: int) -> str:
    links = []
    for page in range(1, last + 1):
        current = ' class="rgCurrentPage"' if page == number else ""
        links.append(
            f"<a{current} href=\"javascript:__doPostBack('{target}${page}','')\"><span>{page}</span></a>"
        )
    return "".join(links)


def legistar(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    codes = {"agenda": "A", "minutes": "M"}

    def cell(meeting: Meeting, kind: str) -> str:
        if kind not in meeting.kinds:
            return "<td><a>Not&nbsp;available</a></td>"
        return f'<td><a href="View.ashx?M={codes[kind]}&amp;ID={meeting.number}&amp;GUID=AB">{kind.title()}</a></td>'

    def row(meeting: Meeting, number: int) -> str:
        place = "City Hall" + ("<br/><em>CANCELLED</em>" if meeting.cancelled else "")
        return f"""<tr class="{"rgAltRow" if number % 2 else "rgRow"}">
            <td><a href="DepartmentDetail.aspx?ID=1">{meeting.body}</a></td><td>{meeting.us_date}</td>
            <td><a href="View.ashx?M=IC&amp;ID={meeting.number}"><img alt="Export"></a></td><td>{meeting.clock}</td>
            <td>{place}</td><td><a href="MeetingDetail.aspx?ID={meeting.number}">Meeting&nbsp;details</a></td>
            {cell(meeting, "agenda")}{cell(meeting, "minutes")}</tr>"""

    def calendar(request: Request) -> Reply:
        form = form_of(request)
        chosen = re.search(r"\d{4}", form.get("ctl00_ContentPlaceHolder1_lstYears_ClientState", ""))
        paged = re.search(r"\$(\d+)$", form.get("__EVENTTARGET", ""))
        # Like the real one: the year is remembered in the state that the page sends back.
        year = int(chosen.group() if chosen else form.get("__VIEWSTATE") or 2026)
        number = int(paged.group(1)) if paged else 1
        found = between(meetings, date(year, 1, 1), date(year, 12, 31))
        last = max(1, -(-len(found) // ROWS))
        shown = found[ROWS * (number - 1) : ROWS * number]
        heads = ("Name", "Meeting Date", "", "Meeting Time", "Place", "Meeting Details", "Agenda", "Minutes")
        head = "".join(f'<th class="rgHeader">{name}</th>' for name in heads)
        return a_page(
            f"""<form><input type="hidden" name="__VIEWSTATE" value="{year}"></form>
            <div id="ctl00_ContentPlaceHolder1_MultiPageCalendar">
            <table class="rgMasterTable" id="ctl00_ContentPlaceHolder1_gridCalendar_ctl00"><thead><tr>{head}</tr></thead>
            <tbody>{"".join(row(meeting, place) for place, meeting in enumerate(shown))}</tbody></table>
            {pager("grid", number, last)}</div>"""
        )

    def view(request: Request) -> Reply:
        kind = "agenda" if request.query["M"] == "A" else "minutes"
        return a_pdf(by_number(meetings, request.query["ID"]).pdf(kind))

    city.answer("/Calendar.aspx", calendar)
    city.answer("/View.ashx", view)
    return f"{city.url}/Calendar.aspx"


def novusagenda(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    def row(meeting: Meeting) -> str:
        view = f"MeetingView.aspx?MeetingID={meeting.number}&amp;MinutesMeetingID={meeting.number}&amp;doctype=Agenda"
        agenda = f"""<a onClick="javascript:w=window.open(&#39;{view}&#39;,&#39;w&#39;);"><img alt="View Agenda"></a>
            </td><td><a href="DisplayAgendaPDF.ashx?MeetingID={meeting.number}"><img alt="Agenda PDF"></a>"""
        minutes = f'<a href="DisplayAgendaPDF.ashx?MinutesMeetingID={meeting.number}"><img alt="Minutes"></a>'
        off = " - Cancelled" if meeting.cancelled else ""
        return f"""<tr class="rgRow"><td>{meeting.date:%m/%d/%y}</td><td>{meeting.body}</td><td>City Hall{off}</td>
            <td>{agenda if "agenda" in meeting.kinds else "</td><td>"}</td>
            <td>{minutes if "minutes" in meeting.kinds else ""}</td></tr>"""

    def grid(request: Request) -> Reply:
        form = form_of(request)
        asked = [form.get(f"Search${name}", "") for name in ("radCalendarFrom", "radCalendarTo")]
        since, until = (date.fromisoformat(day) if day else date(2026, 6, 1) for day in asked)
        paged = re.search(r"\$(\d+)$", form.get("__EVENTTARGET", ""))
        number = int(paged.group(1)) if paged else 1
        found = between(meetings, since, until)
        shown = found[ROWS * (number - 1) : ROWS * number]
        heads = (
            "Meeting Date",
            "Meeting Type",
            "Meeting Location",
            "Online Agenda",
            "Download Agenda",
            "Legal Minutes",
        )
        head = "".join(f'<th class="rgHeader">{name}</th>' for name in heads)
        return a_page(
            f"""<form><input type="hidden" name="__VIEWSTATE" value="x">
            <select name="Search$ddlDateRange"><option selected value="6ms">6 Month Span</option></select>
            <input name="Search$radCalendarFrom" value="{since}"><input name="Search$radCalendarTo" value="{until}">
            <table class="rgMasterTable" id="Search_radGridMeetings_ctl00"><thead><tr>{head}</tr></thead>
            <tbody>{"".join(row(meeting) for meeting in shown)}</tbody><tfoot><tr><td>
            {pager("grid", number, max(1, -(-len(found) // ROWS)))}</td></tr></tfoot></table></form>"""
        )

    def file(request: Request) -> Reply:
        kind = "agenda" if "MeetingID" in request.query else "minutes"
        return a_pdf(by_number(meetings, next(iter(request.query.values()))).pdf(kind))

    city.answer("/agendapublic/meetingsgeneral.aspx", grid)
    city.answer("/agendapublic/DisplayAgendaPDF.ashx", file)
    return f"{city.url}/agendapublic/meetingsgeneral.aspx?MeetingType=1&Date=6ms"


def boarddocs(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    """One committee a body; agendas and minutes are pages, and the page of a meeting says which it has."""
    base = "/il/springfield/Board.nsf"
    committees = {"AAAAAAAAAAA1": "City Council", "AAAAAAAAAAA2": "Planning Commission"}

    def public(request: Request) -> Reply:
        items = "".join(
            f'<a class="committee-trigger" committeeid="{key}">{name}</a>' for key, name in committees.items()
        )
        return a_page(f'<div id="committees">{items}</div>')

    def listed(request: Request) -> Reply:
        body = committees.get(form_of(request)["current_committee_id"])
        rows = [
            {
                "unique": f"MEETING{meeting.number}",
                "name": meeting.title,
                "numberdate": f"{meeting.date:%Y%m%d}",
            }
            for meeting in meetings
            if meeting.body == body
        ]
        return Reply(json.dumps([*rows, {}]).encode(), "text/html", validators=False)

    def found(request: Request) -> Meeting:
        return by_number(meetings, form_of(request)["id"].removeprefix("MEETING"))

    def details(request: Request) -> Reply:
        meeting = found(request)
        buttons = "".join(f'<li><a href="#" id="btn-view-{kind}">View</a></li>' for kind in meeting.kinds)
        return a_page(f"""<div class="meeting-description">12 Main St.<br>{meeting.clock}</div>
            <div class="meeting-buttons"><ul>{buttons}</ul></div>""")

    city.answer(f"{base}/Public", public)
    city.answer(f"{base}/BD-GetMeetingsList", listed)
    city.answer(f"{base}/BD-GetMeeting", details)
    city.answer(f"{base}/PRINT-AgendaDetailed", lambda request: Reply(found(request).html("agenda").encode()))
    city.answer(f"{base}/BD-GetMinutes", lambda request: Reply(found(request).html("minutes").encode()))
    city.answer(f"{base}/XML-ActiveMeetings", lambda request: as_json([]))
    return f"{city.url}{base}/Public"
