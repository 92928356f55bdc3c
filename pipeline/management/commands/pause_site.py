"""Let sites stand still."""

from pipeline.management.terminal.base import SiteActCommand
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator


class Command(SiteActCommand):
    help = (
        "Pause sites: jobs in hand finish and count, no further one begins, and no run starts "
        "until they are resumed."
    )
    examples = """\
examples:
  manage.py pause_site alameda.ca --reason "their server is down until Monday"
  manage.py resume_site alameda.ca
"""
    done = "paused"

    def act(self, site_id: str, operator: Operator) -> None:
        interventions.pause(site_id, operator)
