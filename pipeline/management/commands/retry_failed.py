"""Try again what failed."""

from datetime import date
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Count, QuerySet

from pipeline.management.terminal.base import (
    COULD_NOT,
    STAGES,
    OperatorCommand,
    add_operator,
    day,
    finish,
    known_sites,
    whole_number,
)
from pipeline.models import DocumentState, Status
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator, Retried
from pipeline.queue import sending
from sites.stages import WORK_STAGES

SHOWN = 20


class Command(OperatorCommand):
    help = (
        "Try failed documents again. While their stage is still open they go back into the running run. "
        "Otherwise a new run begins at the earliest stage that failed, and takes up everything of the site "
        "that is not processed from there on."
    )
    examples = """\
examples:
  manage.py retry_failed --dry-run                                  # what would be tried again
  manage.py retry_failed --site alameda.ca --reason "new scans"
  manage.py retry_failed --stage ocr --error-code timeout           # one kind of failure, at every site
  manage.py retry_failed --start-date 2024-01-01 --end-date 2024-06-30   # meetings of these days
  manage.py retry_failed --site alameda.ca --waiting                # also those that wait for their backoff

Skipped documents and replaced versions are left alone. Exit code 1: some sites refused (paused, or in a later
stage of a run that goes on); their reasons are printed.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--site", action="append", default=[], metavar="SITE", help="only this one; repeat"
        )
        parser.add_argument(
            "--stage", action="append", default=[], choices=STAGES, help="only this one; repeat"
        )
        parser.add_argument("--error-code", action="append", default=[], metavar="CODE", help="only this one")
        parser.add_argument("--start-date", type=day, metavar="YYYY-MM-DD", help="meetings from this day on")
        parser.add_argument("--end-date", type=day, metavar="YYYY-MM-DD", help="and up to this one")
        parser.add_argument(
            "--max-retries",
            type=whole_number(0),
            default=3,
            metavar="N",
            help="leave out what people had tried again N times already (default 3)",
        )
        parser.add_argument(
            "--waiting", action="store_true", help="also what waits for its own next attempt: do it now"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be done and change nothing"
        )
        add_operator(parser)

    def handle(self, *, dry_run: bool, by: str, reason: str, **options: Any) -> None:
        rows = selected(**options)
        found = sites_of(rows)
        if not found:
            return self.stdout.write("nothing to try again")
        if dry_run:
            return self._would(found)
        sending.check()  # without it every site would be refused one by one
        operator = Operator(by, reason)
        outcome = interventions.for_each(found, lambda site_id: interventions.retry(site_id, operator, rows))
        finish(self, outcome, _line)

    def _would(self, found: dict[str, dict[str, int]]) -> None:
        for site_id, stages in list(found.items())[:SHOWN]:
            parts = ", ".join(f"{stages[stage]} in {stage}" for stage in WORK_STAGES if stage in stages)
            self.stdout.write(f"{site_id}: {parts}")
        if len(found) > SHOWN:
            self.stdout.write(f"… and {len(found) - SHOWN} more sites")
        total = sum(sum(stages.values()) for stages in found.values())
        self.stdout.write(f"Would try {total} again at {len(found)} sites (dry-run)")


def selected(
    *,
    site: list[str],
    stage: list[str],
    error_code: list[str],
    start_date: date | None,
    end_date: date | None,
    max_retries: int,
    waiting: bool,
    **_: Any,
) -> QuerySet[DocumentState]:
    if start_date and end_date and start_date > end_date:
        raise CommandError("--start-date is after --end-date", returncode=COULD_NOT)
    rows = interventions.failed_rows(Status.FAILED) if waiting else interventions.failed_rows()
    wanted = {
        "site_id__in": known_sites(site),
        "pipeline__in": stage,
        "error_code__in": error_code,
        "document__meeting_date__gte": start_date,
        "document__meeting_date__lte": end_date,
    }
    return rows.filter(retried__lt=max_retries, **{name: value for name, value in wanted.items() if value})


def sites_of(rows: QuerySet[DocumentState]) -> dict[str, dict[str, int]]:
    """How many there are, by site and stage."""
    found: dict[str, dict[str, int]] = {}
    counted = rows.order_by("site_id").values_list("site_id", "pipeline").annotate(count=Count("*"))
    for site_id, stage, count in counted:
        found.setdefault(site_id, {})[stage] = count
    return found


def _line(retried: Retried) -> str:
    if retried.new_run:
        return (
            f"{retried.site_id}: run {retried.run_id} began from {retried.stage}, {retried.rows} to try again"
        )
    return f"{retried.site_id}: {retried.rows} back in {retried.stage} of run {retried.run_id}"
