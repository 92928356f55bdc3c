"""What a worker takes from Redis: plain data, and the names of functions that it may run."""

from types import FunctionType
from typing import Any

from django.conf import settings
from rq.job import Job
from rq.serializers import JSONSerializer

import pipeline.jobs

# Pickle, RQ's default, runs code while it is read: who can write to Redis would own every worker.
serializer = JSONSerializer
OURS = "pipeline.jobs"


class ForbiddenFunction(Exception):
    """Somebody put a job into the queue that is none of ours."""


def is_allowed(function: str | None) -> bool:
    """A function of `pipeline.jobs` itself, not something it imports; or what the settings name."""
    module, _, name = (function or "").rpartition(".")
    if module == OURS:
        found = vars(pipeline.jobs).get(name)
        return isinstance(found, FunctionType) and found.__module__ == OURS
    return any(allowed in (function, f"{module}.*") for allowed in settings.QUEUE_FUNCTIONS)


class AllowedJob(Job):
    def _execute(self) -> Any:
        if self.instance is not None or not is_allowed(self.func_name):
            raise ForbiddenFunction(f"{self.func_name} is not a job of Clerk's, nor named in QUEUE_FUNCTIONS")
        return super()._execute()

    # RQ would import and call these by the names that Redis has. Clerk uses none.
    @property
    def success_callback(self) -> None:
        return None

    @property
    def failure_callback(self) -> None:
        return None

    @property
    def stopped_callback(self) -> None:
        return None
