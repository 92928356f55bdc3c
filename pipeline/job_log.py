"""What a job writes to the log while it works, kept for its pages: bounded, redacted, for LOG_DAYS days."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from pipeline.errors import storable
from pipeline.models import LogLine
from pipeline.redaction import redact

log = structlog.get_logger()

# Of one job, and of one value; a job that says more is cut there.
MOST_LINES, LONGEST = 200, 2_000
# Said of every line anyway.
KNOWN = {"event", "level", "timestamp", "stage", "run", "job", "row"}


@dataclass(frozen=True)
class Line:
    at: datetime
    level: str
    event: str
    fields: dict[str, Any]


@dataclass
class Kept:
    lines: list[Line] = field(default_factory=list)
    left_out: int = 0


_kept: ContextVar[Kept | None] = ContextVar("kept", default=None)


def keep(logger: Any, method: str, event: Any) -> Any:
    """A processor of structlog: lines pass through it, and those of a job stay."""
    kept = _kept.get()
    if kept is not None:
        add(kept, str(event.get("level", method)), str(event.get("event", "")), event)
    return event


def add(kept: Kept, level: str, event: str, values: dict[str, Any]) -> None:
    if len(kept.lines) >= MOST_LINES:
        kept.left_out += 1
        return
    fields = {name: _plain(value) for name, value in values.items() if name not in KNOWN}
    kept.lines.append(Line(timezone.now(), level[:10], _plain(event)[:200], fields))


def _plain(value: Any) -> Any:
    if isinstance(value, bool | int | float) or value is None:
        return value
    return storable(redact(str(value)))[:LONGEST]


@contextmanager
def of_job(run_id: int, row_id: int | None, stage: str, job_id: str) -> Iterator[None]:
    """Keep what is written in here. A log that cannot be kept is no reason for a job to fail."""
    if not settings.LOG_DAYS:
        yield
        return
    kept = Kept()
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)
        _write(kept, run_id, row_id, stage, job_id)


def _write(kept: Kept, run_id: int, row_id: int | None, stage: str, job_id: str) -> None:
    if kept.left_out:
        kept.lines.append(Line(timezone.now(), "warning", f"{kept.left_out} more lines are left out", {}))
    try:
        LogLine.objects.bulk_create(
            LogLine(
                at=line.at,
                run_id=run_id,
                row_id=row_id,
                stage=stage,
                job_id=job_id,
                level=line.level,
                event=line.event,
                fields=line.fields,
            )
            for line in kept.lines
        )
    except DatabaseError as error:
        log.warning("the log of a job could not be kept", job=job_id, error=str(error))


def forget_old(limit: int = 50_000) -> int:
    """Lines that are older than LOG_DAYS days, the oldest first; how many."""
    before = timezone.now() - timedelta(days=settings.LOG_DAYS)
    old = LogLine.objects.filter(at__lt=before).order_by("at").values_list("pk", flat=True)[:limit]
    return LogLine.objects.filter(pk__in=list(old)).delete()[0] if settings.LOG_DAYS else 0
