"""The repairs of reconcile and verify, each guarded on exactly what was read before."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from pipeline.errors import WORKER_LOST, Fenced
from pipeline.models import DocumentState, Run, Status
from pipeline.state.counters import CURRENT_WAVE_COUNTED, ledger_counts
from pipeline.state.ledger import batches, coordinator_seq, reopen
from pipeline.state.retry import worker_lost
from sites.models import Site
from sites.stages import WORK_STAGES, Progress, Stage


def end_lost_attempts(rows: Sequence[DocumentState], now: datetime) -> int:
    """Attempts whose worker is gone: to be tried again at once, or terminal when no attempt is left."""
    ended = 0
    for some in batches(rows, 200):
        lost = DocumentState.objects.filter(_as_read(some), status=Status.IN_PROGRESS)
        # This one's death is not counted yet.
        ended += lost.filter(worker_deaths__lt=settings.MAX_ATTEMPTS - 1).update(
            status=Status.FAILED_RETRYABLE,
            worker_deaths=F("worker_deaths") + 1,
            enqueue_seq=F("enqueue_seq") + 1,
            retry_at=None,
            error_message="WorkerLost: the worker died in the middle of this job",
            **_lost(now),
        )
        ended += lost.filter(worker_deaths__gte=settings.MAX_ATTEMPTS - 1).update(
            status=Status.FAILED_TERMINAL,
            worker_deaths=F("worker_deaths") + 1,
            error_message=worker_lost(settings.MAX_ATTEMPTS).message,
            **_lost(now),
        )
    return ended


def _lost(now: datetime) -> dict[str, Any]:
    return {"attempt_token": None, "error_code": WORKER_LOST, "updated_at": now}


def end_abandoned_attempts(quiet_since: datetime) -> int:
    """A job that claimed its row at the very moment its run was given up: its finish was fenced off."""
    over = Run.objects.exclude(status=Run.Status.RUNNING)
    abandoned = DocumentState.objects.filter(
        pipeline__in=WORK_STAGES,
        status=Status.IN_PROGRESS,
        updated_at__lt=quiet_since,
        run_id__in=over.values("pk"),
    )
    with transaction.atomic():
        # Not those that somebody holds locked: one of them must not keep the repair from all the others.
        free = abandoned.select_for_update(skip_locked=connection.features.has_select_for_update_skip_locked)
        return DocumentState.objects.filter(pk__in=list(free.values_list("pk", flat=True))).update(
            status=Status.FAILED_RETRYABLE,
            error_message="WorkerLost: its run was over before it finished",
            **_lost(timezone.now()),
        )


def renew_lost_rows(rows: Sequence[DocumentState], now: datetime) -> int:
    """Waiting rows whose queue job is gone: a new sequence, under which each can be sent again."""
    return sum(
        DocumentState.objects.waiting()
        .filter(_as_read(some))
        .update(enqueue_seq=F("enqueue_seq") + 1, retry_at=None, updated_at=now)
        for some in batches(rows, 200)
    )


def _as_read(rows: Sequence[DocumentState]) -> Q:
    """Rows opened together are alike in all but their id, so that one condition does for many."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    for row in rows:
        read = (row.run_id, row.status, row.attempt_token, row.enqueue_seq, row.updated_at)
        alike.setdefault(read, []).append(row.pk)
    unchanged = Q()
    for (run_id, status, token, seq, updated_at), row_ids in alike.items():
        unchanged |= Q(
            pk__in=row_ids,
            run_id=run_id,
            status=status,
            attempt_token=token,
            enqueue_seq=seq,
            updated_at=updated_at,
        )
    return unchanged


def recount(site_id: str, run_id: int) -> int:
    """Set the counters to what the ledger says; how many of them were wrong.

    Under the site's lock, so that a job that finishes meanwhile has either counted in both or in neither.
    """
    site = Site.objects.select_for_update(no_key=True).filter(pk=site_id, run_id=run_id).first()
    if site is None:
        raise Fenced(f"{site_id} is not in run {run_id} any more")
    counted = ledger_counts(DocumentState.objects.filter(site_id=site_id, run_id=run_id))
    wrong: dict[str, Any] = {}
    for stage in WORK_STAGES:
        right = counted.get(stage, Progress(0, 0, 0))
        for part in ("total", "completed", "failed"):
            if getattr(site, f"{stage}_{part}") != getattr(right, part):
                wrong[f"{stage}_{part}"] = getattr(right, part)
    if wrong:
        Site.objects.filter(pk=site_id, run_id=run_id).update(updated_at=timezone.now(), **wrong)
    return len(wrong)


