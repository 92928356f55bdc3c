"""What the old system left in the queue: coordinators that wait for ever, and OCR jobs that failed."""

import json
import pickletools
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from redis import Redis
from rq.job import Job

# The old system's jobs are functions of its own package, in its own queues: others may share this Redis.
PACKAGE = "clerk."
QUEUES = ("high", "default", "fetch", "ocr", "compilation", "extraction", "deploy")
# The last part of the function's dotted name, as in `clerk.workers.ocr_complete_coordinator` or
# `clerk.workers.ocr_page_job`.
COORDINATOR = re.compile(r"coordinator", re.IGNORECASE)
OCR = re.compile(r"^(?!.*coordinator).*ocr", re.IGNORECASE)
DEFERRED, FAILED_OCR = "rq:deferred:{}", "rq:failed:ocr"
# A job that moved on since it was put in the registry is alive, and not ours to remove.
RESTING = {b"deferred", b"failed", b"stopped", b"canceled", None}
BATCH = 500


@dataclass(frozen=True)
class Cleaned:
    coordinators: int
    ocr_jobs: int


def count(connection: Redis) -> Cleaned:
    return _each(connection, lambda registry, jobs: None)


def remove(connection: Redis) -> Cleaned:
    """Cancel and delete them, entry and job in one transaction: dying in between leaves no half of one."""

    def forget(registry: bytes, jobs: list[str]) -> None:
        with connection.pipeline() as pipe:
            pipe.zrem(registry, *jobs)
            for job_id in jobs:
                pipe.delete(*_keys_of(job_id))
            pipe.execute()

    return _each(connection, forget)


def _each(connection: Redis, do: Callable[[bytes, list[str]], None]) -> Cleaned:
    coordinators = 0
    for queue in QUEUES:
        coordinators += _each_in(connection, DEFERRED.format(queue).encode(), COORDINATOR, do)
    return Cleaned(coordinators, _each_in(connection, FAILED_OCR.encode(), OCR, do))


def _each_in(connection: Redis, registry: bytes, wanted: re.Pattern[str], do: Callable[..., None]) -> int:
    found, seen = 0, set()
    ids = (job_id.decode() for job_id, _ in connection.zscan_iter(registry, count=BATCH))
    while batch := list(islice(ids, BATCH)):
        # A scan may show an entry twice.
        matching = [job for job in _matching(connection, batch, wanted) if job not in seen]
        if matching:
            seen.update(matching)
            do(registry, matching)
            found += len(matching)
    return found


def _matching(connection: Redis, job_ids: list[str], wanted: re.Pattern[str]) -> Iterator[str]:
    with connection.pipeline(transaction=False) as pipe:
        for job_id in job_ids:
            pipe.hmget(Job.key_for(job_id), "data", "description", "status")
        for job_id, (data, description, status) in zip(job_ids, pipe.execute(), strict=True):
            name = function_name(data, description)
            # A job that has expired leaves its id in the registry, and only that to judge it by.
            is_theirs = name.startswith(PACKAGE) if name else True
            said = name.rpartition(".")[2] or job_id
            if is_theirs and status in RESTING and wanted.search(said):
                yield job_id


def function_name(data: bytes | None, description: bytes | None) -> str:
    """The job's function, without importing or unpickling: its code may not be here any more."""
    name = _first_text(_unpacked(data)) if data else ""
    return name or (description or b"").decode("utf-8", "replace").partition("(")[0].strip()


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error:
        return data


def _first_text(data: bytes) -> str:
    """rq stores (function, instance, arguments, named arguments), pickled or as JSON."""
    if data[:1] == b"[":
        try:
            return str(json.loads(data)[0])
        except (ValueError, IndexError):
            return ""
    try:
        return next((value for _, value, _ in pickletools.genops(data) if isinstance(value, str)), "")
    except ValueError:
        return ""


def _keys_of(job_id: str) -> list[str]:
    """By their names in Redis: rq itself refuses ids that its older versions took, such as `ocr-a.ca`."""
    dependencies = f"{Job.redis_job_namespace_prefix}:{job_id}:dependencies"
    ended = f"rq:results:{job_id}", f"rq:executions:{job_id}"
    return [Job.key_for(job_id), Job.dependents_key_for(job_id), dependencies, *ended]
