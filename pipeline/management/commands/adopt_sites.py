"""Take over every site of the old system, not only those that were stuck."""

import json as jsonlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pipeline.management.terminal.base import OperatorCommand, known_sites
from pipeline.takeover import languages
from pipeline.takeover.every_site import AdoptionReport, adopt
from pipeline.takeover.needs import CannotTakeOver
from pipeline.takeover.old_rows import count_sites
from pipeline.takeover.one_site import Adopted

HEAD = ("site", "pages shown", "pages kept", "documents shown", "documents kept", "to read", "stands in")
LINE = "{:<30} {:>11} {:>10} {:>15} {:>14} {:>7}  {}"


class Command(OperatorCommand):
    help = (
        "For every site that has not been taken over yet: what its storage holds (PDFs, texts, agendas, and "
        "the pages that only the old meetings.db has) becomes documents, ledger rows and counts, so that its "
        "next run adds to its records and replaces nothing. Prints what each site had before and has after. "
        "Safe to stop and to run again at any time."
    )
    examples = """\
examples:
  manage.py adopt_sites --dry-run           # what would be taken over; changes nothing
  manage.py adopt_sites
  manage.py adopt_sites --site alameda.ca   # one of them
  manage.py reconcile                       # then: moves on those that were not finished

The whole move is in docs/migration.md. Exit code 0: done; 1: a site was left, or nothing could be done; 2:
the database cannot be read.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--site", action="append", default=[], metavar="SITE", help="only this one; repeat"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be done and change nothing"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")

    def handle(self, *args: Any, site: list[str], dry_run: bool, json: bool, **options: Any) -> None:
        only = known_sites(site)
        try:
            with self._telling(json, len(only)) as tell:
                report = adopt(dry_run=dry_run, only=only, tell=tell)
        except CannotTakeOver as error:
            raise CommandError(str(error)) from error
        self.stdout.write(jsonlib.dumps(as_json(report))) if json else self._print(report)
        left = len(report.unreadable) + len(report.later)
        if left:
            raise CommandError(f"{_count(left, 'site')} left as they were; the reasons are above")

    @contextmanager
    def _telling(self, quiet: bool, named: int) -> Iterator[Callable[[Adopted | str], None]]:
        """A line for each site; on a terminal a bar below them."""
        if quiet:
            yield lambda what: None
            return
        self.stdout.write(LINE.format(*HEAD))
        if not sys.stdout.isatty() or not sys.stderr.isatty():
            yield lambda what: self._tell(what, self.stdout.write)
            return
        columns = TextColumn("taking over"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=named or count_sites())

            def tell(what: Adopted | str) -> None:
                self._tell(what, lambda line: bar.console.out(line, highlight=False))
                bar.advance(task)

            yield tell

    def _tell(self, what: Adopted | str, write: Callable[[str], object]) -> None:
        if isinstance(what, Adopted):
            write(line(what))
            for file in what.holdings.left_out:
                write(f"  {what.site_id}: left out: {file}")
        elif what:
            write(what)

    def _print(self, report: AdoptionReport) -> None:
        did = "Would take over" if report.dry_run else "Took over"
        found = [adopted.holdings for adopted in report.sites]
        before, pages = sum(each.before.pages for each in found), sum(each.pages for each in found)
        self.stdout.write("")
        self.stdout.write(
            f"{did} {_count(len(found), 'site')}{' (dry-run)' if report.dry_run else ''}:"
            f" {before} pages were shown, {pages} are kept"
        )
        if report.already:
            self.stdout.write(f"{_count(report.already, 'site')} had been taken over before")
        lost = sum(len(each.left_out) for each in found)
        if lost:
            self.stdout.write(f"{_count(lost, 'file')} could not be read and were left out, as named above")
        if not languages.has_both():
            self.stdout.write(
                f"The old system read {languages.BEFORE}; Tesseract has not both here, so pages are read in"
                f" {languages.USUAL} (docs/ocr.md says how to add a language)"
            )
        self.stdout.write(f"Next: python manage.py {'adopt_sites' if report.dry_run else 'reconcile'}")


def line(adopted: Adopted) -> str:
    found = adopted.holdings
    return LINE.format(
        adopted.site_id,
        found.before.pages,
        found.pages,
        found.before.documents,
        found.documents,
        found.unread,
        adopted.stage or "-",
    )


def as_json(report: AdoptionReport) -> dict[str, Any]:
    return {
        "ok": not report.unreadable and not report.later,
        "dry_run": report.dry_run,
        "already": report.already,
        "in_a_run": report.later,
        "unreadable": report.unreadable,
        "sites": [
            {
                "site": adopted.site_id,
                "stage": adopted.stage,
                "pages_before": adopted.holdings.before.pages,
                "pages": adopted.holdings.pages,
                "documents_before": adopted.holdings.before.documents,
                "documents": adopted.holdings.documents,
                "to_read": adopted.holdings.unread,
                "left_out": adopted.holdings.left_out,
            }
            for adopted in report.sites
        ],
    }


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
