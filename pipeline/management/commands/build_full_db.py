"""`manage.py build_full_db`: one database over all sites."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from pipeline.work.full_database import build_full_database
from sites.models import Site
from sites.storage import SiteFiles


class Command(BaseCommand):
    help = "Build one searchable database over all sites that are compiled, beside the deployed ones."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--output", type=Path, help="the file to write (default: all.db where databases are deployed)"
        )

    def handle(self, *, output: Path | None, **options: Any) -> str:
        output = output or Path(settings.DEPLOY_DIR) / "all.db"
        sites = Site.objects.order_by("pk").values_list("pk", flat=True).iterator()
        built = build_full_database(output, ((site_id, SiteFiles.of(site_id).database) for site_id in sites))
        for site_id in built.skipped:
            self.stdout.write(f"{site_id}: not compiled yet, left out")
        return f"{output}: {built.pages} pages of {built.sites} sites in {built.seconds:.1f} s"
