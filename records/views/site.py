"""A site's home: what there is since when, its latest meetings, a calendar, its bodies and people."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from records import calendar, meetings, people
from records.access import readers
from records.published import records_of
from records.views.follow import offered

LATEST = 12
PEOPLE_SHOWN = 24


@readers
def home(request: HttpRequest, site_id: str) -> HttpResponse:
    with records_of(site_id) as records:
        years = meetings.years(records)
        year = years[0][0] if years else None
        shown = meetings.meetings(records, since=f"{year}-01-01", until=f"{year}-12-31") if year else []
        context = {
            "site": records.site(),
            "overview": meetings.overview(records),
            "latest": meetings.meetings(records, limit=LATEST),
            "years": years,
            "year": year,
            "months": calendar.months_of(year, shown) if year else [],
            "weekdays": calendar.WEEKDAYS,
            "bodies": meetings.bodies(records),
            "people": people.people(records, limit=PEOPLE_SHOWN),
            "section": "home",
            "by_mail": offered(),
        }
    return render(request, "records/site.html", context)
