"""Prove that schema, counters, ledger and files agree."""

import json
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import InterfaceError, OperationalError, connection

from pipeline.management.terminal.base import OperatorCommand
from pipeline.verify import Verification, schema, verify


class Command(OperatorCommand):
    help = (
        "Check that the schema is whole, the counters equal the ledger, the scheduler's queries use their "
        "indexes and, where asked, that the files are there. Exit code 0: all holds; 1: something does not; "
        "2: could not check."
    )
    examples = """\
examples:
  manage.py verify                       # schema, ledger, counters, query plans
  manage.py verify --files               # and storage; then with --fix
  manage.py verify --preflight           # may the old table and columns go?
  manage.py verify --json | jq .problems
"""
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
        parser.add_argument(
            "--apply-migrations", action="store_true", help="bring the schema up to date first"
        )
        parser.add_argument("--files", action="store_true", help="compare the ledger with storage, both ways")
        parser.add_argument(
            "--fix", action="store_true", help="with --files: fix what can be fixed without losing a file"
        )
        parser.add_argument("--quiet", action="store_true", help="print nothing while all holds: for cron")
        parser.add_argument("--preflight", action="store_true", help="may the old table and columns go?")

    def handle(
        self,
        *,
        json: bool,
        apply_migrations: bool,
        files: bool,
        fix: bool,
        preflight: bool,
        quiet: bool,
        **options: Any,
    ) -> None:
        if fix and not files:
            raise CommandError("--fix repairs files: use it together with --files", returncode=2)
        try:
            connection.ensure_connection()
            if apply_migrations:
                self._apply_migrations(json)
            report = verify(with_files=files, fix=fix, with_preflight=preflight)
        except (OperationalError, InterfaceError, OSError) as error:
            self._could_not(str(error), json)
        if report.mended or not (report.ok and quiet):
            self._print(report, json)
        if not report.ok:
            failed = len(report.problems) + sum(not criterion.ok for criterion in report.preflight)
            raise CommandError(f"{failed} checks failed", returncode=1)

    def _apply_migrations(self, quiet: bool) -> None:
        try:
            call_command("migrate", interactive=False, verbosity=0, stdout=self.stderr)
        except CommandError as error:  # the drops refuse in words; the check then names what is not applied
            self.stderr.write(f"not every migration could be applied: {error}")
        schema.restore_trigger()

    def _could_not(self, why: str, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps({"ok": False, "error": why}))
        raise CommandError(f"could not verify: {why}", returncode=2)

    def _print(self, report: Verification, as_json: bool) -> None:
        if as_json:
            return self.stdout.write(json.dumps(report.as_json()))
        for line in report.mended:
            self.stdout.write(f"fixed  {line}")
        for problem in report.problems:
            self.stdout.write(f"wrong   {problem}")
        for note in report.notes:
            self.stdout.write(f"note    {note}")
        for criterion in report.preflight:
            self.stdout.write(f"{'pass' if criterion.ok else 'fail'}    {criterion.name}: {criterion.detail}")
        if report.ok:
            self.stdout.write(f"all holds: {', '.join(report.checked)}")