def release_claim(site_id: str, run_id: int) -> bool:
    """Take back a claim made while jobs are still to come: the last of them claims anew."""
    return bool(
        Site.objects.filter(
            ~CURRENT_WAVE_COUNTED,
            pk=site_id,
            run_id=run_id,
            coordinator_enqueued=True,
            current_stage__in=WORK_STAGES,
        ).update(coordinator_enqueued=False, updated_at=timezone.now())
    )


def renew_lost_coordinator(site: Site) -> int | None:
    """A new sequence for the coordinator of a site that stands exactly as it was read."""
    renewed = Site.objects.filter(
        pk=site.pk,
        run_id=site.run_id,
        current_stage=site.current_stage,
        coordinator_enqueued=True,
        coordinator_seq=site.coordinator_seq,
    ).update(coordinator_seq=F("coordinator_seq") + 1, updated_at=timezone.now())
    return coordinator_seq(site.pk) if renewed else None


# ---- How often a run was repaired, and whether a person must look ---------------------------------------


def note_recovery(run_id: int, progress: str) -> None:
    """Count recoveries of a run that stands where it stood at the one before."""
    again = When(recovered_at_progress=progress, then=F("recoveries") + 1)
    Run.objects.filter(pk=run_id).update(
        recoveries=Case(again, default=Value(1)), recovered_at_progress=progress
    )


def forget_recoveries(site: Site) -> None:
    """A person has looked: neither the recoveries so far nor the flag stand any longer."""
    Run.objects.filter(pk=site.run_id or 0).update(recoveries=0, recovered_at_progress="")
    clear_attention(site.pk)


def touch(site_id: str, run_id: int) -> None:
    Site.objects.filter(pk=site_id, run_id=run_id).update(updated_at=timezone.now())


def call_for_attention(site_id: str, run_id: int | None, reason: str) -> None:
    """Flag the site for a person; `updated_at` stays, for nothing has moved."""
    Site.objects.filter(pk=site_id, run_id=run_id).update(
        attention_reason=reason, attention_at=timezone.now()
    )


def clear_attention(site_id: str) -> None:
    """It got further since it was flagged."""
    Site.objects.filter(pk=site_id).update(attention_reason="", attention_at=None)


# ---- Where files and ledger did not agree -------------------------------------------------------------


def reset_processed(site_id: str, row_ids: Sequence[int], intervention_id: int) -> int:
    """Rows whose file is gone are undone, for the next run to open. Refused while a run is going on."""
    with transaction.atomic():
        rows = DocumentState.objects.filter(pk__in=row_ids, site_id=site_id, status=Status.PROCESSED)
        reset = reopen(rows, None, intervention_id=intervention_id)
        site = Site.objects.get(pk=site_id)
        if Run.objects.running().filter(site_id=site_id).exists():
            raise Fenced(f"{site_id} is in a run")
        if site.run_id:
            recount(site_id, site.run_id)
    return reset


def hand_over_rows(twin_id: int, document_id: int, run_id: int | None) -> bool:
    """What was done to the twin was done to this document, which is the same: all but its own fetch.

    False, and nothing changed, where the document was worked on already or the twin is of this very run.
    """
    of_twin = DocumentState.objects.filter(document_id=twin_id)
    worked_on = DocumentState.objects.filter(document_id=document_id).exclude(pipeline=Stage.FETCH)
    if worked_on.exists() or of_twin.filter(run_id=run_id or 0).exists():
        return False
    of_twin.exclude(pipeline=Stage.FETCH).update(document_id=document_id)
    return True


def record_found(rows: Sequence[DocumentState]) -> None:
    """Rows of no run for files that were in storage and in no ledger."""
    now = timezone.now()
    for row in rows:
        row.status, row.attempt_count = Status.PROCESSED, 1
        row.created_at = row.updated_at = row.last_attempt_at = row.processed_at = now
    DocumentState.objects.bulk_create(rows)
