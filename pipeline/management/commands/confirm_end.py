"""Say that a failed run is the end of it."""

from pipeline.management.terminal.base import SiteActCommand
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator


class Command(SiteActCommand):
    help = (
        "For sites whose run failed for good, such as one with nothing but damaged PDFs: there is nothing to "
        "be done, so the site has ended. It is no longer stuck, reconcile leaves it alone, and the drops do "
        "not wait for it. What failed stays on record, and a later run begins as always. Recorded, with the "
        "reason."
    )
    examples = """\
examples:
  manage.py pipeline_status                     # which sites stand still, and why
  manage.py confirm_end alameda.ca --reason "the city says that the files are lost"

Exit code 1: a site was refused, because its last run did not fail or no --reason was given.
"""
    done = "ended, nothing to be done"

    def act(self, site_id: str, operator: Operator) -> None:
        interventions.confirm_end(site_id, operator)
