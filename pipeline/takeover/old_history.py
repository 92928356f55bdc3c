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
from sites.stages import Progress, Stage


@dataclass(frozen=True)
class History:
    """Where the old system left a site: when it entered its stage, and when it last moved."""

    site_id: str
    started_at: datetime
    updated_at: datetime


def begin_run(history: History, by: str) -> Run:
    """A run like any other, that begins in OCR; a second one at the same time is refused."""
    run = Run.objects.create(site_id=history.site_id, started_by=by, started_at=history.started_at)
    # The old system's months are not ours: in the history of stages, OCR begins with the take-over.
    RunStage.objects.create(run=run, stage=Stage.OCR, opened_at=timezone.now())
    return run


def record(run: Run, history: History, rows: Sequence[DocumentState]) -> None:
    """Ledger rows that have ended, with the old system's times."""
    at = history.updated_at
    # What `verify --files --fix` made of the same files before: rows of no run, which say the same.
    found = DocumentState.objects.filter(site_id=history.site_id, run=None)
    found.filter(document_id__in=[row.document_id for row in rows if row.document_id]).delete()
    for row in rows:
        row.site_id, row.run = history.site_id, run
        row.created_at = row.updated_at = row.last_attempt_at = at
        row.processed_at = at if row.status == Status.PROCESSED else None
    DocumentState.objects.bulk_create(rows, batch_size=1000)


def stand_in_ocr(run: Run, history: History) -> Progress:
    """Point the site at the run, counters from its ledger, untouched since the old system's last move."""
    counted = ledger_counts(DocumentState.objects.filter(site_id=history.site_id, run=run))
    fetch, ocr = (counted.get(stage, Progress(0, 0, 0)) for stage in (Stage.FETCH, Stage.OCR))
    values: dict[str, Any] = all_zeroed()
    values |= {"fetch_total": fetch.total, "fetch_completed": fetch.completed}
    values |= {"ocr_total": ocr.total, "ocr_completed": ocr.completed, "ocr_failed": ocr.failed}
    if ocr.failed:
        message = f"TakenOver: {ocr.failed} of {ocr.total} documents have no text"
        values |= last_error(Stage.OCR, message) | {"last_error_at": history.updated_at}
    stood = Site.objects.filter(pk=history.site_id, run_id=None).update(
        run_id=run.pk,
        current_stage=Stage.OCR,
        coordinator_enqueued=False,
        started_at=history.started_at,
        updated_at=history.updated_at,
        **values,
    )
    if not stood:
        raise Fenced(f"{history.site_id}: a run began at the same moment")
    return ocr
