"""Platforms that answer with JSON."""

import json
import re
from collections.abc import Sequence
from datetime import date

from tests.fakecity.meetings import Meeting, between, by_number
from tests.fakecity.server import FakeCity, Reply, Request

PAGE = 2


def as_json(value: object) -> Reply:
    return Reply(json.dumps(value).encode(), "application/json", validators=False)


def a_pdf(content: bytes) -> Reply:
    return Reply(content, "application/pdf")


def civicclerk(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    kinds = {"agenda": 1, "minutes": 2}

    def event(meeting: Meeting) -> dict[str, object]:
        return {
            "id": meeting.number,
            "eventName": meeting.title,
            "startDateTime": f"{meeting.date}T{meeting.time}Z",
            "categoryName": meeting.body,
            "categoryId": 5,
            "isDeleted": False,
            "publishedFiles": [
                {
                    "fileId": 10 * meeting.number + kinds[kind],
                    "type": kind.title(),
                    "name": f"{meeting.title} {kind.title()}",
                    "publishOn": "2026-01-01T00:00:00Z",
                }
                for kind in meeting.kinds
            ],
        }

    def events(request: Request) -> Reply:
        since, until = (
            date.fromisoformat(day) for day in re.findall(r"\d{4}-\d\d-\d\d", request.query["$filter"])
        )
        skip = int(request.query.get("$skip", 0))
        found = [event(meeting) for meeting in between(meetings, since, until)]
        feed: dict[str, object] = {"value": found[skip : skip + PAGE]}
        if len(found) > skip + PAGE:
            wanted = request.query["$filter"].replace(" ", "%20").replace("'", "%27")
            feed["@odata.nextLink"] = f"{city.url}/v1/Events?$filter={wanted}&$skip={skip + PAGE}"
        return as_json(feed)

    def file(request: Request) -> Reply | None:
        found = re.search(r"fileId=(\d+)(\d),plainText=false", request.path)
        kind = next(name for name, number in kinds.items() if found and number == int(found.group(2)))
        return a_pdf(by_number(meetings, found.group(1)).pdf(kind)) if found else None

    city.answer("/v1/Events", events)
    city.answer("/v1/Meetings/GetMeetingFileStream", file)
    return f"{city.url}/"


def primegov(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    outputs = {"agenda": 1, "minutes": 3}  # the minutes are a page

    def shown(meeting: Meeting) -> dict[str, object]:
        documents = [
            {
                "id": 7000 + meeting.number,
                "templateId": 10 * meeting.number + outputs[kind],
                "compileOutputType": outputs[kind],
                "templateName": kind.title() if kind == "agenda" else "HTML Minutes",
                "link": None,
            }
            for kind in meeting.kinds
        ]
        return {
            "id": meeting.number,
            "committeeId": 1 if meeting.body == "City Council" else 2,
            "dateTime": f"{meeting.date}T{meeting.time}",
            "title": meeting.title,
            "documentList": documents,
        }

    def archived(request: Request) -> Reply:
        return as_json([shown(row) for row in meetings if row.date.year == int(request.query["year"])])

    def document(request: Request) -> Reply:
        number, output = divmod(int(request.query["meetingTemplateId"]), 10)
        meeting = by_number(meetings, number)
        if output == 3:
            return Reply(meeting.html("minutes").encode())
        return a_pdf(meeting.pdf("agenda"))

    committees = [{"id": 1, "name": "City Council"}, {"id": 2, "name": "Planning Commission"}]
    city.answer("/api/committee/", lambda request: as_json(committees))
    city.answer("/api/v2/PublicPortal/ListUpcomingMeetings", lambda request: as_json([]))
    city.answer("/api/v2/PublicPortal/ListArchivedMeetings", archived)
    city.answer("/Public/CompiledDocument", document)
    city.answer("/Portal/Meeting", document)
    return f"{city.url}/public/portal"


def legistar_api(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    def event(meeting: Meeting) -> dict[str, object]:
        files = {kind: f"{city.url}/files/{meeting.number}/{kind}.pdf" for kind in meeting.kinds}
        return {
            "EventId": meeting.number,
            "EventBodyName": meeting.body,
            "EventDate": f"{meeting.date}T00:00:00",
            "EventTime": meeting.clock,
            "EventComment": "CANCELLED" if meeting.cancelled else None,
            "EventAgendaFile": files.get("agenda"),
            "EventMinutesFile": files.get("minutes"),
        }

    def events(request: Request) -> Reply:
        since, until = (
            date.fromisoformat(day) for day in re.findall(r"\d{4}-\d\d-\d\d", request.query["$filter"])
        )
        return as_json([event(meeting) for meeting in between(meetings, since, until)])

    def file(request: Request) -> Reply:
        _, _, number, name = request.path.split("/")
        return a_pdf(by_number(meetings, number).pdf(name.removesuffix(".pdf")))

    city.answer("/v1/springfield/Events", events)
    city.answer("/files/", file)
    return f"{city.url}/v1/springfield"


def escribe(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    kinds = {"agenda": 1, "minutes": 2}

    def shown(meeting: Meeting) -> dict[str, object]:
        links = [
            {
                "Format": ".pdf",
                "Title": f"{kind.title()} (PDF)",
                "Type": "Agenda" if kind == "agenda" else "PostMinutes",
                "Url": f"FileStream.ashx?DocumentId={10 * meeting.number + kinds[kind]}",
            }
            for kind in meeting.kinds
        ]
        links.append(
            {"Format": "", "Title": "Video", "Type": "Video", "Url": "Players/ISIStandAlonePlayer.aspx"}
        )
        return {
            "ID": f"guid-{meeting.number}",
            "MeetingName": meeting.title,
            "MeetingType": meeting.body,
            "StartDate": f"{meeting.date:%Y/%m/%d} {meeting.time}",
            "MeetingDocumentLink": links,
        }

    def calendar(request: Request) -> Reply:
        asked = json.loads(request.body)
        since = date.fromisoformat(asked["calendarStartDate"][:10])
        until = date.fromisoformat(asked["calendarEndDate"][:10])
        return as_json({"d": [shown(meeting) for meeting in between(meetings, since, until)]})

    def file(request: Request) -> Reply:
        number, kind = divmod(int(request.query["DocumentId"]), 10)
        return a_pdf(by_number(meetings, number).pdf("agenda" if kind == 1 else "minutes"))

    city.answer("/MeetingsCalendarView.aspx/GetCalendarMeetings", calendar)
    city.answer("/FileStream.ashx", file)
    return f"{city.url}/"


def civicweb(city: FakeCity, meetings: Sequence[Meeting]) -> str:
    types = {"agenda": 1, "minutes": 2}

    def shown(meeting: Meeting) -> dict[str, object]:
        return {
            "Id": meeting.number,
            "Name": f"{meeting.title} - {meeting.date:%b %d %Y}",
            "MeetingTypeId": 3,
            "MeetingTypeName": meeting.body,
            "MeetingDateTime": f"{meeting.date} {meeting.time:%H:%M}",
            "Published": True,
        }

    def service(request: Request) -> Reply:
        asked = re.search(r"/meetings/(\d+)/meetingDocuments", request.path)
        if not asked:
            since, until = (date.fromisoformat(request.query[name]) for name in ("from", "to"))
            return as_json([shown(meeting) for meeting in between(meetings, since, until)])
        meeting = by_number(meetings, asked.group(1))
        return as_json(
            [
                {
                    "Id": 10 * meeting.number + types[kind],
                    "Name": f"{meeting.body} {kind.title()}",
                    "DocumentType": types[kind],
                    "Html": kind == "minutes",
                }
                for kind in meeting.kinds
            ]
        )

    def document(request: Request) -> Reply:
        number, kind = divmod(int(request.path.split("/")[2]), 10)
        meeting = by_number(meetings, number)
        return a_pdf(meeting.pdf("agenda")) if kind == 1 else Reply(meeting.html("minutes").encode())

    city.answer("/Services/MeetingsService.svc/meetings", service)
    city.answer("/document/", document)
    return f"{city.url}/Portal/"
