"""`manage.py build_full_db`: one database over all sites."""

import sqlite3
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from pipeline.management.terminal.base import COULD_NOT, OperatorCommand
from pipeline.models import Retirement, Takedown
from pipeline.stages.deploy import taken_down_ids
from pipeline.work.database.full import Built, build_full_database
from sites.models import Site
from sites.storage import SiteFiles


class Command(OperatorCommand):
    help = "Build one searchable database over all sites that are compiled, beside the deployed ones."
    examples = """\
examples:
  manage.py build_full_db
  manage.py build_full_db --output /srv/records/all.db    # from cron, after the nightly runs

Exit code 0: built, without the sites that are named as not compiled yet; 2: could not build, and the file
that was there is as it was.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--output", type=Path, help="the file to write (default: all.db where databases are deployed)"
        )

    def handle(self, *, output: Path | None, **options: Any) -> str:
        output = output or Path(settings.DEPLOY_DIR) / "all.db"
        built = self._build(output)
        for site_id in built.skipped:
            self.stdout.write(f"{site_id}: not compiled yet, left out")
        return f"{output}: {built.pages} pages of {built.sites} sites in {built.seconds:.1f} s"

    def _build(self, output: Path) -> Built:
        removed = Retirement.objects.removed().values("subdomain")
        sites = list(Site.objects.exclude(pk__in=removed).order_by("pk").values_list("pk", flat=True))
        databases = ((site_id, SiteFiles.of(site_id).database) for site_id in sites)
        taken_down = Takedown.objects.filter(lifted_at=None).values_list("site_id", flat=True).distinct()
        left_out = (document for site_id in taken_down for document in taken_down_ids(site_id))
        try:
            return build_full_database(output, databases, left_out)
        except (OSError, sqlite3.Error) as error:
            raise CommandError(f"{output} cannot be built: {error}", returncode=COULD_NOT) from error
