"""A run from its beginning to its end: each move is made once, by whoever finds the site as it must stand."""

from collections.abc import Sequence
from typing import Any

from django.db.models import F
from django.utils import timezone

from pipeline.errors import Fenced
from pipeline.models import DocumentState, Run, RunStage, Status
from pipeline.state.counters import all_counted, all_zeroed, last_error, ledger_counts, zeroed
from pipeline.state.ledger import Work, claim_coordinator, coordinator_seq, open_stage
from sites.models import Site
from sites.stages import WORK_STAGES, Progress, Stage, current_stage_of


def begin(site: Site, run: Run, first: dict[Stage, Work]) -> int | None:
    """Point the site at a new run and open its first wave; the coordinator's sequence if that had no work.

    Guarded on the run the caller saw: of two starts at once one is refused.
    """
    totals = _open_wave(site.pk, run.pk, first)
    changed = Site.objects.filter(pk=site.pk, run_id=site.run_id).update(
        run_id=run.pk,
        last_error_stage=None,
        last_error_message=None,
        last_error_at=None,
        attention_reason="",
        attention_at=None,
        updated_at=timezone.now(),
        **all_zeroed() | _wave_values(totals),
    )
    if not changed:
        raise Fenced(f"{site.pk}: another run began at the same moment")
    _record_opening(run.pk, totals)
    return claim_coordinator(site.pk, run.pk)


def move_on(site_id: str, run_id: int, wave: Sequence[Stage], after: dict[Stage, Work]) -> int | None:
    """Leave this wave and open the next, once: compare-and-set on run, stage and claim."""
    # Ledger first, then the site, as every finishing job does: the same order everywhere cannot deadlock.
    totals = _open_wave(site_id, run_id, after)
    _leave(site_id, run_id, wave, **_wave_values(totals))
    _record_opening(run_id, totals)
    return claim_coordinator(site_id, run_id)


def _open_wave(site_id: str, run_id: int, works: dict[Stage, Work]) -> dict[Stage, int]:
    return {stage: open_stage(site_id, run_id, stage, work) for stage, work in works.items()}


def _wave_values(totals: dict[Stage, int]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "current_stage": current_stage_of(tuple(totals)),
        "coordinator_enqueued": False,
        "started_at": timezone.now(),
    }
    for stage, total in totals.items():
        values |= zeroed(stage, total)
    return values


def _record_opening(run_id: int, totals: dict[Stage, int]) -> None:
    """Into the history, once this caller has won the move."""
    now = timezone.now()
    RunStage.objects.bulk_create(
        RunStage(run_id=run_id, stage=stage, opened_at=now, total=total) for stage, total in totals.items()
    )


def complete(site_id: str, run_id: int, wave: Sequence[Stage], message: str, error: str = "") -> None:
    """The site went through. `error` says why it did so with nothing to show."""
    now = timezone.now()
    failed = last_error(Stage.FETCH, error) if error else {}
    went_through: dict[str, Any] = {
        "current_stage": Stage.COMPLETED,
        "last_completed_at": now,
        "attention_reason": "",
        "attention_at": None,
    }
    _end(run_id, Run.Status.COMPLETED, message)
    _leave(site_id, run_id, wave, **went_through | failed)


def fail(site_id: str, run_id: int, wave: Sequence[Stage], stage: Stage, message: str) -> None:
    """The site cannot pass this stage: it stays there, its coordinator claimed for good, the reason shown."""
    _end(run_id, Run.Status.FAILED, message)
    _leave(site_id, run_id, wave, **last_error(stage, message))


def _leave(site_id: str, run_id: int, wave: Sequence[Stage], **values: Any) -> None:
    now = timezone.now()
    claimed = Site.objects.filter(
        all_counted(wave),
        pk=site_id,
        run_id=run_id,
        current_stage=current_stage_of(tuple(wave)),
        coordinator_enqueued=True,
        paused_at=None,
    )
    site, moved = claimed.first(), 0
    if site is not None:
        for stage in wave:
            _close_stage(run_id, stage, site.progress(stage))
        moved = claimed.update(updated_at=now, **values)
    if not moved:
        raise Fenced(f"{site_id}: run {run_id} is not waiting for the end of {' and '.join(wave)}")


