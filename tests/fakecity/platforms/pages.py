"""Platforms that are read from plain pages."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from urllib.parse import quote, unquote

from tests.fakecity.meetings import Meeting, between, by_number
from tests.fakecity.platforms.apis import a_pdf
from tests.fakecity.server import FakeCity, Reply, Request


def a_page(body: str, title: str = "City of Springfield") -> Reply:
    html = f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"
    return Reply(html.encode(), validators=False)


def us_day(text: str) -> date:
    return datetime.strptime(text[:10].strip(), "%m/%d/%Y").date()


def bodies_of(meetings: Iterable[Meeting]) -> list[str]:
    return sorted({meeting.body for meeting in meetings})


def civicplus(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    def row(meeting: Meeting) -> str:
        name = f"_{meeting.date:%m%d%Y}-{meeting.number}"
        items = "".join(
            f'<li><a class="pdf" href="/AgendaCenter/ViewFile/{kind.title()}/{name}">{kind.title()}</a></li>'
            for kind in meeting.kinds
        )
        return f"""<tr class="catAgendaRow"><td><h3><a name="{name}"></a>{meeting.long_date}</h3>
            <p>{meeting.title}</p></td><td><ol>{items}
            <li><a href="/AgendaCenter/PreviousVersions/{name}">Previous Versions</a></li></ol></td></tr>"""

    def search(request: Request) -> Reply:
        asked = [request.query.get(name, "01/01/2026") for name in ("startDate", "endDate")]
        found = between(meetings, us_day(asked[0]), us_day(asked[1]))
        blocks = (
            f"""<div class="listing" id="cat{number}"><h2><span>&#9660;</span>{body}</h2><table><tbody>
            {"".join(row(meeting) for meeting in found if meeting.body == body)}
            <tr><td>An ornamental row that the library would stumble over</td></tr></tbody></table></div>"""
            for number, body in enumerate(bodies_of(found), start=1)
        )
        return a_page("".join(blocks))

    def file(request: Request) -> Reply:
        _, _, _, kind, name = request.path.split("/")
        return a_pdf(by_number(meetings, name.rpartition("-")[2]).pdf(kind.lower()))

    city.answer("/AgendaCenter/Search/", search)
    city.answer("/AgendaCenter/ViewFile/", file)
    city.answer("/AgendaCenter", search)
    return f"{city.url}/AgendaCenter"


def granicus(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    """Agendas are pages, minutes PDFs behind a redirect."""

    def row(meeting: Meeting) -> str:
        key = meeting.title.replace(" ", "-")
        links = "".join(
            f'<td><a href="//{city.host}/{kind.title()}Viewer.php?view_id=2&amp;clip_id={meeting.number}">'
            f"{kind.title()}</a></td>"
            for kind in meeting.kinds
        )
        return f"""<tr class="listingRow"><td class="listItem" headers="Name" id="{key}">{meeting.title}</td>
            <td class="listItem" headers="Date {key}">{meeting.long_date.replace(" ", "&nbsp;")} - {meeting.clock}</td>
            {links}<td><a href="javascript:void(0);" onclick="window.open('//x/MediaPlayer.php')">Video</a></td></tr>"""

    def view(request: Request) -> Reply:
        panels = (
            f"""<div class="CollapsiblePanelTab">{body}</div><div class="CollapsiblePanelContent">
            <table class="listingTable">{"".join(row(entry) for entry in meetings if entry.body == body)}</table></div>"""
            for body in bodies_of(meetings)
        )
        return a_page("".join(f"<div>{panel}</div>" for panel in panels))

    def agenda(request: Request) -> Reply:
        return Reply(by_number(meetings, request.query["clip_id"]).html("agenda").encode())

    def minutes(request: Request) -> Reply:
        return Reply(
            status=302, headers={"Location": f"/DocumentViewer.php?file={request.query['clip_id']}.pdf"}
        )

    city.answer("/ViewPublisher.php", view)
    city.answer("/AgendaViewer.php", agenda)
    city.answer("/MinutesViewer.php", minutes)
    city.answer(
        "/DocumentViewer.php",
        lambda request: a_pdf(by_number(meetings, request.query["file"].removesuffix(".pdf")).pdf("minutes")),
    )
    return f"{city.url}/ViewPublisher.php?view_id=2"


def iqm2(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    types = {"agenda": 14, "minutes": 12}

    def row(meeting: Meeting) -> str:
        status = "Cancelled" if meeting.cancelled else "Scheduled"
        links = "".join(
            f"<div><a href='FileOpen.aspx?Type={types[kind]}&ID={meeting.number}&Inline=True'>{kind.title()}</a></div>"
            for kind in meeting.kinds
        )
        told = f"{meeting.long_date} {meeting.clock}&#13;Board:&#09;{meeting.body}&#13;Type:&#09;Regular&#13;Status:&#09;"
        return f"""<div class="Row MeetingRow"><div class="RowTop">
            <div class="RowLink"><a href="/Citizens/Detail_Meeting.aspx?ID={meeting.number}" title="{told}{status}">
            {meeting.date:%b} {meeting.date.day}, {meeting.date.year} {meeting.clock}</a></div>
            <div class="RowRight MeetingLinks">{links}<div><a href='' class='HiddenDocumentLink'>Summary</a></div></div>
            </div><div class="RowBottom"><div class="RowDetails">{meeting.body} - Regular Meeting</div></div></div>"""

    def calendar(request: Request) -> Reply:
        found = between(meetings, us_day(request.query["From"]), us_day(request.query["To"]))
        return a_page("".join(row(meeting) for meeting in found))

    def file(request: Request) -> Reply:
        kind = "agenda" if request.query["Type"] == "14" else "minutes"
        return a_pdf(by_number(meetings, request.query["ID"]).pdf(kind))

    city.answer("/Citizens/Calendar.aspx", calendar)
    city.answer("/Citizens/FileOpen.aspx", file)
    return f"{city.url}/Citizens/Calendar.aspx"


def municode(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    ordered = between(meetings, date.min, date.max)
    pages = [ordered[start : start + 2] for start in range(0, len(ordered), 2)]

    def cell(meeting: Meeting, kind: str) -> str:
        if kind not in meeting.kinds:
            return f'<td class="div-table-col {kind}"></td>'
        inner = f"{city.url}/blob/MEET-{kind.title()}-{meeting.number}.pdf"
        return f'<td class="div-table-col {kind}"><a href="/d/f?u={inner}&n={kind}.pdf"><img alt="Document"></a></td>'

    def row(meeting: Meeting) -> str:
        note = " (Cancelled)" if meeting.cancelled else ""
        return f"""<tr><td class="div-table-col meeting med">{meeting.body}</td>
            <td class="div-table-col date">{meeting.us_date}</td><td class="div-table-col time">{meeting.clock}</td>
            <td class="div-table-col venue">City Hall{note}</td>{cell(meeting, "agenda")}{cell(meeting, "minutes")}</tr>"""

    def listing(request: Request) -> Reply:
        number = int(request.query["p"])
        choices = "".join(f'<option value="{page}">{page}</option>' for page in range(1, len(pages) + 1))
        rows = "".join(row(meeting) for meeting in pages[number - 1])
        return a_page(
            f'<table class="mcm">{rows}</table><select id="agendapal.page.dropbox">{choices}</select>'
        )

    def file(request: Request) -> Reply:
        _, kind, number = request.query["u"].rpartition("/")[2].removesuffix(".pdf").split("-")
        return a_pdf(by_number(meetings, number).pdf(kind.lower()))

    city.answer("/PublishPage", listing)
    city.answer("/d/f", file)
    return f"{city.url}/PublishPage?cid=SPRING&ppid=1234&p=1"


def onbase(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    """Agendas are offered as a page and as a PDF, minutes as a page only; every link is there twice."""
    types = {"agenda": "1", "minutes": "2"}

    def links(meeting: Meeting, kind: str) -> str:
        code = f"{meeting.number}&amp;doctype={types[kind]}"
        view = f'<a href="/OnBaseAgendaOnline/Meetings/ViewMeeting?id={code}">{kind.title()}</a>'
        name = f"{meeting.number}_{kind}.pdf?documentType={types[kind]}&amp;meetingId={meeting.number}"
        return view + (
            f'<a href="/OnBaseAgendaOnline/Documents/Downloadfile/{name}"><img></a>'
            if kind == "agenda"
            else ""
        )

    def row(meeting: Meeting) -> str:
        offered = "".join(links(meeting, kind) for kind in meeting.kinds)
        when = f"{meeting.us_date} {meeting.time:%I:%M:%S %p}"
        return f"""<tr class="meeting-row" data-meeting-id="{meeting.number}">
            <td data-sortable-type="mtgName">{meeting.title}</td><td data-sortable-type="mtgType">{meeting.body}</td>
            <td data-sortable-type="mtgTime">{when}</td><td>{offered}</td><td>{offered}</td></tr>"""

    def search(request: Request) -> Reply:
        found = between(meetings, us_day(request.query["dropsv"]), us_day(request.query["dropev"]))
        return a_page(f"<table><tbody>{''.join(row(meeting) for meeting in found)}</tbody></table>")

    def file(request: Request) -> Reply:
        return a_pdf(by_number(meetings, request.query["meetingId"]).pdf("agenda"))

    def view(request: Request) -> Reply:
        return Reply(by_number(meetings, request.query["meetingId"]).html("minutes").encode())

    city.answer("/OnBaseAgendaOnline/Meetings/Search", search)
    city.answer("/OnBaseAgendaOnline/Documents/DownloadFileBytes/", file)
    city.answer("/OnBaseAgendaOnline/Documents/ViewAgenda", view)
    return f"{city.url}/OnBaseAgendaOnline/Meetings/Search"


def digitaltowpath(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    def categories(request: Request) -> Reply:
        items = (
            f'<a class="dtp-meeting-category-link" href="{city.url}/meetings/meetings/{quote(body)}/2026">{body}</a>'
            for body in bodies_of(meetings)
        )
        return a_page("".join(items))

    def year(request: Request) -> Reply:
        body, number = unquote(request.path).removeprefix("/meetings/meetings/").rsplit("/", 1)
        found = [entry for entry in meetings if entry.body == body and entry.date.year == int(number)]
        items = (
            f'<a aria-label="Link to meeting details page" href="/meetings/detail/{meeting.number}">'
            f"{meeting.long_date}: {meeting.title}</a>"
            for meeting in found
        )
        return a_page(f'<h2 class="dtp-meeting-category">{body}</h2>{"".join(items)}')

    def lists(request: Request) -> Reply:
        return categories(request) if request.path == "/meetings/meetings/" else year(request)

    def detail(request: Request) -> Reply:
        meeting = by_number(meetings, request.path.rpartition("/")[2])
        parts = "".join(
            f'<h3 class="dtp-meeting-{kind}">{kind.title()}</h3>'
            f'<div><a href="/application/files/{meeting.number}/{kind} file.pdf">{kind}.pdf</a></div>'
            for kind in meeting.kinds
        )
        return a_page(
            f'<h2 class="dtp-meeting-category">{meeting.body}</h2><h3 class="dtp-meeting-title">{meeting.title}</h3>'
            f'<time datetime="{meeting.date}">{meeting.long_date}, {meeting.clock.lower()}</time>{parts}'
        )

    def file(request: Request) -> Reply:
        _, _, _, number, name = unquote(request.path).split("/")
        return a_pdf(by_number(meetings, number).pdf(name.partition(" ")[0]))

    city.answer("/meetings/meetings/", lists)
    city.answer("/meetings/detail/", detail)
    city.answer("/application/files/", file)
    return f"{city.url}/"


def generic(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    def row(meeting: Meeting) -> str:
        note = " CANCELLED" if meeting.cancelled else ""
        links = " ".join(
            f'<a href="/wp-content/uploads/{meeting.number}-{kind}-{meeting.date:%m%d%Y}.pdf">{kind}{note}</a>'
            for kind in meeting.kinds
        )
        return f"<li>{meeting.long_date}, {meeting.clock}: {links}</li>"

    def page(request: Request) -> Reply:
        lists = (
            f"<h2>{body} 2023-2026 Agendas and Minutes</h2>"
            f"<ul>{''.join(row(meeting) for meeting in meetings if meeting.body == body)}</ul>"
            for body in bodies_of(meetings)
        )
        return a_page(f"<h1>Public Meetings</h1>{''.join(lists)}<a href='/about.html'>About</a>")

    def file(request: Request) -> Reply:
        number, kind, _ = request.path.rpartition("/")[2].split("-")
        return a_pdf(by_number(meetings, number).pdf(kind))

    city.answer("/minutes", page)
    city.answer("/wp-content/uploads/", file)
    return f"{city.url}/minutes"
