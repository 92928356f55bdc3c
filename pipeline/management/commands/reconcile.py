"""Move on the sites that stopped; from cron, every 15 minutes."""

import json
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from pipeline import alarms, webhooks
from pipeline.management.terminal.base import OperatorCommand
from pipeline.models import ReconcileRun
from pipeline.operations.catching_up import catch_up
from pipeline.queue.sending import QueueUnavailable
from pipeline.reconcile import CouldNotLook, Result, reconcile
from pipeline.reconcile.repair import RECOVERED, WAITING, Repair


def _said_at_the_last_pass() -> set[tuple[str, str]]:
    """Site and outcome. Empty when the database does not answer, which the pass itself will say."""
    try:
        last = ReconcileRun.objects.filter(finished_at__isnull=False).first()
    except (OperationalError, InterfaceError):
        return set()
    return {(repair["site_id"], repair["outcome"]) for repair in last.repairs} if last else set()


def _is_news(repair: Repair, said: set[tuple[str, str]]) -> bool:
    """What was done always is; a site that waits for its turn never; what is wrong is once."""
    if repair.outcome == WAITING:
        return False
    return repair.outcome == RECOVERED or (repair.site_id, repair.outcome) not in said


class Command(OperatorCommand):
    help = (
        "Find sites that stopped moving and move them on: lost jobs, lost coordinators, wrong counts. "
        "Exit code 0: all is well or was repaired; 1: a site needs a person; 2: could not look."
    )
    examples = """\
examples:
  manage.py reconcile --dry-run                        # what stopped, and what would be done about it
  */15 * * * *  cd /opt/clerk && .venv/bin/python manage.py reconcile --quiet
  manage.py reconcile --json | jq '.repairs[] | select(.outcome == "given up")'
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--threshold-hours", type=float, default=2, help="untouched for so long is an alarm (default 2)"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be done and change nothing"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
        parser.add_argument(
            "--quiet",
            action="store_true",
            help="print only what was done, or is wrong since this pass: for cron",
        )

    def handle(
        self, *args: Any, threshold_hours: float, dry_run: bool, json: bool, quiet: bool, **options: Any
    ) -> None:
        if threshold_hours <= 0:
            raise CommandError("--threshold-hours must be more than 0", returncode=2)
        said = _said_at_the_last_pass()
        try:
            result = reconcile(threshold=timedelta(hours=threshold_hours), dry_run=dry_run)
        except (CouldNotLook, QueueUnavailable, OperationalError, InterfaceError) as error:
            if not dry_run:
                alarms.ping(failed=True)
            self._could_not(str(error), json)
        if not dry_run:
            webhooks.send_due()
            catch_up()
            alarms.look(timezone.now())
            alarms.ping()
        speaks = not quiet or any(_is_news(repair, said) for repair in result.repairs)
        if speaks:
            self._print(result, json)
        if result.given_up and not dry_run:
            if not speaks:
                raise SystemExit(1)  # what was said is not mailed 96 times a day
            raise CommandError(f"{result.given_up} sites need a person", returncode=1)

    def _could_not(self, why: str, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps({"ok": False, "error": why}))
        raise CommandError(f"could not reconcile: {why}", returncode=2)

    def _print(self, result: Result, as_json: bool) -> None:
        if as_json:
            return self.stdout.write(json.dumps(result.as_json()))
        if result.skipped:
            return self.stdout.write(f"{result.skipped}; left it alone")
        for repair in result.repairs:
            self.stdout.write(f"{repair.site_id}: {repair.outcome} in {repair.stage}: {repair.action}")
        doing = "would recover" if result.dry_run else "recovered"
        self.stdout.write(
            f"found {result.found}, {doing} {result.recovered}, given up {result.given_up}, "
            f"in {result.seconds:.1f} s" + (" (dry-run)" if result.dry_run else "")
        )
