"""Let paused sites go on."""

from pipeline.management.terminal.base import SiteActCommand
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator


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
