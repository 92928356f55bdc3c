from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from pipeline import site_lists
from pipeline.site_lists import BadList


class Command(BaseCommand):
    help = "Add and update sites and their sources from a CSV or JSON file, all of it or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--format", choices=("csv", "json"), help="told from the file's name if absent")
        parser.add_argument("--dry-run", action="store_true")

    def handle(self, *, file: Path, format: str | None, dry_run: bool, **options: Any) -> str:
        read = site_lists.read_csv if (format or file.suffix[1:]) == "csv" else site_lists.read_json
        try:
            summary = site_lists.save(read(file.read_text(encoding="utf-8")), dry_run=dry_run)
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{file} is not UTF-8 text") from error
        except BadList as error:
            raise CommandError(f"{file} was not imported:\n{error}") from error
        would = "Would import (dry-run)" if dry_run else "Imported"
        sites = f"{summary.created} sites new, {summary.updated} changed, {summary.unchanged} unchanged"
        return f"{would}: {sites}; {summary.sources_created} sources new, {summary.sources_updated} changed"
