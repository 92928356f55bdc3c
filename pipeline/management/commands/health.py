"""Healthy, degraded or unhealthy: for people, cron and monitors."""

import json as jsonlib
import sys
from typing import Any

from django.core.management.base import CommandParser

from pipeline.management.terminal.base import OperatorCommand
from pipeline.queue import inspection
from pipeline.reports import health, machine
from pipeline.reports.health import LEVELS, Check, Level
from pipeline.reports.sites import site_totals

MARKS = {Level.OK: "ok", Level.NOTE: "note", Level.DEGRADED: "DEGRADED", Level.UNHEALTHY: "UNHEALTHY"}


class Command(OperatorCommand):
    help = (
        "Say whether all is well. Exit code 0: healthy; 1: degraded, somebody should look today; "
        "2: unhealthy, somebody should look now (also when the database cannot be read)."
    )
    examples = """\
examples:
  manage.py health
  manage.py health --quiet || mail -s "Clerk" ops@example.org
  manage.py health --json | jq '.checks[] | select(.level != "ok")'
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
        parser.add_argument("--quiet", action="store_true", help="only what is not well")

    def handle(self, *, json: bool, quiet: bool, **options: Any) -> None:
        totals = site_totals()
        found = [*health.checks(totals, inspection.read_workforce()), *machine.checks()]
        level = health.worst(found)
        if json:
            self.stdout.write(jsonlib.dumps(health.as_json(found, totals.health), indent=2))
        else:
            self._print(found, level, quiet)
        if level.exit_code:
            sys.exit(level.exit_code)

    def _print(self, found: list[Check], level: Level, quiet: bool) -> None:
        for check in found:
            if check.level or not quiet:
                hint = f"  (manage.py {check.command})" if check.command and check.level else ""
                self.stdout.write(f"{MARKS[check.level]:<10} {check.name:<10} {check.message}{hint}")
        if level.exit_code or not quiet:
            self.stdout.write(LEVELS[level])
