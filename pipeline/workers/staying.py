"""A worker whose work-horse stays: connections, modules and clients are there for the next job.

What a fork for each job gives stays true. A job that kills its process loses only itself; time limits and
stop orders hold; the worker watches and sends the heartbeats. The work-horse is replaced after a job that ran
out of time or left a thread behind, after too many jobs, and when it has too much memory.
"""

import contextlib
import json
import os
import random
import socket
import threading
import traceback
from collections.abc import Iterator
from typing import Any, NoReturn

import structlog
from django.conf import settings
from django.db import close_old_connections, connections
from rq.executions import Execution
from rq.job import Job
from rq.queue import Queue
from rq.timeouts import UnixSignalDeathPenalty

from pipeline.work.ocr.process.parent import keep_warm, let_cool
from pipeline.workers.horse import FREE, LEAVING, Ended, Horse, memory_mb
from pipeline.workers.worker import PipelineWorker, be_killed_with
from sites.stages import Stage


class NotedLimit(UnixSignalDeathPenalty):
    """Remembers that a limit struck: nobody knows what it cut in two."""

    struck = False

    def handle_death_penalty(self, signum: int, frame: Any) -> None:
        NotedLimit.struck = True
        super().handle_death_penalty(signum, frame)


def orders_of(line: socket.socket) -> Iterator[bytes]:
    """Until the worker lets go of the line, with an answer unread or not."""
    with contextlib.suppress(ConnectionResetError):
        yield from line.makefile("rb")


class StayingWorker(PipelineWorker):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._horse: Horse | None = None

    # ---- In the worker --------------------------------------------------------------------------------

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        """RQ's name for it; most of the time there is one."""
        assert self.execution
        order = json.dumps({"job": job.id, "queue": queue.name, "execution": self.execution.id}).encode()
        self._horse = self._a_horse()
        # From here on RQ kills it when it is told to.
        self._horse_pid = self._horse.pid
        if not self._horse.give(order):
            self._dismiss_horse()
            self._horse = self._a_horse()
            self._horse_pid = self._horse.pid
            self._horse.give(order)

    def wait_for_horse(self) -> Ended:
        return self._horse.wait() if self._horse else (None, None, None)

    def _a_horse(self) -> Horse:
        if self._horse is not None and self._horse.can_take_a_job():
            return self._horse
        self._dismiss_horse()
        connections.close_all()  # a connection cannot be shared across a fork
        worker = os.getpid()
        return Horse(lambda line: self._live(line, worker))

    def _dismiss_horse(self) -> None:
        if self._horse is not None:
            self._horse.end()
            self._horse = None

    def teardown(self) -> None:
        self._dismiss_horse()
        super().teardown()

    # ---- In the work-horse ----------------------------------------------------------------------------

    def _live(self, line: socket.socket, worker: int) -> NoReturn:
        code = 1
        try:
            os.setpgrp()
            be_killed_with(worker)
            random.seed()
            self.setup_work_horse_signals()
            self._is_horse, self.death_penalty_class = True, NotedLimit
            self._obey(line)
            let_cool()
            connections.close_all()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def _obey(self, line: socket.socket) -> None:
        threads, memory = threading.active_count(), memory_mb()
        for done, order in enumerate(orders_of(line), start=1):
            self._do(**json.loads(order))
            stays = (
                not NotedLimit.struck
                and done < settings.WORKER_MAX_JOBS
                and memory_mb() - memory < settings.WORKER_MAX_MB
                and threading.active_count() <= threads
            )
            line.sendall(FREE if stays else LEAVING)
            if not stays:
                return

    def _do(self, job: str, queue: str, execution: str) -> None:
        structlog.contextvars.clear_contextvars()
        close_old_connections()
        if queue == Stage.OCR:
            keep_warm()
        origin = next(each for each in self.queues if each.name == queue)
        todo = self.job_class.fetch(job, connection=self.connection, serializer=self.serializer)
        todo.redis_server_version = self.redis_server_version
        self.execution = Execution(execution, job, self.connection, self.name)
        self.perform_job(todo, origin)
