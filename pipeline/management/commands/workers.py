"""Workers, kept alive."""

from argparse import ArgumentTypeError
from functools import partial
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from pipeline.management.terminal.base import OperatorCommand, whole_number
from pipeline.queue import sending
from pipeline.workers.rhythm import run_rhythm
from pipeline.workers.supervisor import Supervisor, default_counts


def queue_count(text: str) -> tuple[str, int]:
    name, _, count = text.partition("=")
    if name not in settings.RQ_QUEUES:
        raise ArgumentTypeError(f"{name!r} is not a queue; the queues are {', '.join(settings.RQ_QUEUES)}")
    if count and (not count.isdecimal() or int(count) < 1):
        raise ArgumentTypeError(f"{text!r}: expected {name}=NUMBER, at least 1")
    return name, int(count or default_counts()[name])


class Command(OperatorCommand):
    help = (
        "Run workers, each on one queue, and start those again that die. A first SIGTERM or Ctrl-C lets "
        "running jobs finish, a second cuts them off. Without arguments every queue gets workers; with "
        "arguments only those named, e.g. `workers ocr=8 high`. Beside them runs the schedule, which starts "
        "sites when their checks are due; on several machines each check is still started once."
    )

    examples = """\
examples:
  manage.py workers                     # every queue: one worker each, two for fetch, one a core for OCR
  manage.py workers ocr=8 high=1        # only these, on a machine for OCR
  manage.py workers --burst             # until nothing waits or runs; no schedule
  manage.py workers --reconcile 15      # a pass of reconcile every 15 minutes, too: no cron is needed
  manage.py workers --no-schedule       # only the jobs that somebody starts
  manage.py workers --grace 60          # under a supervisor: on a stop, cut jobs off after a minute
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("queues", metavar="QUEUE[=COUNT]", nargs="*", type=queue_count)
        parser.add_argument("--burst", action="store_true", help="stop when nothing waits or runs any more")
        parser.add_argument("--no-schedule", action="store_true", help="start no site by its rhythm")
        parser.add_argument(
            "--reconcile",
            type=whole_number(1),
            metavar="MINUTES",
            default=settings.WORKERS_RECONCILE_MINUTES,
            help="run reconcile, too, so often (default: WORKERS_RECONCILE_MINUTES, else not)",
        )
        parser.add_argument(
            "--grace", type=float, metavar="SECONDS", help="on a stop, cut jobs off after this time"
        )

    def handle(
        self,
        *,
        queues: list[tuple[str, int]],
        burst: bool,
        grace: float | None,
        no_schedule: bool,
        reconcile: int,
        verbosity: int,
        **options: Any,
    ) -> None:
        sending.check()  # later it may go and come; a first start without it is a mistake to name
        counts = dict(queues) or default_counts()
        say = self.stdout.write if verbosity else (lambda line: None)
        rhythm = None if burst or no_schedule else partial(run_rhythm, reconcile)
        Supervisor(counts, say, grace, rhythm).run(until_idle=burst)
