"""The search page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from records.access import readers
from records.asking import asked_in
from records.results import results_of


@readers
def page(request: HttpRequest) -> HttpResponse:
    asked = asked_in(request.GET)
    found = results_of(asked)
    return render(request, "records/search.html", {"asked": asked, "found": found, "q": asked.words})
