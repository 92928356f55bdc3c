"""What the old system did to a site, written as the history of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from pipeline.errors import Fenced
from pipeline.models import DocumentState, Run, RunStage, Status
from pipeline.state.counters import all_zeroed, last_error, ledger_counts
from sites.models import Site
from sites.stages import WORK_STAGES, Progress, Stage

TAKEN_OVER = "taken over from the old system"
# Where a site stands, as an old database may have it too: kept as it was, for the way back.
STATE = (
    "current_stage",
    "started_at",
    "updated_at",
    *(f"{stage}_{part}" for stage in WORK_STAGES for part in ("total", "completed", "failed")),
    *("coordinator_enqueued", "last_error_stage", "last_error_message", "last_error_at"),
)


@dataclass(frozen=True)
class History:
    """Where the old system left a site: when it entered its stage, and when it last moved."""

    site_id: str
    started_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None


def begin_run(history: History, by: str) -> Run:
    """A run like any other, that begins in OCR; a second one at the same time is refused."""
    run = Run.objects.create(site_id=history.site_id, started_by=by, started_at=history.started_at)
    # The old system's months are not ours: in the history of stages, OCR begins with the take-over.
    RunStage.objects.create(run=run, stage=Stage.OCR, opened_at=timezone.now())
    return run


def ended_run(history: History, by: str) -> Run:
    """The run that brought a site to its end in the old system."""
    return Run.objects.create(
        site_id=history.site_id,
        status=Run.Status.COMPLETED,
        started_by=by,
        started_at=history.started_at,
        finished_at=history.completed_at or history.updated_at,
        message=TAKEN_OVER,
    )


def record(history: History, rows: Sequence[DocumentState]) -> None:
    """Ledger rows with the old system's times. A row that waits has not been tried yet."""
    at = history.updated_at
    for row in rows:
        row.site_id = history.site_id
        row.created_at = row.updated_at = at
        row.last_attempt_at = None if row.status == Status.PENDING else at
        row.processed_at = at if row.status == Status.PROCESSED else None
    DocumentState.objects.bulk_create(rows, batch_size=1000)


def claim_rows(run: Run, document_ids: Sequence[int]) -> set[tuple[int, str]]:
    """Rows that are there already, of no run, become this run's where they are done; (document, stage)."""
    there = DocumentState.objects.filter(site_id=run.site_id, document_id__in=document_ids)
    there.filter(run=None, status=Status.PROCESSED).update(run=run)
    return {(pk, stage) for pk, stage in there.values_list("document_id", "pipeline") if pk is not None}


def stand_in_ocr(run: Run, history: History) -> Progress:
    """Point the site at the run, counters from its ledger, untouched since the old system's last move."""
    values, ocr = _counted(run, history)
    if ocr.failed:
        message = f"TakenOver: {ocr.failed} of {ocr.total} documents have no text"
        values |= last_error(Stage.OCR, message) | {"last_error_at": history.updated_at}
    _stand(run, history, current_stage=Stage.OCR, **values)
    return ocr


def stand_completed(run: Run, history: History) -> Progress:
    """The same for a site that the old system had brought to its end."""
    values, ocr = _counted(run, history)
    completed = {"current_stage": Stage.COMPLETED, "last_completed_at": history.completed_at}
    _stand(run, history, **completed, **values)
    return ocr


def _counted(run: Run, history: History) -> tuple[dict[str, Any], Progress]:
    counted = ledger_counts(DocumentState.objects.filter(site_id=history.site_id, run=run))
    fetch, ocr = (counted.get(stage, Progress(0, 0, 0)) for stage in (Stage.FETCH, Stage.OCR))
    values: dict[str, Any] = all_zeroed()
    values |= {"fetch_total": fetch.total, "fetch_completed": fetch.completed}
    values |= {"ocr_total": ocr.total, "ocr_completed": ocr.completed, "ocr_failed": ocr.failed}
    values |= {"last_error_stage": None, "last_error_message": None, "last_error_at": None}
    return values, ocr


def _stand(run: Run, history: History, **values: Any) -> None:
    stood = Site.objects.filter(pk=history.site_id, run_id=None).update(
        run_id=run.pk,
        coordinator_enqueued=False,
        started_at=history.started_at,
        updated_at=history.updated_at,
        **values,
    )
    if not stood:
        raise Fenced(f"{history.site_id}: a run began at the same moment")


def state_of(site_id: str) -> dict[str, Any]:
    """Where the site stands before it is taken over, as JSON has it."""
    values = Site.objects.values(*STATE).get(pk=site_id)
    return {name: str(value) if isinstance(value, datetime) else value for name, value in values.items()}
