"""What a job costs beside its work: Clerk's workers, staying and forking, beside RQ's own."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

import django
import django_rq
from django.conf import settings
from django.db import connection, connections
from rq import Queue, SimpleWorker, Worker

JOBS = 300
# In turns, and the best of them: what else the machine does must not decide it.
TURNS = 2


@dataclass(frozen=True)
class Cost:
    """Of one job, in milliseconds."""

    wall: float
    cpu: float


def run(jobs: int = JOBS, turns: int = TURNS) -> dict[str, float]:
    """In a process and a database of its own."""
    name = f"bench_{uuid.uuid4().hex[:8]}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    head, _, options = os.environ["DATABASE_URL"].partition("?")
    url = f"{head.rpartition('/')[0]}/{name}" + (f"?{options}" if options else "")
    figures = _apart(url, "pg", jobs, turns)
    with tempfile.TemporaryDirectory() as folder:
        figures |= _apart(f"sqlite:///{folder}/bench.sqlite3", "sqlite", jobs, turns)
    return figures


def _apart(url: str, name: str, jobs: int, turns: int) -> dict[str, float]:
    environment = os.environ | {"DATABASE_URL": url, "DEBUG": "0"}
    command = [sys.executable, "-m", "benchmarks.jobs", name, str(jobs), str(turns)]
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(output.splitlines()[-1])


def compare(name: str, jobs: int, turns: int) -> dict[str, float]:
    ways: dict[str, Callable[[], Cost]] = {
        "staying": lambda: ours(StayingWorker, jobs),
        "forking": lambda: ours(PipelineWorker, jobs),
        "rq_fork": lambda: theirs(Worker, jobs),
        "rq_inprocess": lambda: theirs(SimpleWorker, jobs),
    }
    costs: dict[str, list[Cost]] = {way: [] for way in ways}
    for _ in range(turns):
        for way, measure in ways.items():
            costs[way].append(measure())
    wall = {way: min(cost.wall for cost in costs[way]) for way in ways}
    cpu = {way: min(cost.cpu for cost in costs[way]) for way in ways}
    prefix = "jobs" if name == "pg" else f"jobs.{name}"
    return {
        f"{prefix}.overhead_ms": wall["staying"],
        f"{prefix}.overhead_cpu_ms": cpu["staying"],
        f"{prefix}.forking_ms": wall["forking"],
        f"{prefix}.rq_fork_ms": wall["rq_fork"],
        f"{prefix}.rq_inprocess_ms": wall["rq_inprocess"],
        f"{prefix}.vs_rq_fork": wall["rq_fork"] / wall["staying"],
        f"{prefix}.vs_rq_inprocess": wall["staying"] / wall["rq_inprocess"],
    }


def ours(worker: type[Worker], jobs: int) -> Cost:
    """A run of a site whose OCR does nothing, by one worker, up to the last job of that stage."""
    site = _site(jobs)
    flow.start(site.pk, first=Stage.OCR)
    queue = django_rq.get_queue("ocr")
    cost = _cost(lambda: worker([queue], connection=queue.connection), jobs)
    site.refresh_from_db()
    if site.ocr_completed != jobs:
        raise RuntimeError(f"{site.ocr_completed} of {jobs} jobs are counted")
    site.delete()
    django_rq.get_connection("ocr").flushdb()
    return cost


def theirs(worker: type, jobs: int) -> Cost:
    redis = django_rq.get_connection("ocr")
    queue = Queue("bench", connection=redis, serializer="json")
    for _ in range(jobs):
        queue.enqueue(_trivial.nothing_at_all, result_ttl=3600)
    cost = _cost(lambda: worker([queue], connection=redis, serializer="json"), jobs)
    redis.flushdb()
    return cost


def _cost(make: Callable[[], Worker], jobs: int) -> Cost:
    """By a worker that runs until its queue is empty, in a process of its own."""
    connections.close_all()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            make().work(burst=True, logging_level="ERROR")
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("the worker ended badly")
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(1000 * wall / jobs, 1000 * cpu / jobs)


def nothing_at_all() -> None: ...


def _site(jobs: int) -> "Site":
    site = Site.objects.create(subdomain="bench.ca")
    now = timezone.now()
    documents = Document.objects.bulk_create(
        Document(site=site, external_id=str(number), meeting="Council") for number in range(jobs)
    )
    DocumentState.objects.bulk_create(
        DocumentState(
            site=site,
            document=each,
            pipeline=Stage.FETCH,
            status=Status.PROCESSED,
            processed_at=now,
            created_at=now,
            updated_at=now,
        )
        for each in documents
    )
    return site


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clerk_project.settings")
    django.setup()

from django.core.management import call_command  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks import _trivial  # noqa: E402
from pipeline import flow, order  # noqa: E402
from pipeline.models import DocumentState, Status  # noqa: E402
from pipeline.workers.staying import StayingWorker  # noqa: E402
from pipeline.workers.worker import PipelineWorker  # noqa: E402
from sites.models import Document, Site  # noqa: E402
from sites.stages import Stage  # noqa: E402

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    order.STEPS[Stage.OCR] = replace(order.STEPS[Stage.OCR], document_job=f"{_trivial.__name__}.nothing")
    settings.QUEUE_FUNCTIONS = [f"{_trivial.__name__}.*"]
    print(json.dumps(compare(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
