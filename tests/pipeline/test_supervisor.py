"""`manage.py workers` with a real Redis and real forked workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil
import pytest
import redis
from django.conf import settings
from rq import Queue

from pipeline.workers import worker as worker_module
from pipeline.workers.supervisor import default_counts, restart_delay
from pipeline.workers.worker import PipelineWorker
from tests.pipeline import worker_jobs

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def queue_url() -> Iterator[str]:
    """A Redis database of our own, beside the one that the other tests use."""
    parts = urlsplit(settings.REDIS_URL)
    path = parts.path if parts.scheme == "unix" else "/9"
    query = "db=9" if parts.scheme == "unix" else parts.query
    url = urlunsplit((parts.scheme, parts.netloc, path, query, ""))
    # The unix scheme has no authority, and urlunsplit drops its empty one.
    url = url if "://" in url else url.replace(":", "://", 1)
    connection = redis.Redis.from_url(url)
    connection.flushdb()
    yield url
    connection.flushdb()


@pytest.fixture
def queue(queue_url: str) -> Callable[[str], Queue]:
    return lambda name: Queue(name, connection=redis.Redis.from_url(queue_url), serializer="json")


@pytest.fixture
def start(queue_url: str) -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def start_workers(*arguments: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "manage.py", "workers", *arguments]
        functions = "tests.pipeline.worker_jobs.*"
        environ = os.environ | {"REDIS_URL": queue_url, "DEBUG": "1", "QUEUE_FUNCTIONS": functions}
        process = subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=environ, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start_workers
    for process in started:
        process.kill()
        process.communicate()


def until(question: Callable[[], object], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < deadline, f"not true within {seconds} s"
        time.sleep(0.05)


def family(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def workers_of(queue: Queue) -> list[int]:
    pids = [worker.pid or 0 for worker in PipelineWorker.all(queue=queue)]
    return [pid for pid in pids if psutil.pid_exists(pid)]


def test_a_killed_worker_is_replaced_and_goes_on_working(
    start: Start, queue: Callable[[str], Queue], tmp_path: Path
) -> None:
    start("high=1")
    until(lambda: workers_of(queue("high")))
    (first,) = workers_of(queue("high"))

    os.kill(first, signal.SIGKILL)
    # Until it is really gone Redis may still hand it the job, which then waits for the next maintenance.
    until(lambda: not psutil.pid_exists(first))
    queue("high").enqueue(worker_jobs.note, str(tmp_path), "after")

    until((tmp_path / "after").exists)
    assert first not in workers_of(queue("high"))


def test_each_worker_has_one_queue_and_each_queue_its_count(
    start: Start, queue: Callable[[str], Queue]
) -> None:
    start("high=1", "fetch=2")

    until(lambda: len(workers_of(queue("fetch"))) == 2 and workers_of(queue("high")))

    assert {len(worker.queues) for worker in PipelineWorker.all(connection=queue("high").connection)} == {1}


def test_a_stop_lets_the_running_job_finish_and_leaves_nothing(
    start: Start, queue: Callable[[str], Queue], tmp_path: Path
) -> None:
    process = start("ocr=1", "high=1")
    queue("ocr").enqueue(worker_jobs.sleep_between_notes, str(tmp_path), 1)
    until((tmp_path / "begun").exists)
    processes = family(process)

    process.send_signal(signal.SIGTERM)

    assert process.wait(20) == 0
    assert (tmp_path / "ended").exists()
    assert psutil.wait_procs(processes, timeout=1)[1] == []
    assert PipelineWorker.count(connection=queue("ocr").connection) == 0


@pytest.mark.parametrize("how", ["a second signal", "the grace"])
def test_a_hard_stop_cuts_the_job_off(
    start: Start, queue: Callable[[str], Queue], tmp_path: Path, how: str
) -> None:
    process = start("ocr=1", *(["--grace", "0.5"] if how == "the grace" else []))
    queue("ocr").enqueue(worker_jobs.sleep_between_notes, str(tmp_path), 120)
    until((tmp_path / "begun").exists)
    processes = family(process)

    process.send_signal(signal.SIGTERM)
    if how == "a second signal":
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)

    assert process.wait(20) == 0
    assert psutil.wait_procs(processes, timeout=1)[1] == []
    assert not (tmp_path / "ended").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_workers_do_not_outlive_a_killed_supervisor(
    start: Start, queue: Callable[[str], Queue], tmp_path: Path
) -> None:
    process = start("ocr=1")
    until(lambda: workers_of(queue("ocr")))
    processes = family(process)

    process.kill()

    assert psutil.wait_procs(processes, timeout=10)[1] == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_a_job_and_the_reader_kept_warm_for_it_do_not_outlive_their_killed_worker(
    start: Start, queue: Callable[[str], Queue], tmp_path: Path
) -> None:
    start("ocr=1")
    queue("ocr").enqueue(worker_jobs.sleep_between_notes, str(tmp_path), 60)
    until((tmp_path / "begun").exists)
    horse = psutil.Process(int((tmp_path / "begun").read_text()))
    warm = [
        child
        for child in psutil.Process(horse.ppid()).children(recursive=True)
        if "pipeline.work.ocr.process.warm" in child.cmdline()
    ]
    assert len(warm) == 1

    os.kill(horse.ppid(), signal.SIGKILL)

    assert psutil.wait_procs([horse, *warm], timeout=10)[1] == []


def test_a_burst_ends_when_all_queues_are_empty(
    start: Start, queue: Callable[[str], Queue], tmp_path: Path
) -> None:
    queue("high").enqueue(worker_jobs.note_in_another_queue, str(tmp_path), "deploy")

    process = start("high", "deploy", "--burst")

    assert process.wait(40) == 0
    assert (tmp_path / "passed on").exists()


def test_a_retry_is_enqueued_when_its_time_has_come(
    start: Start, queue: Callable[[str], Queue], tmp_path: Path
) -> None:
    queue("high").enqueue_in(timedelta(seconds=1), worker_jobs.note, str(tmp_path), "later")

    start("high=1")

    until((tmp_path / "later").exists)


def test_an_unknown_queue_is_refused_with_the_names_of_the_known(start: Start) -> None:
    ended = subprocess.run(
        [sys.executable, "manage.py", "workers", "orc=2"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 2
    assert "high, fetch, ocr, compilation, extraction, deploy" in ended.stderr


def test_restarts_come_slower_while_a_worker_keeps_dying() -> None:
    assert [restart_delay(crashes) for crashes in (0, 1, 2, 3, 20)] == [0, 1, 2, 4, 60]


def test_every_queue_has_workers_by_default() -> None:
    assert set(default_counts()) == set(settings.RQ_QUEUES)
    assert min(default_counts().values()) >= 1


def test_a_worker_looks_for_lost_jobs_within_about_a_minute(queue: Callable[[str], Queue]) -> None:
    worker = PipelineWorker([queue("ocr")], prepare_for_work=False)

    assert worker.maintenance_interval + worker.dequeue_timeout <= 90


class LosesTheStop:
    """Whatever is raised while this is finalized, Python swallows: as when the signal meets a finalizer."""

    def __init__(self, worker: PipelineWorker) -> None:
        self.worker = worker

    def __del__(self) -> None:
        self.worker.request_stop(signal.SIGTERM, None)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_stop_whose_exception_was_swallowed_still_stops_an_idle_worker(
    queue: Callable[[str], Queue], in_processes: Callable[..., list[int]], monkeypatch
) -> None:
    monkeypatch.setattr(worker_module, "IDLE_SECONDS", 1)

    def work(number: int) -> None:
        worker = PipelineWorker([queue("high")], connection=queue("high").connection)
        signal.signal(signal.SIGUSR1, lambda *_: LosesTheStop(worker) and None)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the death of one that goes on
        signal.alarm(20)
        worker.work(logging_level="ERROR")

    assert in_processes(1, work) == [0]
