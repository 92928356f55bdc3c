"""What each saved search finds among what is new: every arrival is matched with every search once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from tantivy import Searcher

from pipeline.work.index import searching
from pipeline.work.index.searching import Place
from records.asking import Asked
from records.following import arrivals, saving
from records.models import Alert, Arrival, SavedSearch
from records.results import reader

# So many finds are told one by one in a mail; of the others, how many.
TOLD = 20


@dataclass(frozen=True)
class Finds:
    places: tuple[Place, ...] = ()
    total: int = 0


def match_due(now: datetime) -> int:
    """Match every search whose time has come; how many found something."""
    searcher, until = reader().searcher(), arrivals.newest()
    if searcher is None:
        return 0
    due = _due(until, now)
    return sum(match(searcher, search, until, now) for search in due.order_by("due_at", "pk"))


def due_now() -> int:
    return _due(arrivals.newest(), timezone.now()).count()


def _due(until: int, now: datetime) -> QuerySet[SavedSearch]:
    waiting = SavedSearch.objects.filter(ended_at=None, confirmed_at__isnull=False)
    return waiting.filter(due_at__lte=now, seen__lt=until)


def match(searcher: Searcher, search: SavedSearch, until: int, now: datetime) -> bool:
    """The guarded update lets one of two through: a find is written down with it, or not at all."""
    found = finds(searcher, search, until)
    with transaction.atomic():
        moved = SavedSearch.objects.filter(pk=search.pk, seen=search.seen, ended_at=None).update(
            seen=until, due_at=saving.next_due(search, now)
        )
        if not moved or not found.total:
            return False
        Alert.objects.create(
            search=search,
            after=search.seen,
            until=until,
            hits=[[place.site, place.document, place.page] for place in found.places],
            total=found.total,
            next_attempt_at=now,
        )
    return True


def finds(searcher: Searcher, search: SavedSearch, until: int) -> Finds:
    asked, total = saving.asked_of(search), 0
    places: list[Place] = []
    for documents in arrivals.slices(_new_documents(asked, search.seen, until)):
        wanted = replace(asked.wanted, documents=documents, newest_first=True)
        places += searching.find(searcher, wanted, limit=TOLD)
        total += searching.count(searcher, wanted).total
    newest = sorted(places, key=lambda place: -place.after)
    return Finds(tuple(newest[:TOLD]), total)


def _new_documents(asked: Asked, after: int, until: int) -> Iterator[str]:
    new = Arrival.objects.filter(pk__gt=after, pk__lte=until, baseline=False)
    if asked.site:
        new = new.filter(site_id__in=asked.site)
    return new.order_by("pk").values_list("document", flat=True).iterator(chunk_size=arrivals.SLICE)
