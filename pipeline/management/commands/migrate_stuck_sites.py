"""Take over the sites that the old system left in OCR, and clear its dead jobs from the queue."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pipeline.management.terminal.base import OperatorCommand
from pipeline.takeover.needs import CannotTakeOver
from pipeline.takeover.stuck_sites import StuckSitesReport, carry_over, count_old_rows


class Command(OperatorCommand):
    help = (
        "For every site that the old table has in OCR: count its documents from storage, write counters and "
        "ledger, keep its old times. Then delete the old system's deferred coordinators and failed OCR jobs. "
        "Safe to run again at any time."
    )
    examples = """\
examples:
  manage.py migrate_stuck_sites --dry-run       # what would be done; changes nothing
  manage.py migrate_stuck_sites
  manage.py reconcile                           # then: moves on what was taken over

The whole move is in docs/migration.md. Exit code 0: done; 1: a site was left, or nothing could be done; 2:
the database cannot be read.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be done and change nothing"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")

    def handle(self, *args: Any, dry_run: bool, json: bool, **options: Any) -> None:
        try:
            with self._telling(quiet=json) as tell:
                report = carry_over(dry_run=dry_run, tell=tell)
        except CannotTakeOver as error:
            raise CommandError(str(error)) from error
        self._print_json(report) if json else self._print(report)
        if report.unreadable:
            raise CommandError(
                f"{len(report.unreadable)} sites were left as they were; fix their storage and run again"
            )

    @contextmanager
    def _telling(self, quiet: bool) -> Iterator[Callable[[str], None]]:
        """Lines on standard output; on a terminal a bar below them."""
        if quiet:
            yield lambda line: None
        elif not sys.stdout.isatty() or not sys.stderr.isatty():
            yield lambda line: self.stdout.write(line) if line else None
        else:
            columns = TextColumn("taking over"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
                task = bar.add_task("", total=count_old_rows())

                def tell(line: str) -> None:
                    if line:
                        bar.console.out(line, highlight=False)
                    bar.advance(task)

                yield tell

    def _print(self, report: StuckSitesReport) -> None:
        total, completed = (
            sum(getattr(site, part) for site in report.sites) for part in ("total", "completed")
        )
        sites = _count(len(report.sites), "site")
        did, removed = ("Would migrate", "Would remove") if report.dry_run else ("Migrated", "Removed")
        self.stdout.write("")
        self.stdout.write(f"{did} {sites}" + (" (dry-run)" if report.dry_run else ""))
        self.stdout.write(f"Documents: {completed}/{total} completed, {total - completed} failed")
        if report.already:
            self.stdout.write(
                f"{_count(report.already, 'site')} had been taken over before and stayed as they were"
            )
        for site_id, files in report.left_out.items():
            self.stdout.write(f"{site_id}: cannot be read and were left: {'; '.join(files)}")
        if report.unknown:
            self.stdout.write(f"{_count(len(report.unknown), 'row')} of unknown sites stayed as they were")
        self.stdout.write(
            f"{removed} {_count(report.cleaned.coordinators, 'deferred coordinator')}"
            f" and {_count(report.cleaned.ocr_jobs, 'failed OCR job')}"
        )
        again = "python manage.py migrate_stuck_sites" if report.dry_run else "python manage.py reconcile"
        self.stdout.write(f"Next: {again}")

    def _print_json(self, report: StuckSitesReport) -> None:
        sites = [asdict(site) | {"failed": site.failed} for site in report.sites]
        self.stdout.write(json.dumps(asdict(report) | {"sites": sites, "ok": not report.unreadable}))


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
