from argparse import ArgumentTypeError
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from pipeline.supervisor import Supervisor, default_counts


def queue_count(text: str) -> tuple[str, int]:
    queue, _, count = text.partition("=")
    if queue not in settings.RQ_QUEUES:
        raise ArgumentTypeError(f"{queue!r} is not a queue; the queues are {', '.join(settings.RQ_QUEUES)}")
    if not (count or "1").isdigit():
        raise ArgumentTypeError(f"{text!r}: expected {queue}=NUMBER")
    return queue, int(count or default_counts()[queue])


class Command(BaseCommand):
    help = (
        "Run workers, each on one queue, and start those again that die. A first SIGTERM or Ctrl-C lets "
        "running jobs finish, a second cuts them off. Without arguments every queue gets workers; with "
        "arguments only those named, e.g. `workers ocr=8 high`."
    )

    requires_system_checks = []  # workers serve no pages; they start faster without

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("queues", metavar="QUEUE[=COUNT]", nargs="*", type=queue_count)
        parser.add_argument("--burst", action="store_true", help="stop when nothing waits or runs any more")
        parser.add_argument(
            "--grace", type=float, metavar="SECONDS", help="on a stop, cut jobs off after this time"
        )

    def handle(
        self,
        *,
        queues: list[tuple[str, int]],
        burst: bool,
        grace: float | None,
        verbosity: int,
        **options: Any,
    ) -> None:
        counts = dict(queues) or default_counts()
        say = self.stdout.write if verbosity else (lambda line: None)
        Supervisor(counts, say, grace).run(until_idle=burst)
