from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from pipeline import site_lists
from sites.models import Site


class Command(BaseCommand):
    help = "Write every site and its sources as CSV (a line a source) or JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="where to; the standard output if absent")
        parser.add_argument("--format", choices=("csv", "json"), help="told from the file's name if absent")

    def handle(self, *, file: Path | None, format: str | None, **options: Any) -> str | None:
        as_csv = (format or (file.suffix[1:] if file else "json")) == "csv"
        sites = Site.objects.prefetch_related("sources")
        text = site_lists.export_csv(sites) if as_csv else site_lists.export_json(sites)
        if file is None:
            return text.rstrip("\n")
        file.write_text(text, encoding="utf-8")
        return f"Wrote {sites.count()} sites to {file}"
