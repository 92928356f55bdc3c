"""The search page, and its results as files."""

from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render

from records.access import readers
from records.asking import BY_DATE, BY_RANK, LAST_PAGE, asked_in
from records.downloads import csv_lines, rows
from records.facets import facets_of
from records.limits import limited
from records.results import meant_instead, reader, results_of, site_names
from records.views.follow import offered
from sites.models import Kind

# What one file holds; by date the next one goes on behind it.
MOST_ROWS = 500


@readers
@limited("search", "RECORDS_SEARCHES_PER_MINUTE")
def page(request: HttpRequest) -> HttpResponse:
    asked = asked_in(request.GET)
    found = results_of(asked)
    names = site_names({*asked.site, *(site_id for site_id, _ in found.counts.sites)})
    context = {
        "asked": asked,
        "found": found,
        "facets": facets_of(asked, found.counts, names),
        "instead": meant_instead(found),
        "kinds": Kind.choices,
        "states": sorted({summary.state for summary in reader().summaries() if summary.state}),
        "by_rank": asked.with_(sort=BY_RANK),
        "by_date": asked.with_(sort=BY_DATE),
        "at_the_end": not asked.newest_first and asked.page == LAST_PAGE,
        "q": asked.words,
        "by_mail": offered(),
    }
    return render(request, "records/search.html", context)


@readers
@limited("search", "RECORDS_SEARCHES_PER_MINUTE")
def as_json(request: HttpRequest) -> JsonResponse:
    found = results_of(asked_in(request.GET), MOST_ROWS)
    host = request.build_absolute_uri("/").rstrip("/")
    following = f"{host}{request.path}?{found.next.query}" if found.next else None
    results = list(rows(found.hits, host))
    return JsonResponse({"total": found.counts.total, "next": following, "results": results})


@readers
@limited("search", "RECORDS_SEARCHES_PER_MINUTE")
def as_csv(request: HttpRequest) -> StreamingHttpResponse:
    found = results_of(asked_in(request.GET), MOST_ROWS)
    lines = csv_lines(rows(found.hits, request.build_absolute_uri("/").rstrip("/")))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="pages.csv"'
    return response
