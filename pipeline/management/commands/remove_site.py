"""Remove sites: from readers now, for good after a while."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from pipeline.management.terminal.base import OperatorCommand, add_operator, finish, known_sites
from pipeline.operations import retiring
from pipeline.operations.interventions import Operator, for_each
from pipeline.operations.retiring import Retired
from pipeline.reports.wording import plural
from sites.models import Document


class Command(OperatorCommand):
    help = (
        "Remove sites. Readers lose them now: search, pages, feeds, API, deployed databases and their "
        "earlier versions. Files, texts and history stay for KEEP_REMOVED_DAYS, in which restore_site brings "
        "all of it back; then `manage.py prune` deletes them for good."
    )
    examples = """\
examples:
  manage.py remove_site oldtown.ca --dry-run
  manage.py remove_site oldtown.ca --reason "they asked us to"
  manage.py restore_site oldtown.ca

Exit code 0: done; 1: some were refused; 2: no such site.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sites", nargs="+", metavar="SITE", help="subdomains, e.g. alameda.ca")
        parser.add_argument("--dry-run", action="store_true", help="say what would go; change nothing")
        add_operator(parser)

    def handle(self, *, sites: list[str], dry_run: bool, by: str, reason: str, **options: Any) -> None:
        names = known_sites(sites)
        if dry_run:
            for name in names:
                documents = Document.objects.filter(site_id=name).count()
                self.stdout.write(
                    f"{name}: would go from readers now, and {plural(documents, 'document', 'documents')} "
                    f"for good after {plural(settings.KEEP_REMOVED_DAYS, 'day', 'days')} (dry-run)"
                )
            return
        finish(self, for_each(names, lambda name: retiring.remove(name, Operator(by, reason))), _told)


def _told(done: Retired) -> str:
    until = f"{done.purge_at:%Y-%m-%d}" if done.purge_at else ""
    return f"{done.site_id}: removed; restore_site brings it back until {until}" + (
        f"; {done.left}" if done.left else ""
    )
