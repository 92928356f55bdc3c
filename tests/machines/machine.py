"""One worker machine as a process of its own: the product's supervisor, with quicker heartbeats."""

import sys

import django
from django.conf import settings
from rq.job import Job

if __name__ == "__main__":
    django.setup()

from pipeline.queue import clock
from pipeline.workers import supervisor
from pipeline.workers.worker import PipelineWorker


class HastyWorker(PipelineWorker):
    """Notices within seconds what the product's notices within a minute and a half."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs | {"maintenance_interval": 3, "job_monitoring_interval": 1})

    @property
    def dequeue_timeout(self) -> int:
        return 2

    def get_heartbeat_ttl(self, job: Job) -> int:
        return max(2, settings.RECONCILE_GRACE_SECONDS * 2 // 3)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(queues: list[str]) -> None:
    settings.RQ["WORKER_CLASS"] = "tests.machines.machine.HastyWorker"
    supervisor.STEADY_SECONDS = 0
    say(f"clock: {clock.fault() or 'right'}")
    counts = {name: int(count) for name, _, count in (queue.partition("=") for queue in queues)}
    supervisor.Supervisor(counts, say, grace=10).run()


if __name__ == "__main__":
    main(sys.argv[1:])
