"""The command line: the fault test on each database, each in a process of its own, and the verdict."""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from .plan import DATABASES, MODES, TROUBLE, Plan
from .stand import Stand

DESCRIPTION = """\
Run sites through the real flow with real forked workers and trivial work, and meanwhile kill work-horses and
workers, kill and flush Redis, restart PostgreSQL in immediate mode, deliver jobs twice, restart sites in
mid-run, hold a lock open, make Redis refuse writes, fill disks, take away Tesseract, hang and refuse storage
and targets, set clocks wrong, put an older database back, let operators act at random, and let processes
kill themselves at each commit and enqueue. Then see what held. Exit code 0: all.
"""
EPILOG = """\
Shortened for the test: heartbeats (90 s -> 6 s), a worker's maintenance (60 s -> 3 s), reconcile's grace
(300 s -> 9 s) and interval (15 min -> 4 s), the backoff of retries (60 s -> 0.2 s).
"""


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    asked = vars(options)
    plan = Plan(**{field.name: asked[field.name] for field in fields(Plan)})
    if options.report:
        return _one(options.database, plan, options.report)
    chosen = DATABASES if options.database == "both" else (options.database,)
    results = {database: _in_a_process(database, plan) for database in chosen}
    verdict = {"ok": all(result["ok"] for result in results.values()), "seed": plan.seed, **results}
    print(json.dumps(verdict))
    return 0 if verdict["ok"] else 1


def _in_a_process(database: str, plan: Plan) -> dict[str, Any]:
    """Django knows one database a process."""
    with tempfile.NamedTemporaryFile() as report:
        command = [sys.executable, sys.argv[0], "--database", database, "--report", report.name]
        ended = subprocess.run([*command, *plan.as_arguments()])
        text = Path(report.name).read_text()
        return json.loads(text) if text else {"ok": False, "error": f"ended with {ended.returncode}"}


def _one(database: str, plan: Plan, report: Path) -> int:
    with Stand(database, plan.grace) as stand:
        result = stand.play(plan)
    report.write_text(json.dumps(result))
    return 0 if result["ok"] else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "chaos",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--seed", type=int, default=random.randrange(10_000), help="what happens, in which order"
    )
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--docs", type=int, default=30, help="documents a site")
    parser.add_argument("--seconds", type=float, default=60, help="how long there is trouble")
    parser.add_argument(
        "--patience", type=float, default=300, help="give up when nothing has moved for so many seconds"
    )
    parser.add_argument(
        "--grace", type=int, default=9, help="seconds after which reconcile takes a row for lost"
    )
    parser.add_argument(
        "--mode",
        choices=MODES,
        default=TROUBLE,
        help="drill: one loss at a time, and what each costs; real-time-drill: with nothing shortened (give "
        "--grace 300; up to half an hour)",
    )
    parser.add_argument("--database", choices=[*DATABASES, "both"], default="both")
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    return parser
