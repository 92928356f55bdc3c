"""The counters of a site as values and conditions, for the statements that change them."""

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.models import Count, F, Q
from django.utils import timezone

from pipeline.models import DocumentState, Status
from sites.models import WAVES, WORK_STAGES, Progress, Stage, current_stage_of


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
