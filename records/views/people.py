"""People: who there is, and how one of them voted and was there."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from records import people
from records.access import readers
from records.published import records_of

VOTES_SHOWN = 200


@readers
def listing(request: HttpRequest, site_id: str) -> HttpResponse:
    with records_of(site_id) as records:
        context = {"site": records.site(), "people": people.people(records), "section": "people"}
    return render(request, "records/people.html", context)


@readers
def one(request: HttpRequest, site_id: str, name: str) -> HttpResponse:
    year = request.GET.get("year", "")[:4]
    with records_of(site_id) as records:
        casts = people.votes_of(records, name)
        attendance = people.attendance_of(records, name)
        if not casts and not attendance:
            raise Http404("the records name nobody so")
        shown = [cast for cast in casts if not year or cast.date[:4] == year]
        context = {
            "site": records.site(),
            "name": name,
            "year": year,
            "years": people.by_year(casts, attendance),
            "votes": shown[:VOTES_SHOWN],
            "more": max(len(shown) - VOTES_SHOWN, 0),
            "attendance": [each for each in attendance if not year or each.date[:4] == year],
            "section": "people",
        }
    return render(request, "records/person.html", context)
