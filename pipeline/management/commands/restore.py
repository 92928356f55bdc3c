"""`manage.py restore`: an installation as it was, on SQLite or PostgreSQL, whatever it was on before."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from pipeline.backup import manifest, restoring, taking
from pipeline.backup.target import BackupError, open_target
from pipeline.management.terminal.base import COULD_NOT, OperatorCommand
from pipeline.reports.wording import size_of


class Command(OperatorCommand):
    help = (
        "Restore a back-up into an empty installation: files, published records and database, then the "
        "search index anew. Stop the workers first. A restore that was cut off goes on where it was."
    )
    examples = """\
examples:
  manage.py restore /mnt/backup --list               # which back-ups there are
  manage.py restore /mnt/backup --dry-run            # is it whole, and is there room for it here?
  manage.py restore /mnt/backup                      # the newest
  manage.py restore s3://bucket/clerk --name 20260104T031500000000Z
  manage.py restore /mnt/backup --replace            # what is here is set aside (files) and deleted (rows)
  manage.py restore /mnt/backup --show-settings      # the settings of then, without secrets

Afterwards: manage.py workers, manage.py reconcile, manage.py verify --files. The guide is docs/backup.md.

Exit code 0: done; 2: could not, for the reason given.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", help="a folder, or s3://bucket/prefix")
        parser.add_argument("--name", default="", help="which back-up (default: the newest)")
        parser.add_argument(
            "--replace", action="store_true", help="restore although there are data here already"
        )
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--dry-run", action="store_true", help="check everything; change nothing")
        what.add_argument("--list", action="store_true", help="list the back-ups")
        what.add_argument("--show-settings", action="store_true", help="print the settings of then")

    def handle(
        self,
        *,
        source: str,
        name: str,
        replace: bool,
        dry_run: bool,
        list: bool,
        show_settings: bool,
        **options: Any,
    ) -> str | None:
        try:
            if list:
                return self._list(source)
            if show_settings:
                self._settings(source, name)
                return None
            if dry_run:
                return _would(restoring.look(source, name, replace=replace))
            return self._done(restoring.restore(source, name, replace=replace, say=self.stdout.write))
        except BackupError as error:
            raise CommandError(str(error), returncode=COULD_NOT) from error

    def _list(self, source: str) -> str | None:
        target = open_target(source)
        found = [manifest.read(target, name) for name in manifest.names(target)]
        for told in found:
            files = "" if told.with_files else " (listed only)"
            self.stdout.write(
                f"{told.name}  {told.rows:,} rows, {told.files:,} files{files}, {size_of(told.bytes)}, "
                f"from {told.vendor}"
            )
        return None if found else f"{target}: no finished back-up there"

    def _settings(self, source: str, name: str) -> None:
        for setting, value in taking.chosen(open_target(source), name).settings.items():
            self.stdout.write(f"{setting}={value}")

    def _done(self, done: restoring.Restored) -> str:
        for place in done.set_aside:
            self.stdout.write(f"what was there before is in {place}; remove it when all is well")
        for what in done.left_to_do:
            self.stderr.write(what)
        told = done.manifest
        return (
            f"{told.name} restored: {told.rows:,} rows, {done.brought:,} files brought. Now start the "
            "workers and run: manage.py reconcile && manage.py verify --files"
        )


def _would(told: manifest.Manifest) -> str:
    return (
        f"would restore {told.name}: {told.rows:,} rows and {told.files:,} files, {size_of(told.bytes)} "
        "(dry-run)"
    )
