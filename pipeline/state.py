"""The only writer of state: every change is one guarded UPDATE, and its row count is the answer.

Whoever writes several tables does so in one order, ledger, run, its stages, site, and so cannot deadlock.
"""

import random
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Case, Count, Exists, F, OuterRef, Q, Value, When
from django.utils import timezone

from pipeline.errors import SKIPPED, WORKER_LOST, Failure
from pipeline.models import DocumentState, Run, RunStage, Status
from pipeline.prepared import Param, PreparedUpdate
from sites.models import WAVES, WORK_STAGES, Document, Progress, Site, Stage, current_stage_of, wave_of

SITE_UNIT = "site"
# Work that resumes where it was cut off may take this many times the usual attempts, while it gets further.
MOST_RESUMPTIONS = 10
Item = TypeVar("Item")


class UnknownSite(LookupError):
    """No such subdomain."""


class UnknownStage(ValueError):
    """Not a stage with jobs."""


class Fenced(Exception):
    """This attempt or run is no longer the one that may write; nothing was written."""


# ---- The counters of a site (MISSION.md section 3) ---------------------------------------------------


def initialize_stage(subdomain: str, stage: str, total_jobs: int) -> None:
    """Set the total and zero the counts, before any job of the stage can run."""
    wave = wave_of(_known(stage))
    if total_jobs < 0:
        raise ValueError(f"{subdomain}: {stage} cannot have {total_jobs} jobs")
    now = timezone.now()
    _update_site(
        subdomain,
        current_stage=current_stage_of(wave),
        coordinator_enqueued=False,
        started_at=now,
        updated_at=now,
        **_counts(stage, total_jobs),
    )


def increment_completed(subdomain: str, stage: str) -> None:
    _update_site(subdomain, **_one_more(_known(stage), "completed"))


def increment_failed(subdomain: str, stage: str, error_message: str, error_class: str) -> None:
    _update_site(
        subdomain,
        **_one_more(_known(stage), "failed"),
        **_last_error(stage, f"{error_class}: {error_message}"),
    )


def should_trigger_coordinator(subdomain: str, stage: str) -> bool:
    """Whether every job of the stage's wave is counted and nobody has claimed the coordinator yet."""
    wave = wave_of(_known(stage))
    if not Site.objects.filter(pk=subdomain).exists():
        raise UnknownSite(_no_site(subdomain))
    return Site.objects.filter(_all_counted(wave), pk=subdomain, coordinator_enqueued=False).exists()


def claim_coordinator_enqueue(subdomain: str) -> bool:
    """True for exactly one caller, once every job of the current wave is counted."""
    claimed = Site.objects.filter(_CURRENT_WAVE_COUNTED, pk=subdomain, coordinator_enqueued=False).update(
        coordinator_enqueued=True, coordinator_seq=F("coordinator_seq") + 1, updated_at=timezone.now()
    )
    if not claimed and not Site.objects.filter(pk=subdomain).exists():
        raise UnknownSite(_no_site(subdomain))
    return claimed == 1


def _known(stage: str) -> Stage:
    if stage not in WORK_STAGES:
        raise UnknownStage(f"unknown stage {stage!r}: expected one of {', '.join(WORK_STAGES)}")
    return Stage(stage)


def _no_site(subdomain: str) -> str:
    return f"there is no site {subdomain!r}"


def _update_site(subdomain: str, **values: Any) -> None:
    if not Site.objects.filter(pk=subdomain).update(**values):
        raise UnknownSite(_no_site(subdomain))


def _counts(stage: str, total: int = 0) -> dict[str, int]:
    return {f"{stage}_total": total, f"{stage}_completed": 0, f"{stage}_failed": 0}


def _one_more(stage: str, what: str) -> dict[str, Any]:
    return {f"{stage}_{what}": F(f"{stage}_{what}") + 1, "updated_at": timezone.now()}


def _last_error(stage: str, message: str) -> dict[str, Any]:
    return {
        "last_error_stage": stage,
        "last_error_message": message[:500],
        "last_error_at": timezone.now(),
    }


