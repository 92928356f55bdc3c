"""Repair sites now, without waiting for the next reconcile."""

from typing import Any

from django.core.management.base import CommandParser

from pipeline.management.terminal.base import OperatorCommand, acting, add_operator, finish, known_sites
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator


class Command(OperatorCommand):
    help = (
        "Do to these sites what the next reconcile would do: send lost jobs and coordinators again, correct "
        "counts. Recorded as an intervention, which the pre-flight of the drops counts."
    )
    examples = """\
examples:
  manage.py pipeline_status                     # which sites stand still, and why
  manage.py unstick_site alameda.ca --reason "after the Redis outage"
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sites", nargs="+", metavar="SITE", help="subdomains, e.g. alameda.ca")
        add_operator(parser)

    def handle(self, *, sites: list[str], by: str, reason: str, **options: Any) -> None:
        wanted = known_sites(sites)
        outcome = acting(lambda: interventions.unstick(wanted, Operator(by, reason)))
        finish(self, outcome, lambda repair: f"{repair.site_id}: {repair.outcome}: {repair.action}")
