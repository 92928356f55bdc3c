"""RQ's worker and scheduler, quicker to notice what was lost, never outliving whoever started them."""

import ctypes
import os
import signal
import sys
import time
from datetime import datetime, timedelta
from typing import Any

from redis.exceptions import RedisError
from rq import Worker
from rq.exceptions import StopRequested
from rq.job import Job
from rq.queue import Queue
from rq.scheduler import RQScheduler

# Loaded here once, before the fork, and not in every job's process anew.
import pipeline.jobs  # noqa: F401
from pipeline.queue import clock, pauses
from pipeline.redaction import redact
from pipeline.reports import snapshot
from pipeline.work.ocr.process.parent import keep_warm, let_cool
from pipeline.workers.doors import AllowedJob, serializer
from sites.stages import Stage

MAINTENANCE_SECONDS = 60
# An idle worker looks up this often; maintenance cannot come more often than that.
IDLE_SECONDS = 30
LOCK_RETRY = timedelta(seconds=5)
PR_SET_PDEATHSIG = 1


def die_with_parent(signal_number: int, parent: int) -> None:
    """Ask the kernel for a signal when the parent is gone. Only Linux can; elsewhere nothing happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal_number)
        if os.getppid() != parent:  # it went before we asked
            os.kill(os.getpid(), signal_number)


def be_killed_with(worker: int) -> None:
    """A job that outlives its worker could run beside its own second attempt."""
    die_with_parent(signal.SIGKILL, worker)


class PipelineWorker(Worker):
    """Finds abandoned jobs within about a minute, where RQ takes up to eleven."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("maintenance_interval", MAINTENANCE_SECONDS)
        # Whatever Redis holds, a worker reads only plain data from it, and runs only what is allowed.
        super().__init__(*args, **kwargs | {"job_class": AllowedJob, "serializer": serializer})

    @property
    def dequeue_timeout(self) -> int:
        return IDLE_SECONDS

    def _shutdown(self) -> None:
        # RQ stops an idle worker by raising from the signal's handler. If that comes while Python runs a
        # finalizer the exception is swallowed, and the worker would live for ever: so it is noted first.
        self._stop_requested = True
        super()._shutdown()

    @property
    def should_run_maintenance_tasks(self) -> bool:
        """Asked before every look into the queue, with no job in hand: the place to heed a noted stop."""
        if self._stop_requested:
            raise StopRequested
        return super().should_run_maintenance_tasks

    def handle_job_failure(
        self, job: Job, queue: Queue, started_job_registry: Any = None, exc_string: str = ""
    ) -> None:
        """The traceback goes to Redis, and from there to the pages of the queues."""
        super().handle_job_failure(job, queue, started_job_registry, redact(exc_string))

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """While something that this queue's jobs need is away, none is taken: it would fail for nothing."""
        while self._must_wait():
            if timeout is None:  # a burst does not wait
                return None
            if self._stop_requested:
                raise StopRequested
            self.heartbeat()
            time.sleep(1)
        return super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)

    def _must_wait(self) -> bool:
        try:
            return bool(pauses.reason_to_wait(self.queues[0].name))
        except RedisError:
            return False  # RQ has its own way to wait for it

    def run_maintenance_tasks(self) -> None:
        fault = clock.fault()
        if fault:  # it was right when the worker started
            pauses.pause(self.queues[0].name, pauses.this_machine(), fault)
        super().run_maintenance_tasks()

    def work(self, *args: Any, **kwargs: Any) -> bool:
        clock.check()
        try:
            return super().work(*args, **kwargs)
        finally:
            let_cool()

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        if queue.name == Stage.OCR:
            keep_warm()  # here, for all jobs to come: what the job's process starts ends with it
        super().fork_work_horse(job, queue)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        be_killed_with(self.pid or 0)
        super().main_work_horse(job, queue)


class PipelineScheduler(RQScheduler):
    """Enqueues the retries whose time has come, in a process of its own; soon takes over from a dead one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"serializer": serializer})

    def heartbeat(self) -> None:
        """Once a round: also the figures for monitors that nobody should look up at each scrape."""
        super().heartbeat()
        snapshot.refresh_if_due()

    @property
    def should_reacquire_locks(self) -> bool:
        if self._queue_names == self._acquired_locks:
            return False
        last: datetime | None = self.lock_acquisition_time
        return last is None or datetime.now() - last > LOCK_RETRY  # noqa: DTZ005 (RQ keeps local time here)
