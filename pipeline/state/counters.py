"""The counters of a site, as values and conditions for updates, and compared with the ledger."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Count, F, Min, Q, QuerySet, Sum
from django.utils import timezone

from pipeline.models import DocumentState, Status
from sites.models import Site
from sites.stages import WAVES, WORK_STAGES, Progress, Stage, current_stage_of


def zeroed(stage: str, total: int = 0) -> dict[str, int]:
    return {f"{stage}_total": total, f"{stage}_completed": 0, f"{stage}_failed": 0}


def all_zeroed() -> dict[str, int]:
    values: dict[str, int] = {}
    for stage in WORK_STAGES:
        values |= zeroed(stage)
    return values


def one_more(stage: str, what: str) -> dict[str, Any]:
    return {f"{stage}_{what}": F(f"{stage}_{what}") + 1, "updated_at": timezone.now()}


def last_error(stage: str, message: str) -> dict[str, Any]:
    return {
        "last_error_stage": stage,
        "last_error_message": message[:500],
        "last_error_at": timezone.now(),
    }


def all_counted(wave: Sequence[Stage]) -> Q:
    counted = Q()
    for stage in wave:
        counted &= Q(**{f"{stage}_total__lte": F(f"{stage}_completed") + F(f"{stage}_failed")})
    return counted


# One condition for any stage, so that the claim is one statement that cannot mix two moments.
CURRENT_WAVE_COUNTED = Q()
for _wave in WAVES:
    CURRENT_WAVE_COUNTED |= Q(current_stage=current_stage_of(_wave)) & all_counted(_wave)


def ledger_counts(rows: models.QuerySet[DocumentState]) -> dict[str, Progress]:
    """What the counters of each stage must be, from the rows of one site and run."""
    counts = (
        rows.order_by()
        .values("pipeline")
        .annotate(
            total=Count("pk"),
            completed=Count("pk", filter=Q(status=Status.PROCESSED)),
            failed=Count("pk", filter=Q(status=Status.FAILED_TERMINAL)),
        )
    )
    return {row["pipeline"]: Progress(row["total"], row["completed"], row["failed"]) for row in counts}


# ---- The counters beside the ledger, for every site in one query ----------------------------------------

NOTHING = Progress(0, 0, 0)
PARTS = ("total", "completed", "failed")


@dataclass(frozen=True)
class Difference:
    site_id: str
    stage: str
    counters: Progress
    ledger: Progress

    def __str__(self) -> str:
        return f"{self.site_id} {self.stage}: counters {_words(self.counters)}, ledger {_words(self.ledger)}"


def _words(progress: Progress) -> str:
    return f"{progress.completed}+{progress.failed} of {progress.total}"


def differences(sites: QuerySet[Site]) -> Iterator[Difference]:
    """Where the counters of these sites are not the counts of the ledger rows of their current run."""
    columns = [f"{stage}_{part}" for stage in WORK_STAGES for part in PARTS]
    # The counters first: a site that moves on meanwhile is then seen as different, never wrongly as equal.
    # A site that is in no run has no ledger to be compared with: what it shows is another system's.
    counters = list(sites.filter(run_id__isnull=False).order_by().values_list("pk", *columns))
    ledger = ledger_by_site()
    for site_id, *numbers in counters:
        for place, stage in enumerate(WORK_STAGES):
            counted = Progress(*numbers[3 * place : 3 * place + 3])
            truth = ledger.get((site_id, stage), NOTHING)
            if counted != truth:
                yield Difference(site_id, stage, counted, truth)


def ledger_by_site() -> dict[tuple[str, str], Progress]:
    """(site, stage) -> what the counters must be, over the rows of each site's current run."""
    counts = (
        DocumentState.objects.filter(run_id=F("site__run_id"))
        .order_by()
        .values("site_id", "pipeline")
        .annotate(
            total=Count("pk"),
            completed=Count("pk", filter=Q(status=Status.PROCESSED)),
            failed=Count("pk", filter=Q(status=Status.FAILED_TERMINAL)),
        )
    )
    return {
        (row["site_id"], row["pipeline"]): Progress(row["total"], row["completed"], row["failed"])
        for row in counts
    }


@dataclass(frozen=True)
class Standing:
    """How far a run is. Attempts count as progress: they are bounded, so no run can live on them."""

    done: int = 0
    total: int = 0
    attempts: int = 0
    next_retry: datetime | None = None

    def __str__(self) -> str:
        return f"{self.done} of {self.total} jobs done, {self.attempts} attempts"


def standings(site_ids: Collection[str], now: datetime) -> dict[str, Standing]:
    """By site, of its current run."""
    ended = Q(status__in=Status.ENDED)
    counts = (
        DocumentState.objects.filter(site_id__in=site_ids, run_id=F("site__run_id"))
        .order_by()
        .values_list("site_id")
        .annotate(
            done=Count("pk", filter=ended),
            total=Count("pk"),
            attempts=Sum("attempt_count"),
            next_retry=Min("retry_at", filter=Q(retry_at__gt=now)),
        )
    )
    return {site_id: Standing(*numbers) for site_id, *numbers in counts}


def sites_of(found: Iterable[Difference]) -> set[str]:
    return {difference.site_id for difference in found}
