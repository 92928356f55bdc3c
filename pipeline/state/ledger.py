"""The atomic operations that every job runs on: each change is one guarded UPDATE, its row count the answer.

Whoever writes several tables does so in one order, ledger, run, its stages, site, and so cannot deadlock.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.db import connection, models, transaction
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When
from django.utils import timezone

from pipeline.errors import Failure, Fenced
from pipeline.models import DocumentState, Status
from pipeline.state import retry
from pipeline.state.attempt import Attempt, Finished, Outcome
from pipeline.state.counters import CURRENT_WAVE_COUNTED, last_error, one_more
from pipeline.state.guards import in_hand, in_wave, only_if
from sites.models import Document, Site
from sites.stages import Stage

SITE_UNIT = "site"
# Rows that are inserted at once: well under a second, even on SQLite, where everybody waits meanwhile.
SLICE = 5000
Item = TypeVar("Item")


# ---- Open: rows as pending, before anything is queued -------------------------------------------------


@dataclass(frozen=True)
class Work:
    """What a stage has to do in this run: units of the site, and documents."""

    units: Sequence[str] = ()
    documents: models.QuerySet[Document] | None = None


def prepare_rows(site_id: str, stage: str, documents: models.QuerySet[Document]) -> None:
    """Rows of no run yet for documents that have none, in slices: no other writer waits for all of them."""
    last = 0
    while True:
        missing = _without_row(documents, stage).filter(pk__gt=last).order_by("pk")
        slice_end = missing.values_list("pk", flat=True)[SLICE - 1 : SLICE].first()
        if slice_end is None:
            return  # what is left is little, and is inserted when the stage opens
        with transaction.atomic():
            _insert(site_id, stage, missing.filter(pk__lte=slice_end))
        last = slice_end


def open_stage(site_id: str, run_id: int, stage: str, work: Work) -> int:
    """Ledger rows of the stage as pending under this run; how many. Processed documents stay as they are.

    By the database alone: neither time nor memory here grow with what each row would take.
    """
    rows = DocumentState.objects.filter(site_id=site_id, pipeline=stage)
    new: dict[str, Any] = {"site_id": site_id, "run_id": run_id, "pipeline": stage}
    units = rows.filter(document=None, unit__in=work.units)
    _open(units, run_id, [DocumentState(unit=unit, **new) for unit in work.units])
    if work.documents is not None:
        _open_documents(site_id, run_id, stage, work.documents)
    return rows.filter(run_id=run_id).count()


def _open_documents(site_id: str, run_id: int, stage: str, documents: models.QuerySet[Document]) -> None:
    _insert(site_id, stage, _without_row(documents, stage))
    rows = DocumentState.objects.filter(site_id=site_id, pipeline=stage)
    wanted = rows.filter(document_id__in=documents.values("pk")).exclude(status=Status.PROCESSED)
    fresh = Q(status=Status.PENDING, run=None, attempt_count=0, enqueue_seq=0)
    reopen(wanted.exclude(run_id=run_id).exclude(fresh), run_id)
    wanted.filter(fresh).update(run_id=run_id)


def _without_row(documents: models.QuerySet[Document], stage: str) -> models.QuerySet[Document]:
    return documents.exclude(Exists(DocumentState.objects.filter(document=OuterRef("pk"), pipeline=stage)))


def _insert(site_id: str, stage: str, documents: models.QuerySet[Document]) -> None:
    """INSERT … SELECT: a row of no run for each of them, with the columns' own defaults for all else."""
    now = timezone.now()
    values = {
        "subdomain": Value(site_id, models.CharField()),
        "pipeline": Value(str(stage), models.CharField()),
        "created_at": Value(now, models.DateTimeField()),
        "updated_at": Value(now, models.DateTimeField()),
        "facts": Value({}, models.JSONField()),
    }
    aliased = {f"new_{name}": value for name, value in values.items()}
    select, params = documents.annotate(**aliased).values_list("pk", *aliased).query.sql_with_params()
    columns = ", ".join(connection.ops.quote_name(name) for name in ("document_id", *values))
    table = connection.ops.quote_name(DocumentState._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({columns}) {select} ON CONFLICT DO NOTHING", params)


def add_rows(site_id: str, run_id: int, stage: str, documents: Sequence[int]) -> list[int]:
    """More rows of a stage that is open, by id."""
    new: dict[str, Any] = {"site_id": site_id, "run_id": run_id, "pipeline": stage}
    rows, opened = DocumentState.objects.filter(site_id=site_id, pipeline=stage), []
    for some in batches(documents, 500):
        free = rows.filter(document_id__in=some).exclude(~Q(run_id=run_id), status=Status.PROCESSED)
        opened += _open(free, run_id, [DocumentState(document_id=pk, **new) for pk in some])
    return opened


def _open(rows: models.QuerySet[DocumentState], run_id: int, missing: list[DocumentState]) -> list[int]:
    mine = rows.filter(run_id=run_id).order_by("pk").values_list("pk", flat=True)
    already = set(mine)
    reopen(rows.exclude(run_id=run_id), run_id)
    for row in missing:
        row.created_at = row.updated_at = timezone.now()
    DocumentState.objects.bulk_create(missing, ignore_conflicts=True)
    return [pk for pk in mine.all() if pk not in already]


def reopen(rows: models.QuerySet[DocumentState], run_id: int | None, **more: Any) -> int:
    return rows.update(
        status=Status.PENDING,
        run_id=run_id,
        attempt_count=0,
        worker_deaths=0,
        resumptions=0,
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


def batches(items: Sequence[Item], size: int) -> Iterable[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))


# ---- Claim --------------------------------------------------------------------------------------------


def claim(
    row_id: int,
    run_id: int,
    seq: int,
    job_id: str,
    delivery: int,
    token: uuid.UUID | None = None,
    stage: Stage | None = None,
) -> Attempt | None:
    """Take the row for this queue job, or None: it is done, somebody else's, or of another run.

    Asked again with the same token, after an answer that was lost, it finds what it has taken already.
    `stage` is the one whose work the job does: in a queue that is newer than a restored database the same
    numbers may stand for a row of another.
    """
    current = Site.objects.filter(pk=OuterRef("site_id"), run_id=run_id, paused_at=None)
    waiting = Q(status__in=Status.WAITING, enqueue_seq=seq)
    # The queue delivers a job again when its worker died: a later delivery of the same job takes over.
    redelivered = Q(status=Status.IN_PROGRESS, rq_job_id=job_id, delivery__lt=delivery)
    token, now = token or uuid.uuid4(), timezone.now()
    mine = {"run_id": run_id} | ({"pipeline": stage} if stage else {})
    free = only_if(waiting | redelivered, **mine)
    DocumentState.objects.filter(free, Exists(current), pk=row_id).update(
        status=Status.IN_PROGRESS,
        attempt_token=token,
        attempt_count=F("attempt_count") + 1,
        worker_deaths=F("worker_deaths") + Case(When(status=Status.IN_PROGRESS, then=1), default=0),
        rq_job_id=job_id,
        delivery=delivery,
        last_attempt_at=now,
        retry_at=None,
        updated_at=now,
    )
    row = in_hand(row_id, run_id, token).first()
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
        row.worker_deaths,
        row.resumptions,
    )


