"""Take archived or removed sites up again."""

from pipeline.management.terminal.base import SiteActCommand
from pipeline.operations import retiring
from pipeline.operations.interventions import Operator


class Command(SiteActCommand):
    help = (
        "Take archived or removed sites up again. What readers lost of a removed one is published anew by "
        "the run that begins; once it was deleted for good, add the site again instead."
    )
    examples = """\
examples:
  manage.py restore_site oldtown.ca
  manage.py restore_site oldtown.ca --reason "removed by mistake"
"""
    done = "restored"

    def act(self, site_id: str, operator: Operator) -> None:
        retiring.restore(site_id, operator)
