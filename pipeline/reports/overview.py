"""One look at everything: what `pipeline_status` prints and the dashboard shows."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from pipeline.queue import inspection
from pipeline.queue.inspection import Workforce
from pipeline.reports import failures, health, steps
from pipeline.reports.documents import (
    DOCUMENT_STATUSES,
    Counts,
    DatesCovered,
    Documents,
    count_documents,
    ledger_counts,
)
from pipeline.reports.failures import ErrorGroup, FailedStep
from pipeline.reports.filters import ALL, Filters
from pipeline.reports.health import LEVELS, Check, Level, Score
from pipeline.reports.schedule import ScheduleFigures, schedule_figures
from pipeline.reports.sites import SiteTotals, failed_sites, site_totals
from pipeline.reports.standstill import Standstill, explain
from pipeline.reports.steps import StageFigures
from sites.models import STUCK_AFTER, Site

SHOWN = 12


@dataclass(frozen=True)
class Overview:
    at: datetime
    filters: Filters
    sites: SiteTotals
    documents: Documents
    steps: list[StageFigures]
    failures: list[FailedStep]
    errors: list[ErrorGroup]
    standstills: list[Standstill]
    standstill_count: int
    checks: list[Check]
    force: Workforce
    schedule: ScheduleFigures
    # Of the meetings, where somebody asked for them.
    dates: DatesCovered | None = None

    @property
    def level(self) -> Level:
        return health.worst(self.checks)

    @property
    def score(self) -> Score:
        return health.score(self.sites.health, self.checks)

    @property
    def failure_count(self) -> int:
        """Of steps, not of documents: as many as the list of failures has."""
        return sum(step.failed_terminal for step in self.steps)

    @property
    def next_command(self) -> str:
        """The one thing to do next: what the worst check asks for, else what failed, else the next sites."""
        asking = [check for check in self.checks if check.command and check.level.exit_code]
        if asking:
            return max(asking, key=lambda check: check.level).command
        if self.failure_count:
            return "retry_failed --dry-run"
        return "run_pipeline --stale 10"


def read_overview(filters: Filters = ALL, limit: int = SHOWN, counts: Counts | None = None) -> Overview:
    """Everything as it is now; `counts`, where the ledger has been counted already."""
    force, totals = inspection.read_workforce(), site_totals(filters)
    counts = ledger_counts(filters) if counts is None else counts
    return Overview(
        at=timezone.now(),
        filters=filters,
        sites=totals,
        documents=count_documents(counts, filters),
        steps=steps.steps(counts, filters),
        failures=failures.recent_failures(filters, limit),
        errors=failures.errors_by_code(filters, limit),
        standstills=standstills(filters, force, limit),
        standstill_count=filters.of_sites(still_sites()).count(),
        checks=health.checks(totals, force),
        force=force,
        schedule=schedule_figures(),
    )


def standstills(filters: Filters, force: Workforce, limit: int = SHOWN) -> list[Standstill]:
    """Sites that a person may want to look at, the longest quiet first, and why each does not move."""
    sites = filters.of_sites(still_sites()).order_by("updated_at", "pk")
    return explain(list(sites[:limit]), force)


def still_sites() -> QuerySet[Site]:
    quiet = Q(updated_at__lt=timezone.now() - STUCK_AFTER) | ~Q(attention_reason="")
    failed = Q(pk__in=failed_sites().values("pk"))
    return Site.objects.unfinished().filter(quiet | failed)


def as_json(overview: Overview) -> dict[str, Any]:
    """The stable shape of `pipeline_status --json`, described in docs/commands.md."""
    documents, dates = overview.documents, overview.dates
    return {
        "at": overview.at,
        "level": LEVELS[overview.level],
        "health_percent": overview.score.percent,
        "health_because": overview.score.because,
        "filters": asdict(overview.filters),
        "sites": asdict(overview.sites),
        "documents": {
            "total": documents.total,
            "by_kind": documents.by_kind,
            "by_status": {status: getattr(documents, status) for status in DOCUMENT_STATUSES},
            "dates": {"first": dates.first, "last": dates.last, "days": dates.days} if dates else None,
        },
        "steps": [{**asdict(step), "total": step.total, "percent": step.percent} for step in overview.steps],
        "failure_count": overview.failure_count,
        "failures": [{**asdict(failure), "final": failure.is_final} for failure in overview.failures],
        "errors": [asdict(error) for error in overview.errors],
        "stuck": [asdict(standstill) for standstill in overview.standstills],
        "checks": [{**asdict(check), "level": check.level.name.lower()} for check in overview.checks],
        "schedule": asdict(overview.schedule),
        "queues": [asdict(queue) for queue in overview.force.queues],
        "workers": [{**asdict(worker), "alive": worker.alive} for worker in overview.force.workers],
        "next_command": overview.next_command,
    }
