"""Keeps the asked number of workers alive, each on one queue, and stops them all when told to."""

import os
import signal
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from uuid import uuid4

from django.conf import settings
from django.db import connections
from django_rq import get_connection, get_queue
from django_rq.workers import get_worker

from pipeline.workers.worker import PipelineScheduler, die_with_parent

LOOK_SECONDS = 0.2
# A process that lives this long was not crashing at its start; the next restart is immediate.
STEADY_SECONDS = 20
LONGEST_DELAY = 60
HARD_STOP_SECONDS = 10
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def default_counts() -> dict[str, int]:
    """One worker a queue; two for fetch, which mostly waits; one a core for OCR, which never does."""
    return dict.fromkeys(settings.RQ_QUEUES, 1) | {"fetch": 2, "ocr": os.cpu_count() or 1}


@dataclass
class Slot:
    """A place for one process: filled again whenever it falls empty."""

    name: str
    run: Callable[[], None]
    pid: int | None = None
    started_at: float = 0.0
    start_after: float = 0.0
    crashes: int = 0


class Supervisor:
    def __init__(
        self,
        counts: Mapping[str, int],
        say: Callable[[str], None],
        grace: float | None = None,
        rhythm: Callable[[], None] | None = None,
    ) -> None:
        """`rhythm` is what looks at the clock beside the workers; None: nothing does."""
        self.queues = [queue for queue, count in counts.items() if count > 0]
        self.slots = [Slot("scheduler", lambda: run_scheduler(self.queues)), *_worker_slots(counts)]
        if rhythm is not None:
            self.slots.append(Slot("schedule", rhythm))
        self.say = say
        self.grace = grace
        self.stops = 0

    def run(self, until_idle: bool = False) -> None:
        """Supervise until a signal comes, or until nothing waits or runs in the queues."""
        before = {number: signal.signal(number, self._on_signal) for number in STOP_SIGNALS}
        idle = idle_looks(self.queues) if until_idle else iter(lambda: False, None)
        try:
            while not self.stops and not next(idle):
                self._fill_slots()
                time.sleep(LOOK_SECONDS)
        finally:
            self._stop_all()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: types.FrameType | None) -> None:
        self.stops += 1

    def _fill_slots(self) -> None:
        for slot in self.slots:
            self._reap(slot)
            if slot.pid is None and time.monotonic() >= slot.start_after:
                self._start(slot)

    def _start(self, slot: Slot) -> None:
        connections.close_all()  # a connection cannot be shared across a fork
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _become(slot, parent)
        slot.pid, slot.started_at = pid, time.monotonic()
        self.say(f"{slot.name} started (pid {pid})")

    def _reap(self, slot: Slot) -> bool:
        """True when the slot is empty, now or already."""
        if slot.pid is None:
            return True
        pid, status = os.waitpid(slot.pid, os.WNOHANG)
        if pid == 0:
            return False
        slot.pid = None
        code = os.waitstatus_to_exitcode(status)
        steady = time.monotonic() - slot.started_at >= STEADY_SECONDS
        slot.crashes = 0 if steady else slot.crashes + 1
        delay = restart_delay(slot.crashes)
        slot.start_after = time.monotonic() + delay
        if not self.stops:
            how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
            self.say(f"{slot.name} ended ({how}); starting again in {delay:g} s")
        return True

    def _stop_all(self) -> None:
        """Warm: each worker finishes its job. Hard, at a second signal or after the grace: it is cut off."""
        asked = self.stops = max(self.stops, 1)
        hard_at = float("inf") if self.grace is None else time.monotonic() + self.grace
        self.say("stopping; running jobs finish first (stop again to cut them off)")
        self._send_all(signal.SIGTERM)
        while self._running() and self.stops == asked and time.monotonic() < hard_at:
            time.sleep(LOOK_SECONDS)
        if self._running():
            self._stop_hard()

    def _stop_hard(self) -> None:
        deadline = time.monotonic() + HARD_STOP_SECONDS
        while self._running() and time.monotonic() < deadline:
            # RQ takes a second signal within a second of the first for an echo of it: so more than one.
            self._send_all(signal.SIGTERM)
            time.sleep(0.5)
        self._send_all(signal.SIGKILL)
        while self._running():
            time.sleep(LOOK_SECONDS)

    def _running(self) -> list[Slot]:
        return [slot for slot in self.slots if not self._reap(slot)]

    def _send_all(self, number: signal.Signals) -> None:
        for slot in self.slots:
            if slot.pid is not None:
                os.kill(slot.pid, number)


def restart_delay(crashes: int) -> float:
    """Nothing after a steady life, then 1, 2, 4 … seconds for a process that keeps dying at its start."""
    return 0.0 if crashes == 0 else float(min(LONGEST_DELAY, 2 ** (crashes - 1)))


def idle_looks(queues: list[str]) -> Iterator[bool]:
    """One answer a look: does nothing wait or run? Retries that wait for a later time are left for later."""
    quiet_before = False
    while True:
        quiet = not any(_is_busy(queue) for queue in queues)
        # A job on its way between two queues shows in neither: only two quiet looks in a row count.
        yield quiet and quiet_before
        quiet_before = quiet


def _is_busy(name: str) -> bool:
    queue = get_queue(name)
    connection = queue.connection
    return bool(
        connection.llen(queue.key)
        or connection.llen(queue.intermediate_queue.key)
        # Entries in the past are those of lost workers; counting through RQ would run its cleanup here.
        or connection.zcount(queue.started_job_registry.key, time.time(), "+inf")
    )


def _worker_slots(counts: Mapping[str, int]) -> list[Slot]:
    def worker(queue: str) -> Callable[[], None]:
        return lambda: run_worker(queue)

    return [
        Slot(f"{queue} worker {n}", worker(queue))
        for queue, count in counts.items()
        for n in range(1, count + 1)
    ]


def _become(slot: Slot, parent: int) -> None:
    """The rest of the forked child's life. Its own group, so that a Ctrl-C reaches the supervisor alone."""
    code = 1
    try:
        os.setpgid(0, 0)
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        die_with_parent(signal.SIGTERM, parent)
        slot.run()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run_worker(queue: str) -> None:
    # A lost worker's name stays taken for minutes, and containers reuse process ids: so a random part.
    name = f"{queue}.{os.uname().nodename}.{os.getpid()}.{uuid4().hex[:6]}"
    get_worker(queue, name=name).work(logging_level="WARNING")


def run_scheduler(queues: list[str]) -> None:
    PipelineScheduler(queues, connection=get_connection(queues[0]), logging_level="WARNING").work()
