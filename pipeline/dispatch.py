"""Sending what waits: the coordinator, and rows of the ledger, each when it may be tried."""

from collections.abc import Iterable, Iterator, Sequence

from django.db.models import QuerySet
from django.utils import timezone

from pipeline.models import DocumentState, Run
from pipeline.order import STEPS
from pipeline.queue import sending
from pipeline.queue.sending import Ticket
from sites.stages import Stage

SEND_AT_ONCE = 1000


def deliver(site_id: str, run_id: int, coordinator_seq: int | None) -> None:
    """Queue the coordinator if one is due, and every waiting row of the run, each when it may be tried."""
    if coordinator_seq is not None:
        sending.send_coordinator(site_id, run_id, coordinator_seq)
    deliver_rows(waiting_rows(site_id, run_id).iterator(chunk_size=SEND_AT_ONCE))


def waiting_rows(site_id: str, run_id: int) -> QuerySet[DocumentState]:
    return DocumentState.objects.waiting().filter(site_id=site_id, run_id=run_id).order_by("pk")


def deliver_rows(rows: Iterable[DocumentState]) -> bool:
    """A thousand at a time: a run may have more than fit into memory. False when Redis would not take all."""
    now, due, took = timezone.now(), [], True
    for row, ticket in tickets(rows):
        if row.retry_at and row.retry_at > now:
            took = sending.send_later(ticket, row.retry_at) and took
        else:
            due.append(ticket)
        if len(due) == SEND_AT_ONCE:
            took, due = sending.send(due) and took, []
    return sending.send(due) and took


def deliver_ids(row_ids: Sequence[int]) -> None:
    for start in range(0, len(row_ids), SEND_AT_ONCE):
        deliver_rows(
            DocumentState.objects.filter(pk__in=row_ids[start : start + SEND_AT_ONCE]).order_by("pk")
        )


def tickets(rows: Iterable[DocumentState]) -> Iterator[tuple[DocumentState, Ticket]]:
    high = set(Run.objects.running().filter(priority__gt=0).values_list("pk", flat=True))
    return ((row, ticket_of(row, front=row.run_id in high)) for row in rows)


def ticket_of(row: DocumentState, front: bool = False) -> Ticket:
    step = STEPS[Stage(row.pipeline)]
    function = step.document_job if row.document_id else step.unit_job
    if row.run_id is None:
        raise ValueError(f"row {row.pk} is in no run")
    return Ticket(row.pipeline, function, row.pk, row.run_id, row.enqueue_seq, front)
