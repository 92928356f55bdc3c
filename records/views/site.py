"""A site's home."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from records.access import readers
from records.published import records_of

LATEST = 20


@readers
def home(request: HttpRequest, site_id: str) -> HttpResponse:
    with records_of(site_id) as records:
        latest = records.documents("WHERE NOT superseded ORDER BY date DESC, id LIMIT ?", LATEST)
        return render(request, "records/site.html", {"site": records.site(), "latest": latest})
