"""Workers run what Clerk sends, and nothing else that somebody may have put into Redis."""

import pickle
import zlib
from pathlib import Path

import django_rq
import pytest
from rq import Callback
from rq.job import Job
from rq.registry import FailedJobRegistry

from pipeline.workers.doors import is_allowed
from tests.pipeline import worker_jobs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("function", "allowed"),
    [
        ("pipeline.jobs.ocr_document", True),
        ("pipeline.jobs.coordinate", True),
        ("pipeline.jobs.deliver_webhook", True),
        ("pipeline.jobs.flow.start", False),
        ("pipeline.jobs.patiently", False),
        ("pipeline.jobs.no_such_job", False),
        ("pipeline.jobs", False),
        ("pipeline.flow.start", False),
        ("os.system", False),
        ("tests.named.run", True),
        ("tests.named.other", False),
        ("tests.whole.run", True),
        ("tests.whole.deeper.run", False),
        ("", False),
        (None, False),
    ],
)
def test_what_may_run(settings, function: str | None, allowed: bool) -> None:
    settings.QUEUE_FUNCTIONS = ["tests.named.run", "tests.whole.*"]

    assert is_allowed(function) is allowed


def failures() -> dict[str, str]:
    queue = django_rq.get_queue("high")
    jobs = (queue.fetch_job(job_id) for job_id in FailedJobRegistry(queue=queue).get_job_ids())
    return {job.id: str(job.latest_result().exc_string) for job in jobs if job}


@pytest.mark.parametrize("fork", [False, True])
def test_a_foreign_function_is_refused_and_fails(run_jobs, tmp_path: Path, fork: bool) -> None:
    job = django_rq.get_queue("high").enqueue(worker_jobs.note, str(tmp_path), "ran")

    run_jobs(fork=fork)

    assert not (tmp_path / "ran").exists()
    assert "ForbiddenFunction" in failures()[job.id]


def test_a_function_that_the_settings_name_runs(run_jobs, tmp_path: Path, settings) -> None:
    settings.QUEUE_FUNCTIONS = ["tests.pipeline.worker_jobs.note"]
    django_rq.get_queue("high").enqueue(worker_jobs.note, str(tmp_path), "ran")

    run_jobs()

    assert (tmp_path / "ran").exists()


def test_no_callback_that_redis_names_is_called(run_jobs, tmp_path: Path, settings) -> None:
    settings.QUEUE_FUNCTIONS = ["tests.pipeline.worker_jobs.note"]
    queue = django_rq.get_queue("high")
    told = Callback(worker_jobs.leave_note_of_job)
    queue.enqueue(worker_jobs.note, str(tmp_path), "ran", on_success=told, on_failure=told)
    queue.enqueue(worker_jobs.note, str(tmp_path), "no/such/folder", on_success=told, on_failure=told)

    run_jobs()

    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["ran"]


class Bomb:
    def __init__(self, file: str) -> None:
        self.file = file

    def __reduce__(self):
        return (Path.touch, (Path(self.file),))


@pytest.mark.parametrize("field", ["data", "meta"])
@pytest.mark.parametrize("fork", [False, True])
def test_a_pickled_job_is_not_opened(run_jobs, tmp_path: Path, field: str, fork: bool) -> None:
    """As it would be read by RQ's own workers, which run code while they read."""
    queue = django_rq.get_queue("high")
    job = Job.create("pipeline.jobs.coordinate", connection=queue.connection, origin="high")
    bomb = pickle.dumps(Bomb(str(tmp_path / "exploded")))
    job.save()
    content = zlib.compress(bomb) if field == "data" else bomb
    queue.connection.hset(job.key, field, content)
    queue.push_job_id(job.id)

    try:
        run_jobs(fork=fork)
    except UnicodeDecodeError:
        assert field == "meta"  # a job that nobody can read; the next one has its turn

    assert not (tmp_path / "exploded").exists()
    pickle.loads(bomb)  # noqa: S301 (made here)
    assert (tmp_path / "exploded").exists(), "the bomb works"


def test_a_job_of_an_earlier_version_fails_and_its_row_is_sent_again_by_reconcile(run_jobs) -> None:
    """What was pickled before an update is not read: the ledger, not Redis, knows what is to be done."""
    queue = django_rq.get_queue("high")
    job = Job.create(
        "pipeline.jobs.coordinate", args=("a.ca", 1, 1), connection=queue.connection, origin="high"
    )
    job.save()
    queue.push_job_id(job.id)

    run_jobs()

    assert "DeserializationError" in failures()[job.id]
