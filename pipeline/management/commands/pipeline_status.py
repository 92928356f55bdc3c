"""Where everything is, on one page."""

import json as jsonlib
from dataclasses import replace
from datetime import date
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from pipeline.management.terminal import screen, summary
from pipeline.management.terminal.base import (
    COULD_NOT,
    STAGES,
    OperatorCommand,
    day,
    known_sites,
    whole_number,
)
from pipeline.reports import overview
from pipeline.reports.documents import dates_covered
from pipeline.reports.filters import Filters
from pipeline.reports.overview import Overview
from sites.models import Kind


class Command(OperatorCommand):
    help = (
        "Show where everything is: totals, documents by kind and status, progress and timings of each step, "
        "recent failures, sites that stand still and why, what needs you, and the next command to run."
    )
    examples = """\
examples:
  manage.py pipeline_status                                  # everything
  manage.py pipeline_status --watch                          # again every 2 seconds, until Ctrl-C
  manage.py pipeline_status --site alameda.ca --stage ocr    # one site, one stage
  manage.py pipeline_status --kind minutes --start-date 2024-01-01 --end-date 2024-12-31
  manage.py pipeline_status --json | jq .stuck               # for programs; the shape is in docs/commands.md

Dates are meeting dates. With --kind or dates the numbers of documents and steps are of those documents only;
the sites and the checks are still of all.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--site", action="append", default=[], metavar="SITE", help="only this one; repeat"
        )
        parser.add_argument(
            "--stage", action="append", default=[], choices=STAGES, help="only this one; repeat"
        )
        parser.add_argument("--kind", action="append", default=[], choices=Kind.values, help="only these")
        parser.add_argument("--start-date", type=day, metavar="YYYY-MM-DD", help="meetings from this day on")
        parser.add_argument("--end-date", type=day, metavar="YYYY-MM-DD", help="and up to this one")
        parser.add_argument(
            "--limit",
            type=whole_number(1),
            default=10,
            metavar="N",
            help="failures and sites to list (default 10)",
        )
        parser.add_argument("--json", action="store_true", help="one JSON object; with --watch one per line")
        parser.add_argument(
            "--watch", nargs="?", type=float, const=2.0, metavar="SECONDS", help="again and again (default 2)"
        )

    def handle(self, *, limit: int, json: bool, watch: float | None, **options: Any) -> None:
        filters = self._filters(**options)
        console = screen.console(self.stdout)

        def look() -> Overview:
            return replace(overview.read_overview(filters, limit), dates=dates_covered(filters))

        if watch is not None and watch < 0.1:
            raise CommandError("--watch: expected at least 0.1 seconds", returncode=COULD_NOT)
        if json and watch is None:
            self.stdout.write(as_text(look(), indent=2) + "\n")
        elif json:
            screen.repeat(watch or 0, lambda: self.stdout.write(as_text(look()) + "\n"))
        elif watch is None:
            screen.show(console, summary.draw(console, look()))
        else:
            screen.watch(console, watch, lambda: summary.draw(console, look()))

    def _filters(
        self,
        *,
        site: list[str],
        stage: list[str],
        kind: list[str],
        start_date: date,
        end_date: date,
        **_: Any,
    ) -> Filters:
        if start_date and end_date and start_date > end_date:
            raise CommandError("--start-date is after --end-date", returncode=COULD_NOT)
        return Filters(tuple(known_sites(site)), tuple(stage), tuple(kind), start_date, end_date)


def as_text(found: Overview, indent: int | None = None) -> str:
    return jsonlib.dumps(overview.as_json(found), cls=DjangoJSONEncoder, indent=indent)
