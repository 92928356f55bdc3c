"""What a search finds, ready to be shown: each page with its document and its words in context."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse
from django.utils.http import urlencode

from pipeline.queue import tally
from pipeline.work.index import marking, searching
from pipeline.work.index.marking import Piece
from pipeline.work.index.question import Question
from pipeline.work.index.searching import Counts, Place, Reader
from pipeline.work.index.suggesting import suggestion
from records.asking import PER_PAGE, Asked
from records.published import PublishedDocument, PublishedPage, opened
from sites.models import Site

# So few pages may mean that a word is misspelt.
FEW = 20


@dataclass(frozen=True)
class Hit:
    site_title: str
    document: PublishedDocument
    page: PublishedPage
    snippet: list[Piece]
    url: str


@dataclass(frozen=True)
class Results:
    asked: Asked
    question: Question
    hits: tuple[Hit, ...]
    counts: Counts
    next: Asked | None
    previous: Asked | None
    # There is an index to search.
    ready: bool = True


def reader() -> Reader:
    return searching.reader_of(settings.SEARCH_INDEX_DIR)


def results_of(asked: Asked, limit: int = PER_PAGE) -> Results:
    began = time.monotonic()
    index = reader()
    offset = 0 if asked.newest_first else (asked.page - 1) * limit
    # One more than is shown: is there another page?
    found = searching.search(index, asked.wanted, limit=limit + 1, offset=offset, after=asked.after)
    places = found.places[:limit]
    # Before the counts are asked for: they are being counted meanwhile.
    hits = hits_at(places, found.question, asked.words)
    tally.add("clerk_search_seconds", time.monotonic() - began)
    return Results(
        asked=asked,
        question=found.question,
        hits=hits,
        counts=found.counts,
        next=_next(asked, places) if len(found.places) > limit else None,
        previous=asked.with_(page=asked.page - 1) if asked.page > 1 else None,
        ready=index.searcher() is not None,
    )


def _next(asked: Asked, places: tuple[Place, ...]) -> Asked:
    last = places[-1].after
    return asked.with_(after=last) if last else asked.with_(page=asked.page + 1)


def hits_at(places: Iterable[Place], question: Question, words: str) -> tuple[Hit, ...]:
    """Each page as it is deployed. One that is not there any more (a deploy this very second) is left out."""
    listed = list(places)
    found: dict[Place, Hit] = {}
    names = site_names({place.site for place in listed})
    for site_id in dict.fromkeys(place.site for place in listed):
        with opened(site_id) as records:
            for place in listed if records else ():
                if place.site != site_id or records is None:
                    continue
                document = records.document(place.document)
                page = records.page(place.document, place.page)
                if document and page:
                    text = marking.snippet(question, page.text)
                    url = page_url(site_id, document.id, page.number, words)
                    found[place] = Hit(names[site_id], document, page, text, url)
    return tuple(found[place] for place in listed if place in found)


def page_url(site_id: str, document_id: str, page: int, words: str = "") -> str:
    """The address of a page; with the words searched for, so that they are marked there."""
    url = reverse("records:page", args=(site_id, document_id, page))
    return f"{url}?{urlencode({'q': words})}" if words else url


def site_names(site_ids: Iterable[str]) -> dict[str, str]:
    wanted = set(site_ids)
    names = dict(Site.objects.filter(pk__in=wanted).values_list("pk", "name"))
    return {site_id: names.get(site_id) or site_id for site_id in wanted}


def texts_of(places: Iterable[Place]) -> Iterator[str]:
    for place in places:
        with opened(place.site) as records:
            page = records.page(place.document, place.page) if records else None
        if page:
            yield page.text


def meant_instead(found: Results) -> Asked | None:
    """The same search with its misspelt words put right; None when there is nothing to put right."""
    searcher = reader().searcher()
    if searcher is None or found.counts.total > FEW:
        return None
    meant = suggestion(searcher, found.question, texts_of)
    words = " ".join(meant.get(word, word) for word in found.asked.words.split())
    return found.asked.with_(words=words) if words != found.asked.words else None
