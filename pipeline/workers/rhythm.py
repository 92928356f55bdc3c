"""The process beside the workers that looks at the clock: checks that are due, and reconcile if asked."""

import signal
import threading
import types
from collections.abc import Callable
from datetime import datetime, timedelta

import structlog
from django.db import DatabaseError, InterfaceError, close_old_connections, connections
from django.utils import timezone
from redis.exceptions import RedisError

from pipeline import alarms
from pipeline.operations.catching_up import catch_up
from pipeline.queue.sending import QueueUnavailable
from pipeline.reconcile import CouldNotLook, reconcile
from pipeline.schedule import due

log = structlog.get_logger()
LOOK_SECONDS = 15.0
Clock = Callable[[], datetime]
Duty = Callable[[datetime], object]


class Rhythm:
    """Every duty in turn, again and again, until a signal comes. One that fails costs no other its turn."""

    def __init__(self, duties: tuple[Duty, ...], clock: Clock = timezone.now, seconds: float = LOOK_SECONDS):
        self.duties, self.clock, self.seconds = duties, clock, seconds
        self._stop = threading.Event()

    def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        while not self._stop.is_set():
            self.beat()
            self._stop.wait(self.seconds)

    def _on_signal(self, number: int, frame: types.FrameType | None) -> None:
        self._stop.set()

    def beat(self) -> None:
        """One look at the clock."""
        close_old_connections()
        for duty in self.duties:
            if self._stop.is_set():
                return
            try:
                duty(self.clock())
            except (QueueUnavailable, RedisError, CouldNotLook) as error:
                log.warning("the schedule waits", error=str(error))
            except (DatabaseError, InterfaceError) as error:
                log.warning("the schedule waits for the database", error=str(error))
                connections.close_all()
            except Exception:
                log.exception("a duty of the schedule failed")


class Reconciling:
    """A pass of reconcile every so many minutes; of several machines one does it."""

    def __init__(self, minutes: int) -> None:
        self.every = timedelta(minutes=minutes)
        self.last: datetime | None = None

    def __call__(self, now: datetime) -> None:
        if self.last is None or now - self.last >= self.every:
            self.last = now
            try:
                reconcile()
            except CouldNotLook:
                alarms.ping(failed=True)
                raise
            catch_up()
            alarms.ping()


def duties(reconcile_minutes: int) -> tuple[Duty, ...]:
    every: tuple[Duty, ...] = (due.start_due, alarms.look)
    return (Reconciling(reconcile_minutes), *every) if reconcile_minutes else every


def run_rhythm(reconcile_minutes: int) -> None:
    Rhythm(duties(reconcile_minutes)).run()
