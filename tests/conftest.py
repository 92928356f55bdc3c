"""What every test may ask for: sites, documents, and workers that run the queue empty."""

import os
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import django_rq
import pytest
from django.db import connection, connections
from django.utils import timezone
from rq import SimpleWorker
from rq.registry import ScheduledJobRegistry

from pipeline import order
from pipeline.models import DocumentState, Run, Status
from pipeline.state.counters import ledger_counts
from pipeline.workers.doors import AllowedJob, serializer
from pipeline.workers.worker import PipelineWorker
from sites.models import Document, Site, Source
from sites.stages import WORK_STAGES, Progress
from tests import trivial

QUEUES = ("high", "fetch", "ocr", "compilation", "extraction", "deploy", "webhooks")


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, settings) -> None:
    settings.STORAGE_DIR = tmp_path / "storage"
    settings.DEPLOY_DIR = tmp_path / "deployed"
    settings.SEARCH_INDEX_DIR = tmp_path / "index"
    settings.RECORDS_IMAGE_CACHE_DIR = tmp_path / "images"
    settings.RETRY_BACKOFF_SECONDS = 0


@pytest.fixture(autouse=True)
def empty_queues() -> Iterator[None]:
    """Every test begins with an empty Redis, which is the suite's own."""
    django_rq.get_connection("high").flushdb()
    yield


@pytest.fixture
def trivial_jobs(monkeypatch, settings) -> None:
    """The real flow with jobs that do next to nothing."""
    for stage, step in trivial.STEPS.items():
        monkeypatch.setitem(order.STEPS, stage, step)
    settings.QUEUE_FUNCTIONS = [trivial.FUNCTIONS]


@pytest.fixture
def make_site(db) -> Callable[..., Site]:
    """A site with one source that lists documents with these titles; `make_site(titles=["ok", "bad"])`."""

    def make(subdomain: str = "alameda.ca", titles: list[str] | None = None, **values) -> Site:
        site = Site.objects.create(subdomain=subdomain, name=subdomain.title(), state="CA", **values)
        if titles is not None:
            Source.objects.create(
                site=site, platform="generic", url=f"http://{subdomain}.test/", options={"titles": titles}
            )
        return site

    return make


@pytest.fixture
def make_documents(db) -> Callable[..., list[Document]]:
    """Documents of a site that are fetched already, each with a processed fetch row of no run."""

    def make(site: Site, titles: list[str]) -> list[Document]:
        documents = Document.objects.bulk_create(
            Document(
                site=site,
                external_id=f"{site.pk}-{number}",
                title=title,
                meeting="Council",
                kind="minutes",
                path=f"pdfs/Council/{number}.pdf",
            )
            for number, title in enumerate(titles)
        )
        now = timezone.now()
        DocumentState.objects.bulk_create(
            DocumentState(
                site=site,
                document=document,
                pipeline="fetch",
                status=Status.PROCESSED,
                attempt_count=1,
                processed_at=now,
                created_at=now,
                updated_at=now,
            )
            for document in documents
        )
        return documents

    return make


class DeafWorker:
    """Takes no orders from outside. RQ waits up to a second for the thread that listens for them to end."""

    def subscribe(self) -> None: ...


class WorkerHere(DeafWorker, SimpleWorker):
    """Through the same doors as the product's workers, which fork."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs | {"job_class": AllowedJob, "serializer": serializer})


class ForkingWorker(DeafWorker, PipelineWorker): ...


@pytest.fixture
def run_jobs() -> Callable[..., None]:
    """Workers that run until every queue is empty: in this process, or forked as in production."""

    def run(*, fork: bool = False, only: str = "", rounds: int = 50) -> None:
        worker_class = ForkingWorker if fork else WorkerHere
        for _ in range(rounds):
            queues = [django_rq.get_queue(name) for name in QUEUES if only in ("", name)]
            if not any(queue.job_ids for queue in queues):
                return
            if fork:
                connections.close_all()  # a forked work-horse must not share our connection
            worker_class(queues, connection=queues[0].connection).work(burst=True, logging_level="ERROR")
        raise AssertionError("the queues did not run empty")

    return run


@pytest.fixture
def queued() -> Callable[[str], list[str]]:
    return lambda name: django_rq.get_queue(name).job_ids


@pytest.fixture
def scheduled() -> Callable[[str], list[str]]:
    return lambda name: ScheduledJobRegistry(queue=django_rq.get_queue(name)).get_job_ids(cleanup=False)


@pytest.fixture
def in_processes() -> Callable[..., list[int]]:
    """Run `work(number)` in this many forked processes at once; their exit codes."""

    def run(count: int, work: Callable[[int], None]) -> list[int]:
        connections.close_all()
        django_rq.get_connection("high").connection_pool.disconnect()
        children = []
        for number in range(count):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    work(number)
                    code = 0
                finally:
                    connections.close_all()
                    os._exit(code)
            children.append(child)
        return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]

    return run


@pytest.fixture
def lose_the_database() -> Callable[[], None]:
    """What a restart of PostgreSQL does to a job. SQLite has no server that could go away."""
    if connection.vendor != "postgresql":
        pytest.skip("a file cannot hang up")

    def lose() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            (backend,) = cursor.fetchone()
        with connection.copy().cursor() as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
            other.db.close()

    return lose


def wait_for(file: Path) -> None:
    """One process's sign to another."""
    deadline = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < deadline, f"{file.name} did not come"
        time.sleep(0.02)


def assert_counters_equal_ledger(but: Collection[str] = ()) -> None:
    """The invariant: the counters of every site are the counts of its current run's ledger rows.

    But not of sites that are another system's still.
    """
    for site in Site.objects.exclude(pk__in=but):
        rows = DocumentState.objects.filter(site=site, run_id=site.run_id or 0)
        counted = ledger_counts(rows)
        for stage in WORK_STAGES:
            assert site.progress(stage) == counted.get(stage, Progress(0, 0, 0)), (site, stage)


def assert_each_transition_once(run: Run) -> None:
    stages = list(run.stages.values_list("stage", flat=True))
    assert len(stages) == len(set(stages))
