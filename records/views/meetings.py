"""Meetings: the list with its calendar, and one meeting with all that there is of it."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from records import calendar, meetings
from records.access import readers
from records.asking import first_day, last_day
from records.published import Records, records_of


@readers
def listing(request: HttpRequest, site_id: str) -> HttpResponse:
    body = request.GET.get("body", "")[:300].replace("\0", "")
    with records_of(site_id) as records:
        years = meetings.years(records)
        when = _when(request.GET.get("when", ""), years)
        found = meetings.meetings(records, since=_first(when), until=_last(when), body=body)
        year = int(when[:4]) if when else None
        of_year = found if len(when) == 4 else _of_year(records, year, body)
        context = {
            "site": records.site(),
            "when": when,
            "year": year,
            "years": years,
            "body": body,
            "bodies": meetings.bodies(records),
            "meetings": found,
            "months": calendar.months_of(year, of_year) if year else [],
            "weekdays": calendar.WEEKDAYS,
            "section": "meetings",
        }
    return render(request, "records/meetings.html", context)


def _of_year(records: Records, year: int | None, body: str) -> list[meetings.Meeting]:
    if year is None:
        return []
    return meetings.meetings(records, since=f"{year:04}-01-01", until=f"{year:04}-12-31", body=body)


def _when(told: str, years: list[tuple[int, int]]) -> str:
    """A year, a month or a day: `2024`, `2024-03`, `2024-03-12`; the newest year where none is told."""
    if told == "all" or not years:
        return ""
    return told.strip() if first_day(told) else f"{years[0][0]:04}"


def _first(when: str) -> str:
    day = first_day(when)
    return day.isoformat() if day else ""


def _last(when: str) -> str:
    day = last_day(when)
    return day.isoformat() if day else ""


@readers
def one(request: HttpRequest, site_id: str, meeting_id: str) -> HttpResponse:
    with records_of(site_id) as records:
        found = meetings.meeting(records, meeting_id)
        if found is None:
            raise Http404("no such meeting is published")
        meeting, documents = found
        deciding = [each.id for each in documents if each.kind not in ("agenda", "packet")]
        agendas = [each.id for each in documents if each.kind == "agenda"]
        context = {
            "site": records.site(),
            "meeting": meeting,
            "documents": documents,
            "motions": meetings.motions_in(records, deciding),
            "attendance": meetings.attendance_in(records, deciding),
            "agenda": meetings.agenda_in(records, agendas or deciding),
            "section": "meetings",
        }
    return render(request, "records/meeting.html", context)
