"""The one wrapper of every job: claim, work, finish; it alone times, logs, counts and catches."""

import functools
import signal
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import stamina
import structlog
from django.db import InterfaceError, OperationalError, connection
from redis.exceptions import RedisError
from rq import get_current_job
from rq.job import Job
from rq.timeouts import JobTimeoutException

from pipeline import dispatch, flow, job_log
from pipeline.errors import (
    LANGUAGE_MISSING,
    OUT_OF_TIME,
    Failure,
    Fenced,
    JobTimeout,
    PipelineError,
    Trouble,
    describe,
    trouble_of,
)
from pipeline.queue import job_tally, pauses, sending
from pipeline.state import groups, ledger, retry, runs
from pipeline.state.attempt import Attempt, Finished, Outcome
from sites.stages import Stage

log = structlog.get_logger()
WorkFunction = Callable[[Attempt], Finished | None]


def job(stage: Stage) -> Callable[[WorkFunction], Callable[[int, int, int], None]]:
    """Turn plain work into a queue job of this stage that runs once, counts once and moves the site on."""

    def wrap(work: WorkFunction) -> Callable[[int, int, int], None]:
        @functools.wraps(work)
        def entry(row_id: int, run_id: int, seq: int) -> None:
            run_job(stage, work, row_id, run_id, seq)

        return entry

    return wrap


def run_job(stage: Stage, work: WorkFunction, row_id: int, run_id: int, seq: int) -> None:
    rq_job = get_current_job()
    job_id = rq_job.id if rq_job else sending.job_id(stage, row_id, run_id, seq)
    attempt = patiently(ledger.claim, row_id, run_id, seq, job_id, _delivery(rq_job), uuid.uuid4(), stage)
    if attempt is None:
        return log.info("job skipped", stage=stage, row=row_id, run=run_id, job=job_id)
    # Every line that is logged from here on says whose it is.
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(
        stage=stage.value, site=attempt.site_id, run=run_id, job=job_id, attempt=attempt.number
    )
    with job_log.of_job(run_id, row_id, stage, job_id):
        try:
            outcome = _attempt(work, attempt, rq_job)
        except Fenced as fenced:
            return log.info(
                "job fenced off", stage=stage, site=attempt.site_id, run=run_id, job=job_id, why=str(fenced)
            )
        _follow_up(attempt, outcome)
        log.info(
            "job finished",
            stage=stage,
            site=attempt.site_id,
            run=run_id,
            job=job_id,
            outcome=outcome.status,
            seconds=attempt.elapsed(),
        )
    structlog.contextvars.clear_contextvars()


def coordinate(site_id: str, run_id: int) -> None:
    """Move the site on; an exception is left to the queue, and shown on the site."""
    with job_log.of_job(run_id, None, "coordinator", f"coordinate-{run_id}"):
        try:
            patiently(flow.advance, site_id, run_id)
        except Exception as error:
            patiently(runs.note_error, site_id, run_id, describe(error).message)
            log.error("the site could not be moved on", site=site_id, run=run_id, exc_info=True)
            raise
        log.info("the site was moved on", site=site_id, run=run_id)


def _delivery(rq_job: Job | None) -> int:
    """Which delivery of the queue job this is: each costs it one of its retries."""
    if rq_job is None or rq_job.retries_left is None:
        return 0
    return sending.redeliveries() - rq_job.retries_left


def _attempt(work: WorkFunction, attempt: Attempt, rq_job: Job | None) -> Outcome:
    if attempt.lost_its_workers:
        return _failed(attempt, retry.worker_lost(attempt.deaths))
    try:
        finished = work(attempt) or Finished()
        attempt.noted |= finished.facts
        _disarm()
        outcome = patiently(ledger.finish_processed, attempt, finished)
        pauses.lift(attempt.stage)
        return outcome
    except Fenced:
        raise
    except JobTimeoutException as error:
        return _failed(attempt, _out_of_time(attempt, describe(JobTimeout(str(error)))))
    except PipelineError as error:  # expected: the ledger is the record
        return _failed(attempt, _out_of_time(attempt, describe(error)))
    except (OperationalError, InterfaceError, RedisError) as error:
        return _failed(attempt, _shared_trouble(error))
    except Exception as error:  # a bug: recorded, and left to the queue with its traceback
        if trouble_of(error):
            return _failed(attempt, describe(error))
        log.error("unexpected error", stage=attempt.stage, site=attempt.site_id, exc_info=True)
        outcome = _failed(attempt, describe(error))
        _follow_up(attempt, outcome)
        if rq_job is not None:
            rq_job.retries_left = 0
        raise


def _shared_trouble(error: Exception) -> Failure:
    code = "redis" if isinstance(error, RedisError) else "database"
    return replace(describe(error), code=code, trouble=Trouble.TARGET)


def _failed(attempt: Attempt, failure: Failure) -> Outcome:
    _disarm()
    attempt.noted["code"] = failure.code
    if failure.trouble is not None and failure.code != LANGUAGE_MISSING:
        where = pauses.EVERYWHERE if failure.trouble is Trouble.TARGET else pauses.this_machine()
        pauses.pause(attempt.stage, where, failure.message)
    kind = patiently(groups.kind_of, attempt, failure)
    outcome: Outcome = patiently(ledger.finish_failed, attempt, replace(failure, group=kind.fingerprint))
    patiently(groups.note, kind)
    log.warning(
        "attempt failed",
        stage=attempt.stage,
        site=attempt.site_id,
        run=attempt.run_id,
        attempt=attempt.number,
        code=failure.code,
        message=failure.message,
        final=outcome.retry_at is None,
    )
    return outcome


def _out_of_time(attempt: Attempt, failure: Failure) -> Failure:
    """A long document that resumes page by page needs several limits' worth of time; one that hangs none."""
    if failure.code not in OUT_OF_TIME:
        return failure
    return replace(failure, retryable=attempt.got_further, got_further=attempt.got_further)


def _disarm() -> None:
    """The limit is for the work: an alarm inside the finishing transaction would only lose the result."""
    signal.alarm(0)


def _follow_up(attempt: Attempt, outcome: Outcome) -> None:
    """After the commit: what this finish set free is queued. Lost here, reconcile finds it."""
    job_tally.note(attempt.stage, outcome.status, attempt.elapsed(), attempt.noted)
    if outcome.coordinator_seq is not None:
        sending.send_coordinator(attempt.site_id, attempt.run_id, outcome.coordinator_seq)
    if outcome.added:
        dispatch.deliver_ids(outcome.added)
    if outcome.retry_at is not None:
        dispatch.deliver_ids([attempt.row_id])


def patiently(call: Callable[..., Any], *arguments: Any) -> Any:
    """Over a restart of the database or a deadlock: the statements are guarded, so trying again is safe."""
    for attempt in stamina.retry_context(
        on=(OperationalError, InterfaceError), attempts=6, timeout=45, wait_max=10
    ):
        with attempt:
            if attempt.num > 1:
                connection.close()
            return call(*arguments)
