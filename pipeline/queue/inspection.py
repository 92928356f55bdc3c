"""Reads queues and workers as they are, without the clean-up that RQ's own registries run when asked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import django_rq
from django.conf import settings
from django.utils import timezone
from redis.exceptions import RedisError
from rq.job import Job
from rq.queue import Queue
from rq.registry import (
    BaseRegistry,
    DeferredJobRegistry,
    FailedJobRegistry,
    ScheduledJobRegistry,
    StartedJobRegistry,
)
from rq.scheduler import RQScheduler
from rq.utils import str_to_date
from rq.worker_registration import REDIS_WORKER_KEYS

from pipeline.queue import clock
from pipeline.queue.sending import COORDINATOR_QUEUE, QueueUnavailable
from pipeline.redaction import redact

# A worker calls in every 30 seconds, busy or idle.
SILENT_AFTER = timedelta(minutes=2)
REGISTRIES: dict[str, type[BaseRegistry]] = {
    "started": StartedJobRegistry,
    "scheduled": ScheduledJobRegistry,
    "deferred": DeferredJobRegistry,
    "failed": FailedJobRegistry,
}


@dataclass(frozen=True)
class WorkerFacts:
    name: str
    queues: tuple[str, ...]
    state: str
    current_job: str
    born_at: datetime | None
    heartbeat_at: datetime | None

    @property
    def alive(self) -> bool:
        return self.heartbeat_at is not None and timezone.now() - self.heartbeat_at < SILENT_AFTER


@dataclass(frozen=True)
class QueueFacts:
    name: str
    waiting: int = 0
    started: int = 0
    scheduled: int = 0
    deferred: int = 0
    failed: int = 0
    oldest_at: datetime | None = None
    workers: int = 0
    scheduler: bool = False


@dataclass(frozen=True)
class Workforce:
    queues: tuple[QueueFacts, ...] = ()
    workers: tuple[WorkerFacts, ...] = ()
    error: str = ""

    @property
    def reachable(self) -> bool:
        return not self.error

    def queue(self, name: str) -> QueueFacts:
        return next((queue for queue in self.queues if queue.name == name), QueueFacts(name))


def read_workforce() -> Workforce:
    try:
        return _read(django_rq.get_connection(COORDINATOR_QUEUE))
    except RedisError as error:
        return Workforce(error=f"Redis does not answer: {redact(str(error))}")


def live_job_ids(now: datetime, grace: timedelta) -> set[str]:
    """Jobs that will still run or are running, as of one moment.

    Not those that a worker has taken and not started: a killed worker leaves ghosts there. Read straight from
    the keys, for a registry that is asked the usual way cleans itself up with callbacks, in our process.
    """
    queues = [django_rq.get_queue(name) for name in settings.RQ_QUEUES]
    # Workers write by their own clocks, which may be a little off.
    heard = now - min(timedelta(seconds=clock.MOST_SECONDS), grace / 10)
    try:
        with queues[0].connection.pipeline(transaction=True) as pipe:
            for queue in queues:
                pipe.lrange(queue.key, 0, -1)
                # A worker that lives moves its jobs' scores into the future all the time.
                pipe.zrangebyscore(StartedJobRegistry(queue=queue).key, heard.timestamp(), "+inf")
                # One that is long due still waits because nobody runs the scheduler.
                pipe.zrangebyscore(ScheduledJobRegistry(queue=queue).key, (now - grace).timestamp(), "+inf")
                pipe.zrange(DeferredJobRegistry(queue=queue).key, 0, -1)
            found = pipe.execute()
    except RedisError as error:
        raise QueueUnavailable(redact(f"Redis at {settings.REDIS_URL} does not answer ({error})")) from error
    # A started job is kept as `job:execution`; none of our ids has a colon.
    return {entry.decode().partition(":")[0] for entries in found for entry in entries}


TAKEN = "taken"


def job_states(job_ids: Iterable[str]) -> dict[str, str]:
    """What the queue says of each job: queued, started, scheduled …; a job it does not know is absent.

    A job that a worker has taken and not started is `taken`, though it calls itself queued: if the worker
    died at that moment, nobody will ever start it.
    """
    wanted = list(job_ids)
    try:
        connection = django_rq.get_connection(COORDINATOR_QUEUE)
        pipe = connection.pipeline(transaction=False)
        for job_id in wanted:
            pipe.hget(Job.key_for(job_id), "status")
        for name in settings.RQ_QUEUES:
            pipe.lrange(Queue(name, connection=connection).intermediate_queue_key, 0, -1)
        answers = pipe.execute() if wanted else []
    except RedisError:
        return {}
    taken = {entry.decode() for entries in answers[len(wanted) :] for entry in entries}
    states = zip(wanted, answers, strict=False)
    return {job_id: TAKEN if job_id in taken else state.decode() for job_id, state in states if state}


def _read(connection: Any) -> Workforce:
    pipe = connection.pipeline(transaction=False)
    names = list(settings.RQ_QUEUES)
    for name in names:
        key = f"{Queue.redis_queue_namespace_prefix}{name}"
        pipe.llen(key)
        pipe.lindex(key, 0)
        for registry in REGISTRIES.values():
            pipe.zcard(registry.key_template.format(name))
        pipe.exists(RQScheduler.get_locking_key(name))
    pipe.smembers(REDIS_WORKER_KEYS)
    *answers, worker_keys = pipe.execute()
    width = 3 + len(REGISTRIES)
    rows = [answers[start : start + width] for start in range(0, len(answers), width)]
    return _with_ages(connection, dict(zip(names, rows, strict=True)), sorted(worker_keys))


def _with_ages(connection: Any, rows: Mapping[str, list[Any]], worker_keys: list[bytes]) -> Workforce:
    pipe = connection.pipeline(transaction=False)
    for row in rows.values():
        pipe.hget(Job.key_for(row[1].decode() if row[1] else ""), "enqueued_at")
    for key in worker_keys:
        pipe.hgetall(key)
    answers = pipe.execute()
    ages, hashes = answers[: len(rows)], answers[len(rows) :]
    workers = tuple(
        _worker(key.decode(), fields) for key, fields in zip(worker_keys, hashes, strict=True) if fields
    )
    queues = tuple(
        _queue(name, row, age, workers) for (name, row), age in zip(rows.items(), ages, strict=True)
    )
    return Workforce(queues, workers)


def _queue(name: str, row: list[Any], age: bytes | None, workers: tuple[WorkerFacts, ...]) -> QueueFacts:
    waiting, _, *counts, scheduler = row
    listening = sum(worker.alive and name in worker.queues for worker in workers)
    registered = dict(zip(REGISTRIES, counts, strict=True))
    return QueueFacts(
        name, waiting, **registered, oldest_at=_time(age), workers=listening, scheduler=bool(scheduler)
    )


def _worker(key: str, fields: Mapping[bytes, bytes]) -> WorkerFacts:
    text = {name.decode(): value.decode(errors="replace") for name, value in fields.items()}
    return WorkerFacts(
        name=key.rpartition(":")[2],
        queues=tuple(text.get("queues", "").split(",")),
        state=text.get("state", ""),
        current_job=text.get("current_job", ""),
        born_at=_time(fields.get(b"birth")),
        heartbeat_at=_time(fields.get(b"last_heartbeat")),
    )


def _time(value: bytes | None) -> datetime | None:
    return str_to_date(value) if value else None
