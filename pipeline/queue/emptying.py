"""Takes every job of Clerk's out of Redis: after a restore they are of an installation that is no more."""

import django_rq
from django.conf import settings
from redis.exceptions import RedisError
from rq.queue import Queue

from pipeline.queue.inspection import REGISTRIES
from pipeline.redaction import redact


def empty_queues() -> str:
    """Why it could not be done, in words; empty when it was. Reconcile sends again what is still to do."""
    try:
        for name in settings.RQ_QUEUES:
            _empty(django_rq.get_queue(name))
    except RedisError as error:
        return redact(
            f"Redis did not answer ({error}), so jobs of before may be in it: empty it before workers start"
        )
    return ""


def _empty(queue: Queue) -> None:
    queue.empty()
    for kind in REGISTRIES.values():
        registry = kind(queue=queue)
        for job_id in registry.get_job_ids(cleanup=False):
            registry.remove(job_id, delete_job=True)