# ---- Finish: ledger first, then the site, then the claim, in one transaction --------------------------


def finish_processed(attempt: Attempt, finished: Finished) -> Outcome:
    with transaction.atomic():
        _close(
            attempt,
            status=Status.PROCESSED,
            processed_at=timezone.now(),
            facts={**finished.facts, "seconds": attempt.elapsed()},
            **_no_error(attempt),
        )
        added = _grow(attempt, finished.record() or ()) if finished.record else []
        _count(attempt, **one_more(attempt.stage, "completed"), **_grown(attempt, len(added)))
        seq = claim_coordinator(attempt.site_id, attempt.run_id)
    return Outcome(Status.PROCESSED, seq, added)


def _grow(attempt: Attempt, documents: Sequence[Document]) -> list[int]:
    return add_rows(attempt.site_id, attempt.run_id, attempt.stage, [document.pk for document in documents])


def _no_error(attempt: Attempt) -> dict[str, Any]:
    """A first attempt has none to clear, and SQLite would write that column's index again all the same."""
    return {"error_code": None, "error_message": None} if attempt.number > 1 else {}


def _grown(attempt: Attempt, by: int) -> dict[str, Any]:
    return {f"{attempt.stage}_total": F(f"{attempt.stage}_total") + by} if by else {}


def finish_failed(attempt: Attempt, failure: Failure) -> Outcome:
    """Retryable while attempts are left (or the attempt got further than the one before), else terminal."""
    if failure.trouble is not None:
        return _put_back(attempt, failure)
    again = retry.may_try_again(attempt, failure)
    return _fail_for_now(attempt, failure) if again else _fail_for_good(attempt, failure)


