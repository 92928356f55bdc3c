"""`manage.py read_again`: doubtful pages read again by another engine."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from pipeline.management.terminal.base import (
    FAILED,
    OperatorCommand,
    acting,
    add_operator,
    known_sites,
    whole_number,
)
from pipeline.operations.interventions import Operator
from pipeline.operations.read_again import ReadAgain, read_again, waiting_pages
from pipeline.queue import sending
from pipeline.work.ocr.engines import ACCURATE
from sites.models import Document


class Command(OperatorCommand):
    help = (
        "Have pages that were recognised with little confidence read again by another engine. The better "
        "reading of each page stays. Facts are read anew where a page changed, and a run from compilation on "
        "publishes it."
    )
    examples = """\
examples:
  manage.py read_again --site alameda.ca --dry-run                        # how many pages there are
  manage.py read_again --site alameda.ca --engine accurate --below 85

Pages are kept as they come: interrupted, it goes on where it was. A site in a run is refused. Exit code 1:
some documents could not be read, and are named.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--site", action="append", required=True, metavar="SITE", help="this one; repeat for more"
        )
        parser.add_argument(
            "--engine", default=ACCURATE, help="the engine to ask (default %(default)s; see docs/ocr.md)"
        )
        parser.add_argument(
            "--below",
            type=whole_number(1),
            default=85,
            metavar="PERCENT",
            help="pages of less confidence than this (default %(default)s)",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be done and change nothing"
        )
        add_operator(parser)

    def handle(
        self, *, site: list[str], engine: str, below: int, dry_run: bool, by: str, reason: str, **options: Any
    ) -> None:
        wanted = known_sites(site)
        if dry_run:
            for site_id in wanted:
                pages = waiting_pages(site_id, engine, below)
                self.stdout.write(f"{site_id}: {pages} pages to read again (dry-run)")
            return
        sending.check()
        operator = Operator(by, reason)
        failed = sum(self._read(site_id, operator, engine, below).failed for site_id in wanted)
        if failed:
            raise CommandError(f"{failed} documents could not be read again", returncode=FAILED)

    def _read(self, site_id: str, operator: Operator, engine: str, below: int) -> ReadAgain:
        done: ReadAgain = acting(
            lambda: read_again(site_id, operator, engine=engine, below=below, on_document=self._say)
        )
        follows = f"; run {done.run_id} publishes them" if done.run_id else ""
        self.stdout.write(
            f"{site_id}: {done.pages} pages of {done.documents} documents read again, "
            f"{done.better} are better{follows}"
        )
        return done

    def _say(self, document: Document, what: str) -> None:
        self.stdout.write(f"  {document}: {what}")
