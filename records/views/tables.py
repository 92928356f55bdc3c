"""Legislation, motions, votes, attendance, money and places: to look through, to sort, to take home."""

from collections.abc import Iterator

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import urlencode

from records import legislation, tables
from records.access import readers
from records.published import opened, records_of
from records.tables import TABLES, Asked, Column, Table, asked_of, csv_lines, found_in


@readers
def table(request: HttpRequest, site_id: str, name: str) -> HttpResponse:
    shown = _table(name)
    asked = asked_of(shown, request.GET)
    with records_of(site_id) as records:
        found = found_in(records, shown, asked)
        site = records.site()
    last = -(-min(found.total, tables.MOST_SHOWN) // tables.PER_PAGE)
    context = {
        "site": site,
        "table": shown,
        "asked": asked,
        "headings": [_heading(column, asked) for column in shown.columns],
        "found": found,
        "query": _query(asked),
        "previous": _query(asked, page=asked.page - 1) if asked.page > 1 else "",
        "next": _query(asked, page=asked.page + 1) if asked.page < last else "",
        "section": name,
    }
    return render(request, "records/table.html", context)


def _heading(column: Column, asked: Asked) -> dict[str, object]:
    """A heading sorts by its column; the one in use turns around."""
    used = column.name == asked.sort
    order = "asc" if used and asked.descending else "desc" if used or column.numeric else "asc"
    sorted_as = ("descending" if asked.descending else "ascending") if used else ""
    query = urlencode({"sort": column.name, "order": order} | ({"q": asked.words} if asked.words else {}))
    return {"label": column.label, "numeric": column.numeric, "sorted": sorted_as, "query": query}


def _query(asked: Asked, **changes: int) -> str:
    told: dict[str, str | int] = {
        "sort": asked.sort,
        "order": "desc" if asked.descending else "asc",
        "q": asked.words,
        **changes,
    }
    return urlencode({name: value for name, value in told.items() if value})


def _table(name: str) -> Table:
    if name not in TABLES:
        raise Http404("there is no such table")
    return TABLES[name]


@readers
def download(request: HttpRequest, site_id: str, name: str) -> HttpResponseBase:
    """The whole table as CSV, sent while it is read."""
    shown = _table(name)
    with records_of(site_id):
        base = request.build_absolute_uri("/").rstrip("/")
        lines = _lines(site_id, shown, asked_of(shown, request.GET), base)
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{site_id}-{name}.csv"'
    return response


def _lines(site_id: str, shown: Table, asked: Asked, base: str) -> Iterator[str]:
    with opened(site_id) as records:
        if records is not None:
            yield from csv_lines(shown, tables.all_rows(records, shown, asked), base)


@readers
def laws(request: HttpRequest, site_id: str) -> HttpResponse:
    told = request.GET
    words, kind = told.get("q", "")[:200].replace("\0", ""), told.get("kind", "")[:20].replace("\0", "")
    page = int(told["page"]) if told.get("page", "").isdecimal() and len(told["page"]) < 5 else 1
    page = max(page, 1)
    with records_of(site_id) as records:
        found, more = legislation.legislation(records, kind=kind, words=words, page=page)
        context = {"site": records.site(), "laws": found, "words": words, "kind": kind}
    context |= {"section": "legislation", "page": page, "next": page + 1 if more else None}
    return render(request, "records/legislation.html", context)


@readers
def law(request: HttpRequest, site_id: str, kind: str, number: str) -> HttpResponse:
    with records_of(site_id) as records:
        found = legislation.mentions(records, kind, number)
        if not found:
            raise Http404("the records name no such ordinance or resolution")
        title = legislation.title_of(records, kind, number)
        context = {"site": records.site(), "kind": kind, "number": number, "title": title, "mentions": found}
    return render(request, "records/law.html", context | {"section": "legislation"})
