"""Many sites at once, from a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from pipeline.management.terminal.base import COULD_NOT, FAILED, OperatorCommand
from pipeline.operations import import_export
from pipeline.operations.import_export import BadList


class Command(OperatorCommand):
    help = "Add and update sites and their sources from a CSV or JSON file, all of it or nothing."
    examples = """\
examples:
  manage.py export_sites sites.csv               # what it should look like
  manage.py import_sites sites.csv --dry-run
  manage.py import_sites sites.csv

What the file lacks stays as it is, and nothing is deleted. Exit code 0: imported; 1: something in the file is
wrong, each thing is named and nothing was saved; 2: the file cannot be read.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a .csv or .json file")
        parser.add_argument("--format", choices=("csv", "json"), help="told from the file's name if absent")
        parser.add_argument(
            "--dry-run", action="store_true", help="check, say what would change, save nothing"
        )

    def handle(self, *, file: Path, format: str | None, dry_run: bool, **options: Any) -> str:
        as_csv = (format or import_export.format_of(file)) == "csv"
        read = import_export.read_csv if as_csv else import_export.read_json
        try:
            summary = import_export.save(read(file.read_text(encoding="utf-8")), dry_run=dry_run)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}", returncode=COULD_NOT) from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{file} is not UTF-8 text", returncode=COULD_NOT) from error
        except BadList as error:
            raise CommandError(f"{file} was not imported:\n{error}", returncode=FAILED) from error
        would = "Would import (dry-run)" if dry_run else "Imported"
        sites = f"{summary.created} sites new, {summary.updated} changed, {summary.unchanged} unchanged"
        return f"{would}: {sites}; {summary.sources_created} sources new, {summary.sources_updated} changed"
