"""The harness's own worker entry: the product's supervisor and workers, quicker, and mortal on command."""

import functools
import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from django.conf import settings
from django.db import transaction
from rq.job import Job

from pipeline import dispatch, flow, protocol
from pipeline.models import DocumentState
from pipeline.queue import sending
from pipeline.state import ledger, runs
from pipeline.state.attempt import Attempt, Outcome
from pipeline.workers import supervisor
from pipeline.workers.staying import StayingWorker

from . import outages
from .diary import Diary

# Each is a commit, an enqueueing, or a step between the two; a process may die before and after it.
BOUNDARIES: tuple[tuple[ModuleType, str], ...] = (
    (ledger, "claim"),
    (ledger, "finish_processed"),
    (ledger, "finish_failed"),
    (ledger, "_close"),
    (ledger, "_count"),
    (ledger, "claim_coordinator"),
    (ledger, "_insert"),
    (sending, "send_coordinator"),
    (sending, "send_later"),
    (sending, "_send"),
    (flow, "advance"),
    (dispatch, "deliver"),
    (dispatch, "deliver_ids"),
    (runs, "move_on"),
    (runs, "_leave"),
    (runs, "complete"),
    (runs, "fail"),
)
PLACES = [f"{when}-{module.__name__}.{name}" for module, name in BOUNDARIES for when in ("before", "after")]


class HastyWorker(StayingWorker):
    """Notices within seconds what the product's notices within a minute and a half."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"maintenance_interval": 3, "job_monitoring_interval": 1})

    @property
    def dequeue_timeout(self) -> int:
        return 2

    def get_heartbeat_ttl(self, job: Job) -> int:
        # As in production: the grace is longer than a heartbeat is good for.
        return max(2, settings.RECONCILE_GRACE_SECONDS * 2 // 3)


def work(worker: type, folder: Path, diary: Diary, log: Path) -> None:
    """The rest of this process's life: supervise workers until a signal comes."""
    settings.RQ["WORKER_CLASS"] = f"{worker.__module__}.{worker.__qualname__}"
    # Killed again and again on purpose, which is no reason to wait before the next start.
    supervisor.STEADY_SECONDS = 0
    outages.hasten(folder)
    _write_down_what_happens(diary, folder)
    for module, name in BOUNDARIES:
        _make_mortal(module, name, folder, diary)
    _redirect(log)  # not before: what goes wrong up to here is for the person who started the test
    supervisor.Supervisor(supervisor.default_counts() | {"ocr": 2, "extraction": 2}, print, grace=5).run()


def _redirect(log: Path) -> None:
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(handle, stream)


def _make_mortal(module: ModuleType, name: str, folder: Path, diary: Diary) -> None:
    real: Callable[..., Any] = getattr(module, name)
    before, after = (folder / f"{when}-{module.__name__}.{name}" for when in ("before", "after"))

    @functools.wraps(real)
    def mortal(*args: Any, **kwargs: Any) -> Any:
        _die_if_told(before, diary)
        result = real(*args, **kwargs)
        _die_if_told(after, diary)
        return result

    setattr(module, name, mortal)


def _die_if_told(order: Path, diary: Diary) -> None:
    """Whoever takes the order away carries it out; its text says who dies."""
    taken = order.with_name(f"{order.name}.{os.getpid()}")
    try:
        order.rename(taken)
    except FileNotFoundError:
        return
    whom = taken.read_text()
    diary.write("died", order.name, whom)
    if whom == "worker":
        os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _write_down_what_happens(diary: Diary, folder: Path) -> None:
    """What was worked, what was accepted as finished, which wave was left: the last two once committed."""
    attempt, close, leave = protocol._attempt, ledger._close, runs._leave

    def noted_attempt(work: Any, taken: Attempt, rq_job: Job | None) -> Outcome:
        diary.write("worked", taken.row_id, taken.run_id, diary.chapter)
        return attempt(outages.troubled(work, folder), taken, rq_job)

    def noted_close(taken: Attempt, **values: Any) -> None:
        close(taken, **values)
        if values["status"] != "failed_retryable":
            # What failed may be tried again because a person asks, and ends once more then.
            asked = DocumentState.objects.values_list("retried", flat=True).get(pk=taken.row_id)
            note = ("finished", taken.row_id, taken.run_id, asked, diary.chapter)
            transaction.on_commit(lambda: diary.write(*note))

    def noted_leave(site_id: str, run_id: int, wave: Any, **values: Any) -> None:
        leave(site_id, run_id, wave, **values)
        transaction.on_commit(lambda: diary.write("left", run_id, wave[-1], diary.chapter))

    setattr(protocol, "_attempt", noted_attempt)  # noqa: B010
    setattr(ledger, "_close", noted_close)  # noqa: B010
    setattr(runs, "_leave", noted_leave)  # noqa: B010