def _all_counted(wave: Sequence[Stage]) -> Q:
    counted = Q()
    for stage in wave:
        counted &= Q(**{f"{stage}_total__lte": F(f"{stage}_completed") + F(f"{stage}_failed")})
    return counted


# One condition for any stage, so that the claim is one statement that cannot mix two moments.
_CURRENT_WAVE_COUNTED = Q()
for _wave in WAVES:
    _CURRENT_WAVE_COUNTED |= Q(current_stage=current_stage_of(_wave)) & _all_counted(_wave)


# ---- Opening: rows and totals, before anything is queued ----------------------------------------------


@dataclass(frozen=True)
class Work:
    """What a stage has to do in this run: units of the site, and documents."""

    units: Sequence[str] = ()
    documents: Sequence[int] = ()


def open_rows(site_id: str, run_id: int, stage: str, work: Work) -> list[int]:
    """Ledger rows of the stage as pending under this run, by id; processed documents stay as they are."""
    new: dict[str, Any] = {"site_id": site_id, "run_id": run_id, "pipeline": stage}
    rows = DocumentState.objects.filter(site_id=site_id, pipeline=stage)
    units = rows.filter(document=None, unit__in=work.units)
    opened = _open(units, run_id, [DocumentState(unit=unit, **new) for unit in work.units])
    for some in _batches(work.documents, 500):
        documents = rows.filter(document_id__in=some).exclude(~Q(run_id=run_id), status=Status.PROCESSED)
        opened += _open(documents, run_id, [DocumentState(document_id=pk, **new) for pk in some])
    return opened


def _open(rows: models.QuerySet[DocumentState], run_id: int, missing: list[DocumentState]) -> list[int]:
    mine = rows.filter(run_id=run_id).order_by("pk").values_list("pk", flat=True)
    already = set(mine)
    _reopen(rows.exclude(run_id=run_id), run_id)
    for row in missing:
        row.created_at = row.updated_at = timezone.now()
    DocumentState.objects.bulk_create(missing, ignore_conflicts=True)
    return [pk for pk in mine.all() if pk not in already]


def _reopen(rows: models.QuerySet[DocumentState], run_id: int | None, **more: Any) -> int:
    return rows.update(
        status=Status.PENDING,
        run_id=run_id,
        attempt_count=0,
        attempt_token=None,
        enqueue_seq=F("enqueue_seq") + 1,
        rq_job_id="",
        delivery=0,
        retry_at=None,
        error_code=None,
        error_message=None,
        progress_done=0,
        progress_total=0,
        processed_at=None,
        updated_at=timezone.now(),
        **more,
    )


