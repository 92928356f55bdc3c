"""Sends work to the queues: after the commit, under deterministic job ids."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import structlog
from django.conf import settings
from django.utils import timezone
from redis.exceptions import RedisError
from rq import Queue, Retry

from pipeline.queue import connection
from pipeline.redaction import redact

log = structlog.get_logger()

COORDINATOR_QUEUE = "high"
COORDINATOR_JOB = "pipeline.jobs.coordinate"
BULK_JOB = "pipeline.jobs.work_off_bulk"
LOOK_JOB, LOOK_QUEUE = "pipeline.jobs.look_at_address", "fetch"
FAILURE_TTL = 7 * 24 * 3600


class QueueUnavailable(Exception):
    """Redis cannot be reached, so nothing can be started."""


@dataclass(frozen=True)
class Ticket:
    """One ledger row on its way to a worker."""

    queue: str
    function: str
    row_id: int
    run_id: int
    seq: int
    front: bool = False

    @property
    def job_id(self) -> str:
        return job_id(self.queue, self.row_id, self.run_id, self.seq)

    @property
    def arguments(self) -> tuple[int, int, int]:
        return (self.row_id, self.run_id, self.seq)


def redeliveries() -> int:
    """For a process that died: one more than it may kill. Work that failed is retried by the ledger."""
    return settings.MAX_ATTEMPTS


def _redelivery() -> Retry:
    """To the front: the job has had its turn, and would else wait behind a whole queue for its next one."""
    return Retry(max=redeliveries(), enqueue_at_front=True)


def job_id(queue: str, row_id: int, run_id: int | None, seq: int) -> str:
    return f"{queue}-{row_id}-{run_id}-{seq}"


def check() -> None:
    """A write: a replica, or a Redis whose disk is full, answers every question and takes no job."""
    try:
        connection.redis().set("clerk:probe", 1, ex=60)
    except RedisError as error:
        raise QueueUnavailable(
            redact(f"Redis at {settings.REDIS_URL} does not answer or refuses writes ({error}).")
            + " Nothing was started"
        ) from error


def send(tickets: Iterable[Ticket]) -> bool:
    """Queue many jobs. What a lost Redis swallows stays in the ledger, and reconcile sends it again.

    False when it did.
    """
    by_place: dict[tuple[str, bool], list[Ticket]] = {}
    for ticket in tickets:
        by_place.setdefault((ticket.queue, ticket.front), []).append(ticket)
    try:
        for (name, front), some in by_place.items():
            _send(connection.queue(name), some, front)
    except RedisError as error:
        log.warning("queue unreachable; reconcile will send these jobs", error=str(error))
        return False
    return True


def _send(queue: Queue, tickets: list[Ticket], front: bool) -> None:
    limit = settings.JOB_LIMITS[queue.name]
    if front:
        # Each one is pushed before the last, so the order must be turned round to stay.
        tickets = tickets[::-1]
    for start in range(0, len(tickets), 500):
        queue.enqueue_many(
            [
                Queue.prepare_data(
                    ticket.function,
                    args=ticket.arguments,
                    job_id=ticket.job_id,
                    timeout=limit,
                    result_ttl=3600,
                    failure_ttl=FAILURE_TTL,
                    retry=_redelivery(),
                    at_front=front,
                )
                for ticket in tickets[start : start + 500]
            ]
        )


def send_later(ticket: Ticket, at: datetime) -> bool:
    """Queue one job when its backoff is over; False when Redis would not take it."""
    if at <= timezone.now():
        return send([ticket])
    try:
        connection.queue(ticket.queue).enqueue_at(
            at,
            ticket.function,
            *ticket.arguments,
            job_id=ticket.job_id,
            job_timeout=settings.JOB_LIMITS[ticket.queue],
            result_ttl=3600,
            failure_ttl=FAILURE_TTL,
            retry=_redelivery(),
            at_front=ticket.front,
        )
    except RedisError as error:
        log.warning("queue unreachable; reconcile will send this job", job=ticket.job_id, error=str(error))
        return False
    return True


def coordinator_job_id(run_id: int, seq: int) -> str:
    return f"coordinate-{run_id}-{seq}"


def send_coordinator(site_id: str, run_id: int, seq: int) -> bool:
    """False when Redis would not take it; reconcile sends it then."""
    try:
        connection.queue(COORDINATOR_QUEUE).enqueue_call(
            COORDINATOR_JOB,
            args=(site_id, run_id, seq),
            job_id=coordinator_job_id(run_id, seq),
            timeout=settings.JOB_LIMITS["coordinator"],
            result_ttl=3600,
            failure_ttl=FAILURE_TTL,
            retry=_redelivery(),
        )
    except RedisError as error:
        log.warning("queue unreachable; reconcile will send the coordinator", site=site_id, error=str(error))
        return False
    return True


def send_bulk(bulk_id: int, seq: int) -> bool:
    """The next slice of an act on many. False when Redis would not take it; reconcile sends it then."""
    try:
        connection.queue(COORDINATOR_QUEUE).enqueue_call(
            BULK_JOB,
            args=(bulk_id, seq),
            job_id=f"bulk-{bulk_id}-{seq}",
            timeout=settings.JOB_LIMITS["coordinator"],
            result_ttl=3600,
            failure_ttl=FAILURE_TTL,
            retry=_redelivery(),
        )
    except RedisError as error:
        log.warning("queue unreachable; reconcile will send the bulk act", bulk=bulk_id, error=str(error))
        return False
    return True


def send_look(look_id: int) -> None:
    """Somebody waits for it: before everything else in its queue."""
    connection.queue(LOOK_QUEUE).enqueue_call(
        LOOK_JOB,
        args=(look_id,),
        job_id=f"look-{look_id}",
        timeout=settings.JOB_LIMITS[LOOK_QUEUE],
        result_ttl=3600,
        failure_ttl=FAILURE_TTL,
        retry=_redelivery(),
        at_front=True,
    )
