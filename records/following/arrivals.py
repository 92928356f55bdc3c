"""What is new in the records, in the order in which it came: each document once."""

from collections.abc import Iterable, Iterator
from itertools import islice

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone
from tantivy import Searcher

from pipeline.work.index import contents
from records.models import Arrival, SeenSite
from records.results import reader
from sites.models import Site

# Any number will do, as long as nothing else on this database uses it.
ARRIVALS_LOCK = 5_310_015
SLICE = 1000


def note() -> int:
    """Write down what came into the index since the last time; how many documents.

    What a site has when it is first seen came before anybody could wait for it: it is written down as known.
    """
    seen = dict(SeenSite.objects.values_list("site_id", "version"))
    searcher = reader().searcher()
    if searcher is None:
        return 0
    sites = set(Site.objects.values_list("pk", flat=True))
    return sum(
        _note(searcher, summary.site, summary.version, known=summary.site not in seen)
        for summary in contents.summaries(searcher)
        if summary.site in sites and seen.get(summary.site) != summary.version
    )


def slices(items: Iterable[str]) -> Iterator[tuple[str, ...]]:
    every = iter(items)
    while some := tuple(islice(every, SLICE)):
        yield some


def newest() -> int:
    return Arrival.objects.aggregate(newest=Max("id"))["newest"] or 0


def _note(searcher: Searcher, site_id: str, version: str, *, known: bool) -> int:
    listed = contents.manifest_of(searcher, site_id)
    with transaction.atomic():
        _one_after_another()
        written = set(Arrival.objects.filter(site_id=site_id).values_list("document", flat=True))
        fresh, now = [document for document in listed if document not in written], timezone.now()
        for some in slices(fresh):
            Arrival.objects.bulk_create(
                [Arrival(site_id=site_id, document=each, at=now, baseline=known) for each in some],
                ignore_conflicts=True,
            )
        SeenSite.objects.update_or_create(site_id=site_id, defaults={"version": version})
    return 0 if known else len(fresh)


def _one_after_another() -> None:
    """Ids must appear in their order: who has seen the 8th would never look for a 7th that came later.

    SQLite has one writer at a time anyway.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ARRIVALS_LOCK])
