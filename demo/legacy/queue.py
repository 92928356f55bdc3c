"""Jobs as the old system left them in Redis, under the names of functions that exist nowhere any more."""

from collections.abc import Callable
from itertools import islice

from redis import Redis
from rq import Queue
from rq.job import Job, JobStatus
from rq.registry import DeferredJobRegistry, FailedJobRegistry

COORDINATOR = "clerk.workers.ocr_complete_coordinator"
OCR_JOBS = ("clerk.workers.ocr_document_job", "clerk.workers.ocr_page_job")
# Neither a deferred coordinator nor a failed OCR job, though they lie beside them.
OTHERS = (
    ("ocr", "failed", "clerk.workers.cleanup_job"),
    ("ocr", "failed", COORDINATOR),
    ("ocr", "deferred", OCR_JOBS[0]),
    ("default", "queued", OCR_JOBS[0]),
    ("fetch", "failed", "clerk.workers.fetch_site_job"),
    ("extraction", "failed", OCR_JOBS[0]),
    ("compilation", "deferred", "clerk.workers.db_compilation_job"),
    ("default", "queued", COORDINATOR),
    ("ocr", "failed", "pipeline.jobs.ocr_document"),
)


def add_job(connection: Redis, queue: str, status: str, function: str, *arguments: str) -> str:
    job = Job.create(function, args=arguments, connection=connection, origin=queue, status=JobStatus(status))
    place = Queue(queue, connection=connection)
    with connection.pipeline() as pipe:
        pipe.sadd(Queue.redis_queues_keys, place.key)
        job.save(pipeline=pipe)
        if status == "deferred":
            DeferredJobRegistry(queue, connection=connection).add(job, ttl=-1, pipeline=pipe)
        elif status == "failed":
            FailedJobRegistry(queue, connection=connection).add(job, ttl=-1, pipeline=pipe)
        else:
            place.push_job_id(job.id, pipeline=pipe)
        pipe.execute()
    return job.id


def leave_jobs(connection: Redis, sites: list[str], coordinators: int, ocr_jobs: int) -> list[str]:
    """That many of each, spread over the sites, and jobs of other kinds; the ids of the latter."""
    for site in islice(sites, coordinators):
        add_job(connection, "ocr", "deferred", COORDINATOR, site)
    for number in range(ocr_jobs):
        site, function = sites[number % len(sites)], OCR_JOBS[number % len(OCR_JOBS)]
        add_job(connection, "ocr", "failed", function, site, f"page-{number}")
    return [add_job(connection, queue, status, function, "kept") for queue, status, function in OTHERS]


def snapshot(connection: Redis) -> dict[bytes, object]:
    """Every key with its content, to compare before and after."""
    read: dict[bytes | str, Callable[[bytes], object]] = {
        b"hash": connection.hgetall,
        b"zset": lambda key: connection.zrange(key, 0, -1, withscores=True),
        b"list": lambda key: connection.lrange(key, 0, -1),
        b"set": connection.smembers,
        b"string": connection.get,
        b"stream": connection.xrange,
    }
    return {key: read[connection.type(key)](key) for key in connection.scan_iter(count=1000)}
