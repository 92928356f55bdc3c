"""`manage.py prune`: what is old enough goes, so that nothing grows for ever."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from pipeline.management.terminal.base import FAILED, OperatorCommand
from pipeline.operations import pruning
from pipeline.reports.wording import size_of


class Command(OperatorCommand):
    help = (
        "Delete what is old enough: runs, history, half-written files, removed sites and documents whose "
        "time is over, and local copies of shared files. What is in use, waits or runs never goes, nor do "
        "the newest few of anything useful. Run it daily, with STORAGE_URL on every machine."
    )
    examples = """\
examples:
  manage.py prune --dry-run                   # what would go
  manage.py prune --quiet                     # from cron, at night
  manage.py prune --only runs --only cache    # some parts of it
  manage.py prune --json

What is kept, and for how long: KEEP_RUNS, KEEP_RUN_DAYS, KEEP_HISTORY_DAYS, KEEP_REMOVED_DAYS,
KEEP_SUPERSEDED_DAYS, STORAGE_CACHE_MB; docs/backup.md#what-prune-lets-go.

Exit code 0: done; 1: a part could not be done, and the others were; 2: could not look.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        names = sorted({part.name for part in pruning.parts()})
        parser.add_argument("--only", action="append", default=[], choices=names, help="this part; repeat")
        parser.add_argument("--dry-run", action="store_true", help="count; delete nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object")
        parser.add_argument("--quiet", action="store_true", help="print nothing while it goes well")

    def handle(self, *, only: list[str], dry_run: bool, json: bool, quiet: bool, **options: Any) -> None:
        done = []
        for each in pruning.prune(only, dry_run=dry_run):
            done.append(each)
            if not json and not quiet and (each.count or each.error):
                self.stdout.write(_told(each, dry_run))
        failed = [each for each in done if each.error]
        if json:
            self.stdout.write(_as_json(done, dry_run))
        elif not quiet and not any(each.count or each.error for each in done):
            self.stdout.write("nothing is old enough")
        if failed:
            raise CommandError("; ".join(f"{each.what}: {each.error}" for each in failed), returncode=FAILED)


def _told(each: pruning.Pruned, dry_run: bool) -> str:
    freed = f", {size_of(each.freed)}" if each.freed else ""
    return f"{each.what}: {each.error or f'{each.count:,}{freed}'}{' (dry-run)' if dry_run else ''}"


def _as_json(done: list[pruning.Pruned], dry_run: bool) -> str:
    return json.dumps({"dry_run": dry_run, "parts": [vars(each) for each in done]}, indent=1)
