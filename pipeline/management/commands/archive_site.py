"""Let sites rest for good, with all that they have."""

from pipeline.management.terminal.base import SiteActCommand
from pipeline.operations import retiring
from pipeline.operations.interventions import Operator


class Command(SiteActCommand):
    help = (
        "Archive sites: no run begins any more, and files, records and pages stay as they are, for readers "
        "too. restore_site takes them up again at any time."
    )
    examples = """\
examples:
  manage.py archive_site oldtown.ca --reason "merged with newtown.ca"
  manage.py restore_site oldtown.ca
"""
    done = "archived"

    def act(self, site_id: str, operator: Operator) -> None:
        retiring.archive(site_id, operator)
