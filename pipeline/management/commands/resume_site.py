"""Let paused sites go on."""

from pipeline import interventions
from pipeline.interventions import Operator
from pipeline.management.operating import SiteActCommand


class Command(SiteActCommand):
    help = "Resume paused sites: what was passed over while they stood still is queued again."
    examples = """\
examples:
  manage.py resume_site alameda.ca
  manage.py pipeline_status --site alameda.ca --watch
"""
    done = "resumed"

    def act(self, site_id: str, operator: Operator) -> None:
        interventions.resume(site_id, operator)
