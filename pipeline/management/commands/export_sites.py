"""Every site and its sources, as a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from pipeline.management.terminal.base import COULD_NOT, OperatorCommand
from pipeline.operations import import_export
from sites.models import Site

STDOUT = Path("-")


class Command(OperatorCommand):
    help = "Write every site and its sources as CSV (one line per source) or JSON."
    examples = """\
examples:
  manage.py export_sites sites.csv
  manage.py export_sites sites.json
  manage.py export_sites - --format csv | head    # to the standard output

Exit code 0: written; 2: the file cannot be written.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", nargs="?", type=Path, help="where to; the standard output if it is - or absent"
        )
        parser.add_argument("--format", choices=("csv", "json"), help="told from the file's name if absent")

    def handle(self, *, file: Path | None, format: str | None, **options: Any) -> str | None:
        file = None if file == STDOUT else file
        as_csv = (format or (import_export.format_of(file) if file else "json")) == "csv"
        sites = Site.objects.prefetch_related("sources")
        text = import_export.export_csv(sites) if as_csv else import_export.export_json(sites)
        if file is None:
            return text.rstrip("\n")
        try:
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}", returncode=COULD_NOT) from error
        return f"Wrote {sites.count()} sites to {file}"
