"""Find sites that stopped moving and move them on, from the truth of ledger and queue; run from cron."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.utils import timezone

from pipeline.models import ReconcileRun
from pipeline.queue import clock, sending, tally
from pipeline.queue.clock import WrongClock
from pipeline.queue.sending import QueueUnavailable
from pipeline.reconcile import find, lock
from pipeline.reconcile.find import Suspect
from pipeline.reconcile.repair import ERROR, GIVEN_UP, LOCKED, RECOVERED, Repair, plan, repair_site
from pipeline.redaction import redact
from pipeline.state.repair import end_abandoned_attempts
from sites.models import STUCK_AFTER

log = structlog.get_logger()


class CouldNotLook(Exception):
    """Redis or the database does not answer; no site was touched since."""


@dataclass(frozen=True)
class Result:
    """What a pass found and did. `skipped` says why it did nothing at all."""

    repairs: list[Repair] = field(default_factory=list)
    seconds: float = 0.0
    dry_run: bool = False
    skipped: str = ""
    # Sites that this pass had no time for.
    left: int = 0

    def count(self, *outcomes: str) -> int:
        return sum(repair.outcome in outcomes for repair in self.repairs)

    @property
    def found(self) -> int:
        return len(self.repairs)

    @property
    def recovered(self) -> int:
        return self.count(RECOVERED)

    @property
    def given_up(self) -> int:
        return self.count(GIVEN_UP, ERROR)

    def as_json(self) -> dict[str, Any]:
        return {
            "ok": not self.given_up,
            "found": self.found,
            "recovered": self.recovered,
            "given_up": self.given_up,
            "seconds": self.seconds,
            "dry_run": self.dry_run,
            "skipped": self.skipped,
            "left": self.left,
            "repairs": [repair.as_json() for repair in self.repairs],
        }


def reconcile(*, threshold: timedelta = STUCK_AFTER, dry_run: bool = False) -> Result:
    """One pass; a second one at the same time sees the first and leaves. A dry run changes nothing at all."""
    began = time.monotonic()
    with lock.only_one() as alone:
        if not alone:
            return Result(dry_run=dry_run, skipped="another reconcile is running")
        if dry_run:
            now = timezone.now()
            found, left = [plan(suspect, now, threshold) for suspect in _find(threshold)], 0
        else:
            with lock.short_waits():
                found, left = _recorded_pass(threshold, began + settings.RECONCILE_LIMIT_SECONDS)
    return Result(found, round(time.monotonic() - began, 3), dry_run, left=left)


def _recorded_pass(threshold: timedelta, end: float) -> tuple[list[Repair], int]:
    record = ReconcileRun.objects.create(started_at=timezone.now())
    done: list[Repair] = []
    error = "the pass was cut off"
    try:
        with _looking():
            clock.check()
            sending.check()
            end_abandoned_attempts(timezone.now() - find.grace())
        left = _repair_all(_find(threshold), threshold, end, done)
        error = f"the pass reached its limit; {left} sites are left for the next" if left else ""
    except CouldNotLook as problem:
        error = str(problem)
        raise
    finally:
        _close(record, done, error)
    return done, left


def _repair_all(suspects: list[Suspect], threshold: timedelta, end: float, done: list[Repair]) -> int:
    """Into `done`, so that what was repaired is known however this ends; how many there was no time for."""
    for number, suspect in enumerate(suspects):
        if time.monotonic() >= end:
            return len(suspects) - number
        repair = _repair(suspect, threshold)
        if repair:
            done.append(repair)
            tally.add("clerk_reconcile_sites", outcome=repair.outcome)
    return 0


def _find(threshold: timedelta) -> list[Suspect]:
    with _looking():
        return find.suspects(timezone.now(), threshold)


@contextmanager
def _looking() -> Iterator[None]:
    try:
        yield
    except (QueueUnavailable, WrongClock) as error:
        raise CouldNotLook(str(error)) from error
    except (OperationalError, InterfaceError) as error:
        raise CouldNotLook(redact(f"the database does not answer ({error})")) from error


def _repair(suspect: Suspect, threshold: timedelta) -> Repair | None:
    """One site's trouble is its own: it is written down, and the next site has its turn."""
    site = suspect.site
    try:
        return repair_site(suspect, timezone.now(), threshold)
    except (OperationalError, InterfaceError) as error:
        if not connection.is_usable():
            raise CouldNotLook(redact(f"the database went away ({error})")) from error
        return _failed(suspect, error, LOCKED if lock.timed_out(error) else ERROR)
    except Exception as error:
        log.exception("repair failed", site=site.pk, stage=site.current_stage)
        return _failed(suspect, error)


def _failed(suspect: Suspect, error: Exception, outcome: str = ERROR) -> Repair:
    message = redact(f"{type(error).__name__}: {error}")[:500]
    if outcome == LOCKED:
        message = "somebody holds a lock on it; the next pass tries again"
    return Repair(suspect.site.pk, suspect.site.current_stage or "", message, outcome)


def _close(record: ReconcileRun, done: list[Repair], error: str) -> None:
    result = Result(done)
    try:
        ReconcileRun.objects.filter(pk=record.pk).update(
            finished_at=timezone.now(),
            found=result.found,
            recovered=result.recovered,
            given_up=result.given_up,
            error=redact(error),
            repairs=[repair.as_json() for repair in done],
        )
    except DatabaseError:
        log.warning("the pass could not be recorded", error=error)
