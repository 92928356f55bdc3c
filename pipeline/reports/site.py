"""Everything about one site, in a fixed number of queries: timeline, runs, failures, what people did."""

from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Count, Prefetch
from django.utils import timezone

from pipeline.models import DocumentState, Intervention, Run, RunStage
from pipeline.order import stages_with_documents
from pipeline.queue import inspection
from pipeline.reports import failures
from pipeline.reports.failures import ErrorGroup, FailedStep
from pipeline.reports.filters import Filters
from pipeline.reports.standstill import Standstill, explain
from sites.models import Document, Site, Source
from sites.stages import WORK_STAGES, Progress, Stage

LATEST_DOCUMENTS, LATEST_RUNS, LATEST_FAILURES, LATEST_ACTS = 15, 8, 10, 8


@dataclass(frozen=True)
class TimelineStage:
    """One stage of the current run: counts, and when it was."""

    stage: str
    label: str
    progress: Progress
    opened_at: datetime | None
    finished_at: datetime | None
    is_open: bool
    to_come: bool
    skipped: int = 0

    @property
    def seconds(self) -> float | None:
        if self.opened_at is None:
            return None
        return ((self.finished_at or timezone.now()) - self.opened_at).total_seconds()

    @property
    def tone(self) -> str:
        if self.opened_at is None:
            return "quiet"
        return "busy" if self.is_open else "warn" if self.progress.failed else "good"

    @property
    def share(self) -> float:
        return self.progress.done / self.progress.total if self.progress.total else 0.0

    @property
    def failed_share(self) -> float:
        return self.progress.failed / self.progress.total if self.progress.total else 0.0


@dataclass(frozen=True)
class DocumentLine:
    """A document and its status in each stage that has documents."""

    document: Document
    stages: list[DocumentState | None]


@dataclass(frozen=True)
class SiteReport:
    site: Site
    run: Run | None
    timeline: list[TimelineStage]
    standstill: Standstill | None
    runs: list[Run]
    sources: list[Source]
    documents: list[DocumentLine]
    document_count: int
    failures: list[FailedStep]
    errors: list[ErrorGroup]
    interventions: list[Intervention]

    @property
    def is_running(self) -> bool:
        return self.run is not None and self.run.is_running

    @property
    def has_failed(self) -> bool:
        return self.run is not None and self.run.status == Run.Status.FAILED


def report_on(site: Site) -> SiteReport:
    runs = list(site.runs.all()[:LATEST_RUNS])
    run = next((run for run in runs if run.pk == site.run_id), None)
    only = Filters(sites=(site.pk,))
    still = site.current_stage not in (None, Stage.COMPLETED)
    return SiteReport(
        site=site,
        run=run,
        timeline=_timeline(site, run),
        standstill=explain([site], inspection.read_workforce())[0] if still else None,
        runs=runs,
        sources=list(site.sources.select_related("condition")),
        documents=_documents(site),
        document_count=site.documents.filter(superseded_at=None).count(),
        failures=failures.recent_failures(only, LATEST_FAILURES),
        errors=failures.errors_by_code(only),
        interventions=list(site.interventions.select_related("document")[:LATEST_ACTS]),
    )


def _timeline(site: Site, run: Run | None) -> list[TimelineStage]:
    entered: dict[str, RunStage] = {stage.stage: stage for stage in run.stages.all()} if run else {}
    running = run is not None and run.is_running
    skipped = _skipped(run) if run else {}
    return [_stage(site, stage, entered.get(stage), running, skipped.get(stage, 0)) for stage in WORK_STAGES]


def _skipped(run: Run) -> dict[str, int]:
    """The counters take a skip during a run for a failure; people do not."""
    rows = DocumentState.objects.left_out().filter(site=run.site_id, run=run).order_by()
    return dict(rows.values_list("pipeline").annotate(count=Count("*")))


def _stage(site: Site, stage: Stage, entered: RunStage | None, running: bool, skipped: int) -> TimelineStage:
    is_open = entered is not None and entered.finished_at is None and running
    progress = site.progress(stage)
    if entered is not None and entered.finished_at is not None:
        progress = Progress(entered.total, entered.completed, entered.failed)
    skipped = min(skipped, progress.failed)
    progress = replace(progress, completed=progress.completed + skipped, failed=progress.failed - skipped)
    return TimelineStage(
        stage.value,
        stage.label,
        progress,
        entered.opened_at if entered else None,
        entered.finished_at if entered else None,
        is_open,
        to_come=running and entered is None and _comes_after(stage, site.current_stage),
        skipped=skipped,
    )


def _comes_after(stage: Stage, current: str | None) -> bool:
    return current in WORK_STAGES and WORK_STAGES.index(stage) > WORK_STAGES.index(Stage(current))


def _documents(site: Site) -> list[DocumentLine]:
    ledger = Prefetch("ledger", DocumentState.objects.only("document_id", "pipeline", "status", "error_code"))
    latest = (
        site.documents.filter(superseded_at=None).order_by("-meeting_date", "-pk").prefetch_related(ledger)
    )
    return [
        DocumentLine(document, [_row(document, stage) for stage in stages_with_documents()])
        for document in latest[:LATEST_DOCUMENTS]
    ]


def _row(document: Document, stage: Stage) -> DocumentState | None:
    return next((row for row in document.ledger.all() if row.pipeline == stage), None)
