"""`manage.py backup`: the whole installation into a folder or a bucket, while it runs."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from pipeline.backup import taking
from pipeline.backup.target import BackupError
from pipeline.management.terminal.base import COULD_NOT, OperatorCommand, whole_number
from pipeline.reports.wording import size_of


class Command(OperatorCommand):
    help = (
        "Back up database, files, published records and settings (without secrets). Jobs may run meanwhile: "
        "the database is that of one moment, and the files are those that belong to it. What a back-up "
        "before has already is not copied again. What is written is read back and compared."
    )
    examples = """\
examples:
  manage.py backup /mnt/backup                       # the whole installation; a second one takes what changed
  manage.py backup s3://bucket/clerk --keep 14       # the newest 14 stay
  manage.py backup /mnt/backup --dry-run             # what it would hold
  manage.py backup /mnt/backup --list-files          # files only listed: they have a back-up of their own
  manage.py backup /mnt/backup --check               # read the newest one whole and compare every hash

`s3://bucket/prefix?endpoint=https://…&region=…` for other servers than Amazon's. The target holds password
hashes and the keys of webhooks: let nobody else read it. Restore with `manage.py restore`; docs/backup.md.

Exit code 0: done and verified; 2: could not, and the back-ups before are as they were.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("target", help="a folder, or s3://bucket/prefix")
        parser.add_argument("--keep", type=whole_number(1), default=0, help="how many stay (default: all)")
        parser.add_argument(
            "--list-files", action="store_true", help="list files with their hashes; copy none of them"
        )
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--dry-run", action="store_true", help="count what there is; write nothing")
        what.add_argument("--check", action="store_true", help="read a back-up whole and compare it")
        parser.add_argument("--name", default="", help="with --check: which one (default: the newest)")
        parser.add_argument("--quiet", action="store_true", help="print nothing while it goes well; for cron")

    def handle(
        self,
        *,
        target: str,
        keep: int,
        list_files: bool,
        dry_run: bool,
        check: bool,
        name: str,
        quiet: bool,
        **options: Any,
    ) -> str | None:
        say = (lambda said: None) if quiet else self.stdout.write
        try:
            if dry_run:
                planned = taking.plan()
                return (
                    f"would back up {planned.rows:,} rows and {planned.files:,} files in {planned.folders:,} "
                    f"folders, {size_of(planned.bytes)} at most (dry-run)"
                )
            if check:
                told = taking.check(target, name, say)
                return None if quiet else f"{told.name} is whole: {told.rows:,} rows, {told.files:,} files"
            done = taking.backup(target, keep=keep, with_files=not list_files, say=say)
        except BackupError as error:
            raise CommandError(str(error), returncode=COULD_NOT) from error
        return None if quiet else _in_words(done)


def _in_words(done: taking.Taken) -> str:
    told = done.manifest
    dropped = f"; {len(done.dropped)} old ones dropped, {done.freed:,} objects freed" if done.dropped else ""
    return (
        f"{told.name}: {told.rows:,} rows and {told.files:,} files ({size_of(told.bytes)}) backed up and "
        f"verified, {done.new_objects:,} objects new ({size_of(done.new_bytes)}){dropped}"
    )
