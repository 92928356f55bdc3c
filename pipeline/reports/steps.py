"""The steps in numbers: what waits and for how long, what is done, what failed, how long it takes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import quantiles

from django.db.models import Min, QuerySet, Subquery
from django.utils import timezone

from pipeline.models import WITHOUT_TEXT, DocumentState, RunStage, Status
from pipeline.reports.documents import Counts, left_out_counts
from pipeline.reports.filters import ALL, Filters
from sites.stages import WORK_STAGES, Stage

# Timings are of the latest work, not of all that ever was: that is what tells how it goes now.
SAMPLE = 500


@dataclass(frozen=True)
class Timing:
    median: float | None
    p95: float | None
    sample: int


@dataclass(frozen=True)
class Ages:
    """For how many seconds rows have waited: half of them no longer than this, 95 of 100, and all of them."""

    median: float | None = None
    p95: float | None = None
    oldest: float | None = None


@dataclass(frozen=True)
class StageFigures:
    """One stage of the ledger."""

    stage: str
    pending: int
    in_progress: int
    processed: int
    failed_retryable: int
    failed_terminal: int
    skipped: int
    pending_age: Ages
    retry_age: Ages
    next_retry_at: datetime | None
    without_text: int | None
    job_seconds: Timing
    stage_seconds: Timing

    @property
    def total(self) -> int:
        """Without what is left out: nobody waits for that."""
        return self.pending + self.in_progress + self.processed + self.failed_retryable + self.failed_terminal

    @property
    def percent(self) -> float:
        return 100 * self.processed / self.total if self.total else 0.0

    @property
    def waiting(self) -> int:
        return self.pending + self.in_progress + self.failed_retryable

    @property
    def share(self) -> float:
        """What has ended, of 1."""
        return (self.processed + self.failed_terminal) / self.total if self.total else 0.0

    @property
    def failed_share(self) -> float:
        return self.failed_terminal / self.total if self.total else 0.0

    @property
    def failure_percent(self) -> float | None:
        ended = self.processed + self.failed_terminal
        return 100 * self.failed_terminal / ended if ended else None


def steps(counts: Counts, filters: Filters = ALL) -> list[StageFigures]:
    rows = filters.of_ledger(DocumentState.objects.order_by())
    # Naming every stage, too, lets the index by stage and status answer.
    retries = rows.filter(pipeline__in=WORK_STAGES, status=Status.FAILED_RETRYABLE).values_list("pipeline")
    next_retry = dict(retries.annotate(Min("retry_at")))
    left_out = left_out_counts(filters)
    without_text = {Stage.OCR: rows.filter(WITHOUT_TEXT).count()}
    return [
        StageFigures(
            stage=stage.value,
            **_by_status(counts, stage, left_out.get(stage, 0)),
            pending_age=ages(rows, stage, Status.PENDING, counts),
            retry_age=ages(rows, stage, Status.FAILED_RETRYABLE, counts),
            next_retry_at=next_retry.get(stage),
            without_text=without_text.get(stage),
            job_seconds=job_seconds(rows, stage),
            stage_seconds=stage_seconds(stage, filters.sites),
        )
        for stage in WORK_STAGES
        if not filters.stages or stage in filters.stages
    ]


def _by_status(counts: Counts, stage: Stage, skipped: int) -> dict[str, int]:
    found = {status.value: counts.get((stage, status), 0) for status in Status}
    failed = max(found[Status.FAILED_TERMINAL] - skipped, 0)
    return {**found, Status.FAILED_TERMINAL.value: failed, "skipped": skipped}


# ---- How long it has waited ---------------------------------------------------------------------------

# Since when a row waits, in the order of the index on stage, status and this.
SINCE = {Status.PENDING: "created_at", Status.FAILED_RETRYABLE: "last_attempt_at"}


def ages(rows: QuerySet[DocumentState], stage: Stage, status: Status, counts: Counts) -> Ages:
    """Read off the index at three places, in one query: nothing is sorted, and no more than that is sent."""
    count, since = counts.get((stage, status), 0), SINCE[status]
    if not count:
        return Ages()
    moments = rows.filter(pipeline=stage, status=status).order_by(since).values(since)

    def at(place: int) -> Subquery:
        return Subquery(moments[place : place + 1])

    # The longest wait is the earliest moment, so the 95th percentile is near the beginning.
    found = moments.annotate(p95=at(count // 20), median=at(count // 2)).values_list(since, "p95", "median")
    oldest, p95, median = found.first() or (None, None, None)
    return Ages(_age(median), _age(p95), _age(oldest))


def _age(moment: datetime | None) -> float | None:
    return max(round((timezone.now() - moment).total_seconds(), 3), 0.0) if moment else None


# ---- How long it takes --------------------------------------------------------------------------------


def job_seconds(rows: QuerySet[DocumentState], stage: Stage) -> Timing:
    latest = rows.filter(pipeline=stage, status=Status.PROCESSED, last_attempt_at__isnull=False)
    facts = latest.order_by("-last_attempt_at").values_list("facts", flat=True)[:SAMPLE]
    return timing(fact["seconds"] for fact in facts if "seconds" in fact)


def stage_seconds(stage: Stage, sites: tuple[str, ...] = ()) -> Timing:
    """From the opening of the stage to its end, over the latest runs that had work in it."""
    ended = RunStage.objects.filter(stage=stage, finished_at__isnull=False, total__gt=0)
    if sites:
        ended = ended.filter(run__site_id__in=sites)
    times = ended.order_by("-finished_at").values_list("opened_at", "finished_at")[:SAMPLE]
    return timing((finished - opened).total_seconds() for opened, finished in times if finished)


def timing(seconds: Iterable[float]) -> Timing:
    values = sorted(seconds)
    if len(values) < 2:
        only = values[0] if values else None
        return Timing(only, only, len(values))
    cuts = quantiles(values, n=20, method="inclusive")
    return Timing(round(cuts[9], 3), round(cuts[18], 3), len(values))
