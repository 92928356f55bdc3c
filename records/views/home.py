"""The readers' home: find your town, search everything, what is new."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from records.access import readers


@readers
def front(request: HttpRequest) -> HttpResponse:
    return render(request, "records/home.html")