def _fail_for_now(attempt: Attempt, failure: Failure) -> Outcome:
    # What got further is alive, whatever became of its workers before.
    resumed = {
        "resumptions": F("resumptions") + 1,
        "worker_deaths": 0,
        "attempt_count": attempt.number - attempt.deaths,
    }
    again = resumed if failure.got_further else {}
    return _wait(attempt, failure, timezone.now() + retry.backoff(attempt, failure), **again)


def _put_back(attempt: Attempt, failure: Failure) -> Outcome:
    """As if it had not been tried: the machine or a target failed, not the document."""
    not_charged = {"attempt_count": F("attempt_count") - 1}
    return _wait(attempt, failure, timezone.now() + retry.wait_out(failure), **not_charged)


def _wait(attempt: Attempt, failure: Failure, retry_at: datetime, **values: Any) -> Outcome:
    with transaction.atomic():
        _close(
            attempt,
            status=Status.FAILED_RETRYABLE,
            enqueue_seq=F("enqueue_seq") + 1,
            retry_at=retry_at,
            error_code=failure.code,
            error_message=failure.message,
            error_group=failure.group,
            **values,
        )
        _count(attempt, updated_at=timezone.now(), **last_error(attempt.stage, failure.message))
    return Outcome(Status.FAILED_RETRYABLE, retry_at=retry_at)


def _fail_for_good(attempt: Attempt, failure: Failure) -> Outcome:
    with transaction.atomic():
        told = {"error_code": failure.code, "error_message": failure.message, "error_group": failure.group}
        _close(attempt, status=Status.FAILED_TERMINAL, **told)
        _count(attempt, **one_more(attempt.stage, "failed"), **last_error(attempt.stage, failure.message))
        seq = claim_coordinator(attempt.site_id, attempt.run_id)
    return Outcome(Status.FAILED_TERMINAL, seq)


def _close(attempt: Attempt, **values: Any) -> None:
    row = in_hand(attempt.row_id, attempt.run_id, attempt.token)
    if not row.update(attempt_token=None, updated_at=timezone.now(), **values):
        raise Fenced(f"row {attempt.row_id} was taken over")


def _count(attempt: Attempt, **values: Any) -> None:
    if not in_wave(attempt.site_id, attempt.run_id, attempt.stage).update(**values):
        raise Fenced(_gone(attempt))


def _gone(attempt: Attempt) -> str:
    return f"{attempt.site_id} is not in run {attempt.run_id}, {attempt.stage}, any more"


# ---- Coordinate ---------------------------------------------------------------------------------------


def claim_coordinator(site_id: str, run_id: int) -> int | None:
    """The sequence under which to enqueue the coordinator, for exactly one caller of this run and wave."""
    unclaimed = only_if(CURRENT_WAVE_COUNTED, run_id=run_id, coordinator_enqueued=False)
    claimed = Site.objects.filter(unclaimed, pk=site_id).update(
        coordinator_enqueued=True, coordinator_seq=F("coordinator_seq") + 1, updated_at=timezone.now()
    )
    return coordinator_seq(site_id) if claimed else None


def coordinator_seq(site_id: str) -> int:
    return Site.objects.values_list("coordinator_seq", flat=True).get(pk=site_id)
