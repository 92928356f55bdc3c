"""Let sites stand still."""

from pipeline import interventions
from pipeline.interventions import Operator
from pipeline.management.operating import SiteActCommand


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