def _batches(items: Sequence[Item], size: int) -> Iterable[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def begin_run(site: Site, run: Run, first: dict[Stage, Work]) -> int | None:
    """Point the site at a new run and open its first wave; the coordinator's sequence if that had no work.

    Guarded on the run the caller saw: of two starts at once one is refused.
    """
    zeroed: dict[str, Any] = {}
    for stage in WORK_STAGES:
        zeroed |= _counts(stage)
    totals = _open_wave(site.pk, run.pk, first)
    changed = Site.objects.filter(pk=site.pk, run_id=site.run_id).update(
        run_id=run.pk,
        last_error_stage=None,
        last_error_message=None,
        last_error_at=None,
        attention_reason="",
        attention_at=None,
        updated_at=timezone.now(),
        **zeroed | _wave_values(totals),
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
    return {stage: len(open_rows(site_id, run_id, stage, work)) for stage, work in works.items()}


def _record_opening(run_id: int, totals: dict[Stage, int]) -> None:
    """Into the history, once this caller has won the move."""
    now = timezone.now()
    RunStage.objects.bulk_create(
        RunStage(run_id=run_id, stage=stage, opened_at=now, total=total) for stage, total in totals.items()
    )


def _wave_values(totals: dict[Stage, int]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "current_stage": current_stage_of(tuple(totals)),
        "coordinator_enqueued": False,
        "started_at": timezone.now(),
    }
    for stage, total in totals.items():
        values |= _counts(stage, total)
    return values


def complete_run(site_id: str, run_id: int, wave: Sequence[Stage], message: str, error: str = "") -> None:
    """The site went through. `error` says why it did so with nothing to show."""
    now = timezone.now()
    failed = _last_error(Stage.FETCH, error) if error else {}
    went_through: dict[str, Any] = {
        "current_stage": Stage.COMPLETED,
        "last_completed_at": now,
        "attention_reason": "",
        "attention_at": None,
    }
    _end_run(run_id, Run.Status.COMPLETED, message)
    _leave(site_id, run_id, wave, **went_through | failed)


def fail_run(site_id: str, run_id: int, wave: Sequence[Stage], stage: Stage, message: str) -> None:
    """The site cannot pass this stage: it stays there, its coordinator claimed for good, the reason shown."""
    _end_run(run_id, Run.Status.FAILED, message)
    _leave(site_id, run_id, wave, **_last_error(stage, message))


def abandon_run(run: Run, status: str, message: str) -> None:
    """Fence off every job of this run and keep its counts in the history."""
    rows = DocumentState.objects.filter(site_id=run.site_id, run_id=run.pk)
    rows.filter(status=Status.IN_PROGRESS).update(
        status=Status.FAILED_RETRYABLE,
        attempt_token=None,
        error_code=status,
        error_message=message,
        updated_at=timezone.now(),
    )
    counted = ledger_counts(rows)
    _end_run(run.pk, status, message)
    for stage in WORK_STAGES:
        _close_stage(run.pk, stage, counted.get(stage, Progress(0, 0, 0)))


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


def leave_pipeline(site: Site) -> None:
    """After a cancel the site stands nowhere: no run may count, no counter is left."""
    zeroed: dict[str, Any] = {}
    for stage in WORK_STAGES:
        zeroed |= _counts(stage)
    if not Site.objects.filter(pk=site.pk, run_id=site.run_id).update(
        run_id=None, current_stage=None, coordinator_enqueued=False, updated_at=timezone.now(), **zeroed
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


def renew_rows(site_id: str, run_id: int) -> None:
    """A new sequence for every waiting row, so that it can be queued again without doubling its job."""
    DocumentState.objects.filter(
        site_id=site_id, run_id=run_id, status__in=[Status.PENDING, Status.FAILED_RETRYABLE]
    ).update(enqueue_seq=F("enqueue_seq") + 1, updated_at=timezone.now())


def renew_coordinator(site_id: str, run_id: int) -> int | None:
    """A new sequence for a coordinator that was claimed and may be lost."""
    claimed = Site.objects.filter(pk=site_id, run_id=run_id, coordinator_enqueued=True)
    renewed = claimed.update(coordinator_seq=F("coordinator_seq") + 1, updated_at=timezone.now())
    return coordinator_seq(site_id) if renewed else None


def _leave(site_id: str, run_id: int, wave: Sequence[Stage], **values: Any) -> None:
    now = timezone.now()
    claimed = Site.objects.filter(
        _all_counted(wave),
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


def _end_run(run_id: int, status: str, message: str) -> None:
    # A second coordinator that saw the same claim must not end the run twice.
    if not Run.objects.filter(pk=run_id, status=Run.Status.RUNNING).update(
        status=status, finished_at=timezone.now(), message=message
    ):
        raise Fenced(f"run {run_id} has ended already")


# ---- By hand: what an operator may do to the rows of a run (each leaves an intervention) ---------------


def reset_failed(site: Site, run_id: int, row_ids: Sequence[int], intervention_id: int) -> int:
    """Failed rows of the running wave wait again and are counted as failed no more."""
    wave = wave_of(site.current_stage or "")
    reset = dict.fromkeys(wave, 0)
    for stage in wave:
        for some in _batches(row_ids, 500):
            failed = DocumentState.objects.filter(
                pk__in=some, site_id=site.pk, run_id=run_id, pipeline=stage, status=Status.FAILED_TERMINAL
            )
            reset[stage] += _reopen(failed, run_id, intervention_id=intervention_id, retried=F("retried") + 1)
    fewer = {f"{stage}_failed": F(f"{stage}_failed") - count for stage, count in reset.items()}
    # Claimed: the coordinator is about to leave this stage, and must not leave rows behind.
    open_wave = _in_wave(site.pk, run_id, wave[-1]).filter(coordinator_enqueued=False)
    if not open_wave.update(updated_at=timezone.now(), **fewer):
        raise Fenced(f"{site.pk}: run {run_id} is leaving {site.current_stage} at this moment")
    return sum(reset.values())


def count_retries(row_ids: Sequence[int]) -> None:
    """Note that a person had these tried again, before a new run opens them."""
    for some in _batches(row_ids, 500):
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
        seen = DocumentState.objects.filter(pk=row.pk, run=row.run, status=Status.IN_PROGRESS)
    ended = {"attempt_token": None, "retry_at": None, "last_attempt_at": timezone.now(), **label}
    if not seen.update(status=Status.FAILED_TERMINAL, **ended):
        raise Fenced(f"row {row.pk} changed at this moment")


def _count_unworked(row: DocumentState) -> int | None:
    here = Site.objects.filter(
        pk=row.site_id, run_id=row.run_id, current_stage=current_stage_of(wave_of(row.pipeline))
    )
    if row.run_id is None or not here.update(**_one_more(row.pipeline, "failed")):
        raise Fenced(f"{row.site_id} is not in run {row.run_id}, {row.pipeline}, any more")
    return claim_coordinator(row.site_id, row.run_id)


# ---- One job: claim, progress, finish (DESIGN.md section 1) -------------------------------------------


@dataclass
class Attempt:
    """The right to work on one ledger row, until somebody else takes it."""

    row_id: int
    run_id: int
    site_id: str
    stage: Stage
    document_id: int | None
    unit: str
    token: uuid.UUID
    number: int
    delivery: int = 0
    done_before: int = 0
    began: float = field(default_factory=time.monotonic)
    got_further: bool = False
    _reported: float = 0.0

    def elapsed(self) -> float:
        return round(time.monotonic() - self.began, 3)

    @property
    def lost_its_workers(self) -> bool:
        """Delivered again, and no attempt is left: the one before took its worker down."""
        return self.delivery > 0 and self.number > settings.MAX_ATTEMPTS

    def progress(self, done: int, total: int) -> None:
        """Show how far the work is, at most every two seconds; stops work that is no longer ours."""
        self.got_further = self.got_further or done > self.done_before
        if time.monotonic() - self._reported < 2 and done < total:
            return
        self._reported = time.monotonic()
        self._touch(progress_done=done, progress_total=total)

    def check(self) -> None:
        """Stop here if somebody else has the row by now: for work whose effect is seen outside."""
        self._touch()

    def _touch(self, **values: Any) -> None:
        row = _in_hand(self.row_id, self.run_id, self.token)
        if not row.update(updated_at=timezone.now(), **values):
            raise Fenced(f"row {self.row_id} was taken over")


@dataclass(frozen=True)
class Finished:
    """What work reports: facts for the ledger row, and what to record in the finishing transaction.

    `record` may return documents, which become further rows of the same stage.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    record: Callable[[], Sequence[Document] | None] | None = None


@dataclass(frozen=True)
class Outcome:
    status: str
    coordinator_seq: int | None = None
    added: Sequence[int] = ()
    retry_at: datetime | None = None


def claim(
    row_id: int, run_id: int, seq: int, job_id: str, delivery: int, token: uuid.UUID | None = None
) -> Attempt | None:
    """Take the row for this queue job, or None: it is done, somebody else's, or of another run.

    Asked again with the same token, after an answer that was lost, it finds what it has taken already.
    """
    current = Site.objects.filter(pk=OuterRef("site_id"), run_id=run_id, paused_at=None)
    waiting = Q(status__in=[Status.PENDING, Status.FAILED_RETRYABLE], enqueue_seq=seq)
    # The queue delivers a job again when its worker died: a later delivery of the same job takes over.
    redelivered = Q(status=Status.IN_PROGRESS, rq_job_id=job_id, delivery__lt=delivery)
    token, now = token or uuid.uuid4(), timezone.now()
    DocumentState.objects.filter(waiting | redelivered, Exists(current), pk=row_id, run_id=run_id).update(
        status=Status.IN_PROGRESS,
        attempt_token=token,
        attempt_count=F("attempt_count") + 1,
        rq_job_id=job_id,
        delivery=delivery,
        last_attempt_at=now,
        retry_at=None,
        updated_at=now,
    )
    row = _in_hand(row_id, run_id, token).first()
    return _attempt(row, token) if row else None


def _attempt(row: DocumentState, token: uuid.UUID) -> Attempt:
    return Attempt(
        row.pk,
        row.run_id or 0,
        row.site_id,
        Stage(row.pipeline),
        row.document_id,
        row.unit,
        token,
        row.attempt_count,
        row.delivery,
        row.progress_done,
    )


def finish_processed(attempt: Attempt, finished: Finished) -> Outcome:
    with transaction.atomic():
        _close_processed(attempt, finished.facts)
        added = _grow(attempt, finished.record() or ()) if finished.record else []
        _count_completed(attempt, added=len(added))
        seq = claim_coordinator(attempt.site_id, attempt.run_id)
    return Outcome(Status.PROCESSED, seq, added)


def _close_processed(attempt: Attempt, facts: dict[str, Any]) -> None:
    facts = {**facts, "seconds": attempt.elapsed()}
    closed = _CLOSE_PROCESSED(
        row=attempt.row_id, run=attempt.run_id, token=attempt.token, now=timezone.now(), facts=facts
    )
    if not closed:
        raise Fenced(f"row {attempt.row_id} was taken over")


def _count_completed(attempt: Attempt, added: int) -> None:
    count = _COUNT_COMPLETED[attempt.stage]
    if not count(site=attempt.site_id, run=attempt.run_id, now=timezone.now(), added=added):
        raise Fenced(_gone(attempt))


def _grow(attempt: Attempt, documents: Sequence[Document]) -> list[int]:
    more = Work(documents=[document.pk for document in documents])
    return open_rows(attempt.site_id, attempt.run_id, attempt.stage, more)


def finish_failed(attempt: Attempt, failure: Failure) -> Outcome:
    """Retryable while attempts are left (or the attempt got further than the one before), else terminal."""
    most = settings.MAX_ATTEMPTS * (MOST_RESUMPTIONS if failure.got_further else 1)
    again = failure.retryable and attempt.number < most
    return _fail_for_now(attempt, failure) if again else _fail_for_good(attempt, failure)


def _fail_for_now(attempt: Attempt, failure: Failure) -> Outcome:
    retry_at = timezone.now() + _backoff(attempt.number, failure.retry_after)
    with transaction.atomic():
        _close(
            attempt,
            status=Status.FAILED_RETRYABLE,
            enqueue_seq=F("enqueue_seq") + 1,
            retry_at=retry_at,
            error_code=failure.code,
            error_message=failure.message,
        )
        _count(attempt, updated_at=timezone.now(), **_last_error(attempt.stage, failure.message))
    return Outcome(Status.FAILED_RETRYABLE, retry_at=retry_at)


def _fail_for_good(attempt: Attempt, failure: Failure) -> Outcome:
    with transaction.atomic():
        _close(attempt, status=Status.FAILED_TERMINAL, error_code=failure.code, error_message=failure.message)
        _count(attempt, **_one_more(attempt.stage, "failed"), **_last_error(attempt.stage, failure.message))
        seq = claim_coordinator(attempt.site_id, attempt.run_id)
    return Outcome(Status.FAILED_TERMINAL, seq)


def worker_lost(number: int) -> Failure:
    return Failure(
        WORKER_LOST,
        f"WorkerLost: {number} workers died on this document; it may exhaust memory",
        retryable=False,
    )


def _backoff(attempt: int, retry_after: float | None) -> timedelta:
    wait = settings.RETRY_BACKOFF_SECONDS * 4 ** (attempt - 1) * random.uniform(0.9, 1.1)
    return timedelta(seconds=min(max(wait, retry_after or 0), 6 * 3600))


def _close(attempt: Attempt, **values: Any) -> None:
    row = _in_hand(attempt.row_id, attempt.run_id, attempt.token)
    if not row.update(attempt_token=None, updated_at=timezone.now(), **values):
        raise Fenced(f"row {attempt.row_id} was taken over")


def _count(attempt: Attempt, **values: Any) -> None:
    if not _in_wave(attempt.site_id, attempt.run_id, attempt.stage).update(**values):
        raise Fenced(_gone(attempt))


def _gone(attempt: Attempt) -> str:
    return f"{attempt.site_id} is not in run {attempt.run_id}, {attempt.stage}, any more"


def claim_coordinator(site_id: str, run_id: int) -> int | None:
    """The sequence under which to enqueue the coordinator, for exactly one caller of this run and wave."""
    claimed = _CLAIM_COORDINATOR(site=site_id, run=run_id, now=timezone.now())
    return coordinator_seq(site_id) if claimed else None


def coordinator_seq(site_id: str) -> int:
    return Site.objects.values_list("coordinator_seq", flat=True).get(pk=site_id)


# ---- Repair: guarded on exactly what reconcile had read -----------------------------------------------


def end_lost_attempts(rows: Sequence[DocumentState], now: datetime) -> int:
    """Attempts whose worker is gone: to be tried again at once, or terminal when no attempt is left."""
    ended = 0
    for some in _batches(rows, 200):
        lost = DocumentState.objects.filter(_as_read(some), status=Status.IN_PROGRESS)
        ended += lost.filter(attempt_count__lt=settings.MAX_ATTEMPTS).update(
            status=Status.FAILED_RETRYABLE,
            enqueue_seq=F("enqueue_seq") + 1,
            retry_at=None,
            error_message="WorkerLost: the worker died in the middle of this job",
            **_lost(now),
        )
        ended += lost.filter(attempt_count__gte=settings.MAX_ATTEMPTS).update(
            status=Status.FAILED_TERMINAL,
            error_message=worker_lost(settings.MAX_ATTEMPTS).message,
            **_lost(now),
        )
    return ended


def _lost(now: datetime) -> dict[str, Any]:
    return {"attempt_token": None, "error_code": WORKER_LOST, "updated_at": now}


def end_abandoned_attempts(quiet_since: datetime) -> int:
    """A job that claimed its row at the very moment its run was given up: its finish was fenced off."""
    over = Run.objects.exclude(status=Run.Status.RUNNING)
    return DocumentState.objects.filter(
        pipeline__in=WORK_STAGES,
        status=Status.IN_PROGRESS,
        updated_at__lt=quiet_since,
        run_id__in=over.values("pk"),
    ).update(
        status=Status.FAILED_RETRYABLE,
        error_message="WorkerLost: its run was over before it finished",
        **_lost(timezone.now()),
    )


def renew_lost_rows(rows: Sequence[DocumentState], now: datetime) -> int:
    """Waiting rows whose queue job is gone: a new sequence, under which each can be sent again."""
    return sum(
        DocumentState.objects.filter(
            _as_read(some), status__in=[Status.PENDING, Status.FAILED_RETRYABLE]
        ).update(enqueue_seq=F("enqueue_seq") + 1, retry_at=None, updated_at=now)
        for some in _batches(rows, 200)
    )


def _as_read(rows: Sequence[DocumentState]) -> Q:
    unchanged = Q()
    for row in rows:
        unchanged |= Q(
            pk=row.pk,
            run_id=row.run_id,
            status=row.status,
            attempt_token=row.attempt_token,
            enqueue_seq=row.enqueue_seq,
            updated_at=row.updated_at,
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
            ~_CURRENT_WAVE_COUNTED,
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


# ---- Take-over: what the old system did, as the history of a run ---------------------------------------


@dataclass(frozen=True)
class History:
    """Where the old system left a site: when it entered its stage, and when it last moved."""

    site_id: str
    started_at: datetime
    updated_at: datetime


def begin_taken_over_run(history: History, by: str) -> Run:
    """A run like any other, that begins in OCR; a second one at the same time is refused."""
    run = Run.objects.create(site_id=history.site_id, started_by=by, started_at=history.started_at)
    # The old system's months are not ours: in the history of stages, OCR begins with the take-over.
    RunStage.objects.create(run=run, stage=Stage.OCR, opened_at=timezone.now())
    return run


def record_taken_over(run: Run, history: History, rows: Sequence[DocumentState]) -> None:
    """Ledger rows that have ended, with the old system's times."""
    at = history.updated_at
    for row in rows:
        row.site_id, row.run = history.site_id, run
        row.created_at = row.updated_at = row.last_attempt_at = at
        row.processed_at = at if row.status == Status.PROCESSED else None
    DocumentState.objects.bulk_create(rows, batch_size=1000)


def stand_in_ocr(run: Run, history: History) -> Progress:
    """Point the site at the run, counters from its ledger, untouched since the old system's last move."""
    counted = ledger_counts(DocumentState.objects.filter(site_id=history.site_id, run=run))
    fetch, ocr = (counted.get(stage, Progress(0, 0, 0)) for stage in (Stage.FETCH, Stage.OCR))
    values: dict[str, Any] = {}
    for stage in WORK_STAGES:
        values |= _counts(stage)
    values |= {"fetch_total": fetch.total, "fetch_completed": fetch.completed}
    values |= {"ocr_total": ocr.total, "ocr_completed": ocr.completed, "ocr_failed": ocr.failed}
    if ocr.failed:
        message = f"TakenOver: {ocr.failed} of {ocr.total} documents have no text"
        values |= _last_error(Stage.OCR, message) | {"last_error_at": history.updated_at}
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


def reset_processed(site_id: str, row_ids: Sequence[int], intervention_id: int) -> int:
    """Rows whose file is gone are undone, for the next run to open. Refused while a run is going on."""
    with transaction.atomic():
        rows = DocumentState.objects.filter(pk__in=row_ids, site_id=site_id, status=Status.PROCESSED)
        reset = _reopen(rows, None, intervention_id=intervention_id)
        site = Site.objects.get(pk=site_id)
        if Run.objects.filter(site_id=site_id, status=Run.Status.RUNNING).exists():
            raise Fenced(f"{site_id} is in a run")
        if site.run_id:
            recount(site_id, site.run_id)
    return reset


def record_found(rows: Sequence[DocumentState]) -> None:
    """Rows of no run for files that were in storage and in no ledger."""
    now = timezone.now()
    for row in rows:
        row.status, row.attempt_count = Status.PROCESSED, 1
        row.created_at = row.updated_at = row.last_attempt_at = row.processed_at = now
    DocumentState.objects.bulk_create(rows)


# ---- The guards, and the statements of every successful finish ----------------------------------------


def _in_hand(row_id: Any, run_id: Any, token: Any) -> models.QuerySet[DocumentState]:
    return DocumentState.objects.filter(
        pk=row_id, run_id=run_id, attempt_token=token, status=Status.IN_PROGRESS
    )


def _in_wave(site_id: Any, run_id: Any, stage: Stage) -> models.QuerySet[Site]:
    return Site.objects.filter(pk=site_id, run_id=run_id, current_stage=current_stage_of(wave_of(stage)))


def _completed_in(stage: Stage) -> PreparedUpdate:
    counts: dict[str, Any] = {
        f"{stage}_completed": F(f"{stage}_completed") + 1,
        f"{stage}_total": F(f"{stage}_total") + Param("added", models.IntegerField()),
    }
    return PreparedUpdate(_in_wave(_SITE, _RUN, stage), updated_at=_NOW, **counts)


_SITE = Param("site", models.CharField())
_RUN = Param("run", models.BigIntegerField())
_NOW = Param("now", models.DateTimeField())
_CLOSE_PROCESSED = PreparedUpdate(
    _in_hand(Param("row", models.BigIntegerField()), _RUN, Param("token", models.UUIDField())),
    status=Status.PROCESSED,
    processed_at=_NOW,
    updated_at=_NOW,
    facts=Param("facts", models.JSONField()),
    attempt_token=None,
    error_code=None,
    error_message=None,
)
_COUNT_COMPLETED = {stage: _completed_in(stage) for stage in WORK_STAGES}
_CLAIM_COORDINATOR = PreparedUpdate(
    Site.objects.filter(_CURRENT_WAVE_COUNTED, pk=_SITE, run_id=_RUN, coordinator_enqueued=False),
    coordinator_enqueued=True,
    coordinator_seq=F("coordinator_seq") + 1,
    updated_at=_NOW,
)
