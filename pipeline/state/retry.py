"""When a failed attempt may be made again, and after how long."""

import random
from datetime import timedelta

from django.conf import settings

from pipeline.errors import WORKER_LOST, Failure

# Work that resumes where it was cut off may take this many times the usual attempts, while it gets further.
MOST_RESUMPTIONS = 10


def may_try_again(number: int, failure: Failure) -> bool:
    most = settings.MAX_ATTEMPTS * (MOST_RESUMPTIONS if failure.got_further else 1)
    return failure.retryable and number < most


def worker_lost(number: int) -> Failure:
    return Failure(
        WORKER_LOST,
        f"WorkerLost: {number} workers died on this document; it may exhaust memory",
        retryable=False,
    )


def backoff(attempt: int, retry_after: float | None) -> timedelta:
    wait = settings.RETRY_BACKOFF_SECONDS * 4 ** (attempt - 1) * random.uniform(0.9, 1.1)
    return timedelta(seconds=min(max(wait, retry_after or 0), 6 * 3600))
