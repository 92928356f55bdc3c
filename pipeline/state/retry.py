"""When a failed attempt may be made again, and after how long."""

import random
from datetime import timedelta

from django.conf import settings

from pipeline.errors import LANGUAGE_MISSING, WORKER_LOST, Failure
from pipeline.state.attempt import Attempt

# Work that resumes where it was cut off may take this many times the usual attempts, while it gets further.
MOST_RESUMPTIONS = 10


# Trouble of a machine is met again at once by whoever is well; one of its data may take a person.
SOON, LATER = timedelta(seconds=15), timedelta(minutes=15)


def may_try_again(attempt: Attempt, failure: Failure) -> bool:
    """Failures of the work and resumptions are bounded apart; dead workers are counted elsewhere."""
    if failure.got_further:
        return failure.retryable and attempt.resumptions < settings.MAX_ATTEMPTS * MOST_RESUMPTIONS
    return failure.retryable and attempt.failures < settings.MAX_ATTEMPTS


def worker_lost(number: int) -> Failure:
    return Failure(
        WORKER_LOST,
        f"WorkerLost: {number} workers died on this document; it may exhaust memory",
        retryable=False,
    )


def backoff(attempt: Attempt, failure: Failure) -> timedelta:
    """None after progress: what got further goes on from there."""
    if failure.got_further:
        return timedelta(0)
    return backoff_after(attempt.failures, failure.retry_after)


def wait_out(failure: Failure) -> timedelta:
    """Until trouble that is not the document's may be over. Its queue waits longer, where that helps."""
    return LATER if failure.code == LANGUAGE_MISSING else SOON


def backoff_after(attempt: int, retry_after: float | None) -> timedelta:
    wait = settings.RETRY_BACKOFF_SECONDS * 4 ** (attempt - 1) * random.uniform(0.9, 1.1)
    return timedelta(seconds=min(max(wait, retry_after or 0), 6 * 3600))
