"""A work-horse that stays: what the fork for each job gave is still true, and the next job finds it warm."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import django_rq
import psutil
import pytest
from django.db import connections
from rq import Queue
from rq.command import send_stop_job_command
from rq.job import Job, JobStatus

from pipeline.workers.staying import StayingWorker
from tests.conftest import DeafWorker
from tests.pipeline import worker_jobs

JOBS = "tests.pipeline.worker_jobs.*"


class Staying(DeafWorker, StayingWorker): ...


@pytest.fixture
def queue(settings) -> Iterator[Queue]:
    settings.QUEUE_FUNCTIONS = [JOBS]
    found = django_rq.get_queue("extraction")
    found.connection.flushdb()
    yield found
    found.connection.flushdb()


def work(queue: Queue, worker: type[StayingWorker] = Staying) -> None:
    """Until the queue is empty, here; its work-horse is another process."""
    connections.close_all()
    worker([queue], connection=queue.connection).work(burst=True, logging_level="CRITICAL")


@pytest.fixture
def noted(tmp_path: Path) -> Callable[[str], int]:
    """The process that wrote this note."""
    return lambda name: int((tmp_path / name).read_text())


def note(queue: Queue, folder: Path, *names: str) -> None:
    for name in names:
        queue.enqueue(worker_jobs.note, str(folder), name)


def status_of(job: Job) -> JobStatus:
    return job.get_status(refresh=True)


def test_one_process_does_job_after_job_and_ends_with_the_worker(queue, tmp_path, noted):
    note(queue, tmp_path, "first", "second", "third")

    work(queue)

    assert noted("first") == noted("second") == noted("third") != os.getpid()
    assert not psutil.pid_exists(noted("first"))


def test_a_job_that_kills_its_process_loses_only_itself(queue, tmp_path, noted):
    note(queue, tmp_path, "before")
    killed = queue.enqueue(worker_jobs.kill_myself)
    note(queue, tmp_path, "after")

    work(queue)

    assert status_of(killed) == JobStatus.FAILED
    assert noted("after") != noted("before")


def test_a_process_that_died_with_nothing_in_hand_is_replaced(queue, tmp_path, noted):
    note(queue, tmp_path, "before")
    queue.enqueue(worker_jobs.die_soon)
    queue.enqueue(worker_jobs.sleep_between_notes, str(tmp_path), 0)

    class Slow(Staying):
        def dequeue_job_and_maintain_ttl(self, *arguments, **named):
            time.sleep(0.5)  # it dies meanwhile
            return super().dequeue_job_and_maintain_ttl(*arguments, **named)

    work(queue, Slow)

    assert noted("ended") != noted("before")
    assert queue.failed_job_registry.get_job_ids() == []


def test_a_job_over_its_limit_fails_and_its_process_is_replaced(queue, tmp_path, noted):
    slow = queue.enqueue(worker_jobs.sleep_between_notes, str(tmp_path), 60, job_timeout=1)
    note(queue, tmp_path, "after")

    work(queue)

    assert status_of(slow) == JobStatus.FAILED
    assert noted("after") != noted("begun")


def test_after_so_many_jobs_it_is_replaced(queue, tmp_path, noted, settings):
    settings.WORKER_MAX_JOBS = 2
    note(queue, tmp_path, "first", "second", "third")

    work(queue)

    assert noted("first") == noted("second") != noted("third")


@pytest.mark.parametrize("leftover", [worker_jobs.take_memory, worker_jobs.leave_a_thread])
def test_a_process_that_keeps_what_it_should_not_is_replaced(queue, tmp_path, noted, settings, leftover):
    settings.WORKER_MAX_MB = 300
    note(queue, tmp_path, "before")
    queue.enqueue(leftover)
    note(queue, tmp_path, "after")

    work(queue)

    assert noted("after") != noted("before")


def test_what_a_job_leaves_running_does_not_hide_the_death_of_its_process(queue, tmp_path, noted):
    queue.enqueue(worker_jobs.leave_a_child_and_die, str(tmp_path))
    note(queue, tmp_path, "after")

    work(queue)

    child = psutil.Process(noted("left"))
    assert noted("after")
    child.kill()


def test_a_stop_order_ends_the_job_and_not_the_worker(queue, tmp_path, noted):
    stopped = queue.enqueue(worker_jobs.sleep_between_notes, str(tmp_path), 60)
    note(queue, tmp_path, "after")

    def stop() -> None:
        while not (tmp_path / "begun").exists():
            time.sleep(0.05)
        send_stop_job_command(queue.connection, stopped.id, serializer="json")

    thread = threading.Thread(target=stop)
    thread.start()
    work(queue, StayingWorker)
    thread.join()

    assert status_of(stopped) == JobStatus.STOPPED
    assert noted("after") != noted("begun")


def test_the_job_of_a_killed_worker_dies_with_it(queue, tmp_path, noted, settings):
    queue.enqueue(worker_jobs.sleep_between_notes, str(tmp_path), 60)
    connections.close_all()
    worker = os.fork()
    if worker == 0:
        work(queue)
        os._exit(0)
    while not (tmp_path / "begun").exists():
        time.sleep(0.05)

    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)

    deadline = time.monotonic() + 10
    while psutil.pid_exists(noted("begun")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(noted("begun"))


def test_a_setting_keeps_the_worker_that_forks(monkeypatch):
    environment = os.environ | {"WORKER_STAYS": "0", "DEBUG": "1"}
    command = ["python", "-c", "from clerk_project import settings; print(settings.RQ['WORKER_CLASS'])"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "pipeline.workers.worker.PipelineWorker"
