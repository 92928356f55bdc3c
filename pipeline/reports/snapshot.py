"""Figures that cost a look at the whole ledger: taken now and then by a scheduler, kept in Redis."""

import json
import time
from dataclasses import asdict, dataclass, field

import django_rq
import structlog
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Max, Min, Sum
from redis.exceptions import RedisError

from pipeline.models import DocumentState, Publication, Status
from pipeline.reports.documents import ledger_counts
from sites.models import Site
from sites.stages import WORK_STAGES

log = structlog.get_logger()
KEY, TURN = "clerk:snapshot", "clerk:snapshot:turn"
# A snapshot a minute; where the database needs long for one, so seldom that it is a twentieth of its time.
EVERY_SECONDS, LEAST_SHARE = 60, 20
PARTS = ("total", "completed", "failed")


@dataclass(frozen=True)
class Snapshot:
    at: float
    seconds: float
    # [stage, count, jobs]: the counters of every site's current run, added up.
    counters: list[tuple[str, str, int]] = field(default_factory=list)
    # [stage, status, rows], and since when the oldest pending row of a stage waits.
    ledger: list[tuple[str, str, int]] = field(default_factory=list)
    pending_since: dict[str, float] = field(default_factory=dict)
    published_at: float | None = None
    published_pages: int = 0

    def age(self) -> float:
        return max(time.time() - self.at, 0.0)


def latest() -> Snapshot | None:
    """The last one that anybody took; None where none was, or Redis lost it."""
    found = django_rq.get_connection("high").get(KEY)
    return Snapshot(**json.loads(found)) if found else None


def refresh_if_due() -> bool:
    """Take one if it is time and nobody else does. Called by every scheduler in its round: it never fails."""
    try:
        redis = django_rq.get_connection("high")
        if not redis.set(TURN, "1", nx=True, ex=EVERY_SECONDS):
            return False
        taken = take()
        wait = max(EVERY_SECONDS, round(taken.seconds * LEAST_SHARE))
        with redis.pipeline(transaction=True) as pipe:
            pipe.set(KEY, json.dumps(asdict(taken)))
            pipe.expire(TURN, wait)
            pipe.execute()
        return True
    except RedisError as error:
        log.warning("the snapshot could not be kept", error=str(error))
    except (DatabaseError, InterfaceError) as error:
        log.warning("the snapshot could not be taken", error=str(error))
        connection.close()
    return False


def take() -> Snapshot:
    began = time.monotonic()
    counts = ledger_counts()
    pages, published = _published()
    return Snapshot(
        at=time.time(),
        counters=_counters(),
        ledger=sorted((stage, status, rows) for (stage, status), rows in counts.items()),
        pending_since=_pending_since(),
        published_at=published,
        published_pages=pages,
        seconds=round(time.monotonic() - began, 3),
    )


def _counters() -> list[tuple[str, str, int]]:
    names = [(stage.value, part) for stage in WORK_STAGES for part in PARTS]
    sums = {f"{stage}_{part}": Sum(f"{stage}_{part}") for stage, part in names}
    found = Site.objects.aggregate(**{f"sum_{name}": each for name, each in sums.items()})
    return [(stage, part, found[f"sum_{stage}_{part}"] or 0) for stage, part in names]


def _pending_since() -> dict[str, float]:
    """The first entry of the index on stage, status and creation, for each stage."""
    found = {}
    for stage in WORK_STAGES:
        rows = DocumentState.objects.filter(pipeline=stage, status=Status.PENDING)
        oldest = rows.aggregate(oldest=Min("created_at"))["oldest"]
        if oldest:
            found[stage.value] = oldest.timestamp()
    return found


def _published() -> tuple[int, float | None]:
    rows = Publication.objects.values_list("pages", flat=True)
    last = Publication.objects.aggregate(last=Max("at"))["last"]
    return sum(rows), last.timestamp() if last else None
