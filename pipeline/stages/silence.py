"""Each listing of a source is written down, and what it says about the source: well, or gone silent."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from django.db.models import Max
from django.utils import timezone

from pipeline.errors import PipelineError
from pipeline.models import Silence, SourceListing, SourceState
from pipeline.redaction import redact
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.diagnosis import of_page
from pipeline.work.fetch.listing import Listing
from pipeline.work.fetch.silence import Seen, Verdict, judge, of_failure
from sites.models import Document, Source

# Listings kept per source: enough to know what is usual, and never more.
KEPT = 60
# A source that could not be listed for so long does not merely have a bad hour.
FAILING_AFTER = timedelta(hours=20)


def diagnosis_of(source: Source, client: Client) -> str:
    """What the page of a source that listed nothing is."""
    try:
        page = client.page(source.url)
    except PipelineError:
        return ""
    return of_page(page.url, page.text).code


def record_listing(source: Source, listing: Listing, new: int, diagnosis: str = "") -> SourceState:
    """In the transaction that writes down what was listed."""
    now = timezone.now()
    earlier = SourceListing.objects.filter(source=source, listed__isnull=False).order_by("-at")
    documents = Document.objects.filter(source=source, superseded_at=None)
    meetings = documents.filter(meeting_date__isnull=False).order_by("-meeting_date")
    last_new = SourceListing.objects.filter(source=source, new__gt=0).aggregate(at=Max("at"))["at"]
    seen = Seen(
        today=timezone.localdate(now),
        listed=len(listing.refs),
        earlier=[count for count in earlier.values_list("listed", flat=True)[:KEPT] if count is not None],
        known=documents.count(),
        meetings=_days(meetings.values_list("meeting_date", flat=True).distinct()[:KEPT]),
        last_new=now.date() if new else (last_new.date() if last_new and earlier.count() > 1 else None),
        warning=listing.warning,
        diagnosis=diagnosis,
    )
    SourceListing.objects.create(source=source, at=now, listed=len(listing.refs), new=new)
    _forget_old(source)
    return _note(source, judge(seen))


def _days(found: Iterable[date | None]) -> list[date]:
    return [day for day in found if day is not None]


def record_failure(source: Source, error: PipelineError) -> None:
    """A listing that failed; its attempts are the ledger's, this is for what it says about the source."""
    message = redact(str(error))[:400]
    SourceListing.objects.create(source=source, at=timezone.now(), code=error.code[:50])
    _forget_old(source)
    verdict = of_failure(error.code, message) or _failing(source, message, error.retryable)
    if verdict:
        _note(source, verdict)


def _failing(source: Source, message: str, retryable: bool) -> Verdict | None:
    """At once where no other attempt can help, else once it has lasted: an hour's outage is no news."""
    if not retryable:
        return Verdict(Silence.FAILING, f"The last listing failed, and will fail again: {message}")
    listings = SourceListing.objects.filter(source=source)
    good = listings.filter(listed__isnull=False).aggregate(at=Max("at"))["at"]
    failed = listings.filter(listed=None)
    first = (failed.filter(at__gt=good) if good else failed).order_by("at").first()
    if first is None or timezone.now() - first.at < FAILING_AFTER:
        return None
    return Verdict(Silence.FAILING, f"Every listing since {first.at:%Y-%m-%d %H:%M} UTC failed: {message}")


def _note(source: Source, verdict: Verdict) -> SourceState:
    now = timezone.now()
    state, made = SourceState.objects.get_or_create(
        source=source,
        defaults={"state": verdict.state, "reason": verdict.reason, "since": now, "looked_at": now},
    )
    if not made:
        values: dict[str, Any] = {"reason": verdict.reason, "looked_at": now}
        if state.state != verdict.state:
            values |= {"state": verdict.state, "since": now}
        SourceState.objects.filter(pk=state.pk).update(**values)
    return state


def _forget_old(source: Source) -> None:
    kept = SourceListing.objects.filter(source=source).order_by("-at", "-pk").values("pk")[:KEPT]
    latest = list(kept.values_list("pk", flat=True))
    SourceListing.objects.filter(source=source).exclude(pk__in=latest).delete()
