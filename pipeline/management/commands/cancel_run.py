"""End the runs of sites where they are."""

from pipeline.management.terminal.base import SiteActCommand
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator


class Command(SiteActCommand):
    help = (
        "End the current run of these sites. Jobs in hand can no longer count or write. What is processed "
        "stays so: a later run goes on from there."
    )
    examples = """\
examples:
  manage.py cancel_run alameda.ca --reason "wrong source"
  manage.py run_pipeline alameda.ca             # begin again, from what is missing
"""
    done = "run cancelled"

    def act(self, site_id: str, operator: Operator) -> None:
        interventions.cancel(site_id, operator)
