"""Leave a document out, for a reason."""

from functools import partial
from typing import Any

from django.core.management.base import CommandError, CommandParser

from pipeline.management.terminal.base import COULD_NOT, OperatorCommand, acting, add_operator, whole_number
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator
from sites.models import Document

WHERE = "`manage.py pipeline_status` and the admin give each failure's number"


class Command(OperatorCommand):
    help = (
        "Leave documents out on purpose, in the current run and in later ones. They show as skipped, with "
        "the reason, and no longer as failed."
    )
    examples = """\
examples:
  manage.py pipeline_status --site alameda.ca   # failures carry the number of their document
  manage.py skip_document 1042 --reason "scan of a blank page"
  manage.py skip_document 1042 --undo --reason "a better scan was published"
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "documents", nargs="+", type=whole_number(1), metavar="DOCUMENT", help="numbers of documents"
        )
        parser.add_argument("--undo", action="store_true", help="take skipped documents up again")
        add_operator(parser)

    def handle(self, *, documents: list[int], undo: bool, by: str, reason: str, **options: Any) -> None:
        known = set(Document.objects.filter(pk__in=documents).values_list("pk", flat=True))
        for number in documents:
            if number not in known:
                raise CommandError(f"there is no document {number}; {WHERE}", returncode=COULD_NOT)
        act = interventions.unskip if undo else interventions.skip
        for number in documents:
            document = acting(partial(act, number, Operator(by, reason)))
            self.stdout.write(f"{document}: {'taken up again by the next run' if undo else 'skipped'}")
