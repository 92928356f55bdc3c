"""What failed, the latest first and grouped by code, without a scan of the ledger."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from pipeline.errors import SKIPPED
from pipeline.models import LEFT_OUT, DocumentState, Status
from pipeline.models import ErrorGroup as Group
from pipeline.reports import wording
from pipeline.reports.filters import ALL, Filters
from sites.stages import WORK_STAGES


@dataclass(frozen=True)
class FailedStep:
    row_id: int
    site_id: str
    document_id: int | None
    document: str
    stage: str
    status: str
    code: str
    message: str
    attempts: int
    max_attempts: int
    at: datetime | None
    retry_at: datetime | None

    @property
    def is_final(self) -> bool:
        return self.status == Status.FAILED_TERMINAL

    @property
    def attempts_words(self) -> str:
        return wording.attempts(self.status, self.attempts, self.max_attempts, self.retry_at)


def recent_failures(filters: Filters = ALL, limit: int = 10) -> list[FailedStep]:
    """The latest, from the index of each stage and status: no scan of the ledger."""
    rows = filters.of_ledger(DocumentState.objects.select_related("document")).exclude(LEFT_OUT)
    found = [
        row
        for stage in filters.stages or WORK_STAGES
        for status in Status.FAILED
        for row in rows.filter(pipeline=stage, status=status, last_attempt_at__isnull=False).order_by(
            "-last_attempt_at"
        )[:limit]
    ]
    return [_failure(row) for row in sorted(found, key=_attempted, reverse=True)[:limit]]


def _attempted(row: DocumentState) -> datetime:
    return row.last_attempt_at or row.updated_at


def _failure(row: DocumentState) -> FailedStep:
    return FailedStep(
        row_id=row.pk,
        site_id=row.site_id,
        document_id=row.document_id,
        document=title_of(row),
        stage=row.pipeline,
        status=row.status,
        code=row.error_code or "",
        message=row.error_message or "",
        attempts=row.attempt_count,
        max_attempts=row.max_attempts,
        at=row.last_attempt_at,
        retry_at=row.retry_at,
    )


def title_of(row: DocumentState) -> str:
    """The document of a ledger row, or its unit, in words."""
    if row.document is None:
        return "the whole site" if row.unit == "site" else row.unit.replace(":", " ")
    day = row.document.meeting_date or "undated"
    return f"{row.document.body or row.document.meeting} {day} {row.document.kind}"


def status_of(row: DocumentState) -> str:
    """Its status as people read it: `skipped` is one of its own."""
    return SKIPPED if row.is_left_out else row.status


@dataclass(frozen=True)
class ErrorGroup:
    code: str
    stage: str
    count: int


# How many of a group are failed now.
FAILED_NOW = Coalesce(
    Subquery(
        DocumentState.objects.failures()
        .filter(error_group=OuterRef("pk"))
        .order_by()
        .values("error_group")
        .annotate(count=Count("*"))
        .values("count")
    ),
    0,
)


def open_groups(limit: int = 8) -> list[Group]:
    """Errors of one kind that are failed now and that nobody ignores, the most frequent first."""
    found = Group.objects.filter(ignored_at=None).annotate(failed_now=FAILED_NOW).filter(failed_now__gt=0)
    return list(found.order_by("-failed_now", "-last_seen")[:limit])


def errors_by_code(filters: Filters = ALL, limit: int | None = 12) -> list[ErrorGroup]:
    groups = (
        filters.of_ledger(DocumentState.objects.failed())
        .exclude(LEFT_OUT)
        .order_by()
        .values_list("error_code", "pipeline")
        .annotate(count=Count("*"))
        .order_by(F("count").desc(), "error_code", "pipeline")
    )
    return [ErrorGroup(code or "none", stage, count) for code, stage, count in groups[:limit]]