def _close_stage(run_id: int, stage: Stage, progress: Progress) -> None:
    RunStage.objects.filter(run_id=run_id, stage=stage, finished_at=None).update(
        finished_at=timezone.now(), total=progress.total, completed=progress.completed, failed=progress.failed
    )


def note_error(site_id: str, run_id: int, message: str) -> None:
    """An exception of the coordinator: on the site, where people look."""
    here = Site.objects.filter(pk=site_id, run_id=run_id)
    here.update(**last_error("", message) | {"last_error_stage": F("current_stage")})


def _end(run_id: int, status: str, message: str) -> None:
    # A second coordinator that saw the same claim must not end the run twice.
    if (
        not Run.objects.running()
        .filter(pk=run_id)
        .update(status=status, finished_at=timezone.now(), message=message)
    ):
        raise Fenced(f"run {run_id} has ended already")


# ---- Given up, or standing still ----------------------------------------------------------------------


def abandon(run: Run, status: str, message: str) -> None:
    """Fence off every job of this run and keep its counts in the history."""
    rows = DocumentState.objects.filter(site_id=run.site_id, run_id=run.pk)
    # Waiting rows first: a job that is about to claim one waits for this, and finds another sequence then.
    rows.filter(status__in=Status.WAITING).update(enqueue_seq=F("enqueue_seq") + 1)
    rows.filter(status=Status.IN_PROGRESS).update(
        status=Status.FAILED_RETRYABLE,
        attempt_token=None,
        error_code=status,
        error_message=message,
        updated_at=timezone.now(),
    )
    counted = ledger_counts(rows)
    _end(run.pk, status, message)
    for stage in WORK_STAGES:
        _close_stage(run.pk, stage, counted.get(stage, Progress(0, 0, 0)))


def leave_pipeline(site: Site) -> None:
    """After a cancel the site stands nowhere: no run may count, no counter is left."""
    if not Site.objects.filter(pk=site.pk, run_id=site.run_id).update(
        run_id=None, current_stage=None, coordinator_enqueued=False, updated_at=timezone.now(), **all_zeroed()
    ):
        raise Fenced(f"{site.pk}: another run began at the same moment")


def pause(site_id: str, reason: str) -> bool:
    """False when it was paused already. Jobs in hand finish and count; no further one is claimed."""
    now = timezone.now()
    return bool(Site.objects.filter(pk=site_id, paused_at=None).update(paused_at=now, pause_reason=reason))


def resume(site_id: str) -> bool:
    return bool(
        Site.objects.filter(pk=site_id, paused_at__isnull=False).update(
            paused_at=None, pause_reason="", updated_at=timezone.now()
        )
    )


def end_for_good(site: Site, message: str) -> None:
    """A run that failed is the site's end, because a person said so; what failed stays on record."""
    failed = Site.objects.filter(pk=site.pk, run_id=site.run_id, current_stage=site.current_stage)
    if not failed.update(
        current_stage=Stage.COMPLETED,
        last_error_stage=site.current_stage,
        last_error_message=message[:500],
        attention_reason="",
        attention_at=None,
        updated_at=timezone.now(),
    ):
        raise Fenced(f"{site.pk}: it has moved at the same moment")


def renew_rows(site_id: str, run_id: int) -> None:
    """A new sequence for every waiting row, so that it can be queued again without doubling its job."""
    DocumentState.objects.waiting().filter(site_id=site_id, run_id=run_id).update(
        enqueue_seq=F("enqueue_seq") + 1, updated_at=timezone.now()
    )


def renew_coordinator(site_id: str, run_id: int) -> int | None:
    """A new sequence for a coordinator that was claimed and may be lost."""
    claimed = Site.objects.filter(pk=site_id, run_id=run_id, coordinator_enqueued=True)
    renewed = claimed.update(coordinator_seq=F("coordinator_seq") + 1, updated_at=timezone.now())
    return coordinator_seq(site_id) if renewed else None
