"""The readers' home: find your town, search everything, what is new."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from pipeline.work.index import searching
from pipeline.work.index.question import Question
from pipeline.work.index.searching import Wanted
from records import towns
from records.access import readers
from records.results import Hit, hits_at, reader

LATEST, LOOKED_AT = 10, 200


@readers
def front(request: HttpRequest) -> HttpResponse:
    typed = " ".join(request.GET.get("town", "")[:100].split())
    every = towns.towns()
    found = towns.matching(every, typed)
    context = {
        "town": typed,
        "totals": towns.totals_of(every),
        "states": towns.by_state(found[: towns.MOST_SHOWN]),
        "more": max(0, len(found) - towns.MOST_SHOWN),
        "latest": [] if typed else latest(),
    }
    return render(request, "records/home.html", context)


def latest() -> tuple[Hit, ...]:
    """The first pages of the documents with the latest dates."""
    searcher = reader().searcher()
    if searcher is None:
        return ()
    places = searching.find(searcher, Wanted(newest_first=True), limit=LOOKED_AT)
    first = {place.document: place for place in reversed(places)}
    newest = [place for place in places if first[place.document] is place]
    return hits_at(newest[:LATEST], Question(), "")
