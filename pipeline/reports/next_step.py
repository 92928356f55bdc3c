"""What will happen next to a ledger row, in one sentence."""

from django.utils import timezone

from pipeline.error_codes import Again, explained
from pipeline.models import DocumentState, Run, Status
from pipeline.reports.failures import status_of
from pipeline.reports.wording import ago

AFTER = {
    Again.YES: "Its attempts are used up, so nothing happens by itself. Retry begins again.",
    Again.NEXT_RUN: "The next run of the site tries it again. Retry does so now.",
    Again.FURTHER: "Nothing happens by itself. Retry goes on from where it was.",
    Again.NO: "Nothing happens by itself: another attempt would end alike, unless something changed.",
}


def next_step(row: DocumentState) -> str:
    status = status_of(row)
    if status == "skipped":
        return "Nothing: nobody waits for it. Take the document up again to have it done."
    if status == Status.PROCESSED:
        return "Nothing: it is done."
    if status == Status.FAILED_TERMINAL:
        return AFTER[explained(row.error_code or "").again]
    if status == Status.IN_PROGRESS:
        return "A worker has it now."
    return _waiting(row)


def _waiting(row: DocumentState) -> str:
    if row.site.paused_at:
        return "The site is paused; it goes on when the site is resumed."
    if row.run is None or row.run.status != Run.Status.RUNNING:
        return "The next run of the site takes it up."
    if row.retry_at and row.retry_at > timezone.now():
        return f"It is tried again by itself {ago(row.retry_at)}."
    return "It waits for a worker."
