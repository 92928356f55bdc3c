"""What the dashboard shows beyond the overview: the funnel, the last day by the hour, the latest runs."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.cache import cache
from django.db.models import Count, Min, Q
from django.db.models.functions import TruncHour
from django.utils import timezone

from pipeline.models import DocumentState, ErrorGroup, Run, Status
from pipeline.reports import documents, failures, overview
from pipeline.reports.documents import Counts
from pipeline.reports.overview import Overview
from sites.models import Site
from sites.stages import Stage

HOURS = 24
LATEST_RUNS = 8
# Every open dashboard asks every ten seconds. From this many rows on they share one count of the ledger.
MANY_ROWS, KEPT_SECONDS = 200_000, 15
# What `current_stage` says, and what that means to people.
FUNNEL = {
    None: "Never run",
    Stage.FETCH: "Fetch",
    Stage.OCR: "OCR",
    Stage.EXTRACTION: "Compile and extract",
    Stage.DEPLOY: "Deploy",
    Stage.COMPLETED: "Completed",
}


@dataclass(frozen=True)
class FunnelStage:
    stage: str
    label: str
    sites: int
    share: float
    oldest_at: datetime | None


@dataclass(frozen=True)
class Hour:
    at: datetime
    processed: int
    failed: int


@dataclass(frozen=True)
class Board:
    overview: Overview
    funnel: list[FunnelStage]
    hours: list[Hour]
    runs: list[Run]
    groups: list[ErrorGroup]
    # Whether any run has ever completed.
    has_records: bool


def read_board() -> Board:
    return Board(
        overview=overview.read_overview(limit=8, counts=ledger_counts()),
        funnel=funnel(),
        hours=hours(timezone.now()),
        runs=list(Run.objects.all()[:LATEST_RUNS]),
        groups=failures.open_groups(),
        has_records=Site.objects.filter(last_completed_at__isnull=False).exists(),
    )


def ledger_counts() -> Counts:
    kept: Counts | None = cache.get("ledger_counts")
    if kept is not None:
        return kept
    counts = documents.ledger_counts()
    if sum(counts.values()) >= MANY_ROWS:
        cache.set("ledger_counts", counts, KEPT_SECONDS)
    return counts


def funnel() -> list[FunnelStage]:
    """Sites by where they stand, and since when the oldest does."""
    counted = Site.objects.order_by().values_list("current_stage").annotate(Count("pk"), Min("started_at"))
    found = {stage: (count, oldest) for stage, count, oldest in counted}
    most = max((count for count, _ in found.values()), default=0)
    return [
        FunnelStage(stage or "", label, count, count / most if most else 0.0, oldest)
        for stage, label in FUNNEL.items()
        for count, oldest in [found.get(stage, (0, None))]
    ]


def hours(now: datetime) -> list[Hour]:
    """Jobs that ended in each of the last 24 hours, the current one included."""
    last = timezone.localtime(now).replace(minute=0, second=0, microsecond=0)
    first = last - timedelta(hours=HOURS - 1)
    ended = DocumentState.objects.filter(updated_at__gte=first, status__in=Status.ENDED)
    counted = (
        ended.order_by()
        .values_list(TruncHour("updated_at"))
        .annotate(
            processed=Count("pk", filter=Q(status=Status.PROCESSED)),
            failed=Count("pk", filter=Q(status=Status.FAILED_TERMINAL)),
        )
    )
    found = {hour: (processed, failed) for hour, processed, failed in counted}
    wanted = [first + timedelta(hours=number) for number in range(HOURS)]
    return [Hour(hour, *found.get(hour, (0, 0))) for hour in wanted]
