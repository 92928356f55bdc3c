"""What a person may do to the rows of a run: reset, hasten, skip. Each leaves an intervention."""

from collections.abc import Sequence
from typing import Any

from django.db.models import F
from django.utils import timezone

from pipeline.errors import SKIPPED, Fenced
from pipeline.models import DocumentState, Status
from pipeline.state.counters import one_more
from pipeline.state.guards import in_wave
from pipeline.state.ledger import batches, claim_coordinator, reopen
from sites.models import Document, Site
from sites.stages import Stage, wave_of


def reset_failed(site: Site, run_id: int, row_ids: Sequence[int], intervention_id: int) -> int:
    """Failed rows of the running wave wait again and are counted as failed no more."""
    wave = wave_of(site.current_stage or "")
    reset = dict.fromkeys(wave, 0)
    for stage in wave:
        for some in batches(row_ids, 500):
            failed = DocumentState.objects.filter(
                pk__in=some, site_id=site.pk, run_id=run_id, pipeline=stage, status=Status.FAILED_TERMINAL
            )
            reset[stage] += reopen(failed, run_id, intervention_id=intervention_id, retried=F("retried") + 1)
    fewer = {f"{stage}_failed": F(f"{stage}_failed") - count for stage, count in reset.items()}
    # Claimed: the coordinator is about to leave this stage, and must not leave rows behind.
    open_wave = in_wave(site.pk, run_id, wave[-1]).filter(coordinator_enqueued=False)
    if not open_wave.update(updated_at=timezone.now(), **fewer):
        raise Fenced(f"{site.pk}: run {run_id} is leaving {site.current_stage} at this moment")
    return sum(reset.values())


def count_retries(row_ids: Sequence[int]) -> None:
    """Note that a person had these tried again, before a new run opens them."""
    for some in batches(row_ids, 500):
        DocumentState.objects.filter(pk__in=some).update(retried=F("retried") + 1)


def hasten(site_id: str, run_id: int, row_ids: Sequence[int], intervention_id: int) -> int:
    """Rows that wait for their backoff are due now, under a new sequence."""
    waiting = DocumentState.objects.filter(
        pk__in=row_ids, site_id=site_id, run_id=run_id, status=Status.FAILED_RETRYABLE
    )
    return waiting.update(
        enqueue_seq=F("enqueue_seq") + 1,
        retry_at=None,
        retried=F("retried") + 1,
        intervention_id=intervention_id,
        updated_at=timezone.now(),
    )


def skip_document(document: Document, row: DocumentState | None, reason: str, message: str) -> int | None:
    """Leave the document out. Its open row, if a run has one, ends and is counted as failed.

    The coordinator's sequence if that row was the last of its stage.
    """
    label = {"error_code": SKIPPED, "error_message": message[:500], "updated_at": timezone.now()}
    DocumentState.objects.filter(document=document, status=Status.FAILED_TERMINAL).update(**label)
    if row is not None:
        _end_unworked(row, **label)
    Document.objects.filter(pk=document.pk).update(skip_reason=reason)
    return _count_unworked(row) if row is not None else None


def _end_unworked(row: DocumentState, **label: Any) -> None:
    seen = DocumentState.objects.filter(pk=row.pk, run=row.run, status=row.status)
    if row.status == Status.PENDING:
        # Nothing jumps from pending to an end, not even this.
        seen.update(status=Status.IN_PROGRESS, attempt_token=None)
        # A worker that took the row a moment before has its token in it, and wins.
        seen = DocumentState.objects.filter(
            pk=row.pk, run=row.run, status=Status.IN_PROGRESS, attempt_token=None
        )
    ended = {"attempt_token": None, "retry_at": None, "last_attempt_at": timezone.now(), **label}
    if not seen.update(status=Status.FAILED_TERMINAL, **ended):
        raise Fenced(f"row {row.pk} changed at this moment")


def _count_unworked(row: DocumentState) -> int | None:
    here = in_wave(row.site_id, row.run_id, Stage(row.pipeline))
    if row.run_id is None or not here.update(**one_more(row.pipeline, "failed")):
        raise Fenced(f"{row.site_id} is not in run {row.run_id}, {row.pipeline}, any more")
    return claim_coordinator(row.site_id, row.run_id)


def do_again(document_ids: Sequence[int], stages: Sequence[Stage], intervention_id: int) -> int:
    """What was processed is to be done again, by the run that begins in this very transaction."""
    done = 0
    for some in batches(document_ids, 500):
        rows = DocumentState.objects.filter(
            document_id__in=some, pipeline__in=stages, status=Status.PROCESSED
        )
        done += reopen(rows, None, intervention_id=intervention_id)
    return done
