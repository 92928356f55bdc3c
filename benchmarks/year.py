"""A year of 1,000 sites, each run weekly: how every table and folder grows, with `prune` once a week."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from django.core.management import call_command

from benchmarks import _year
from benchmarks.reconcile import _postgresql_url

SITES, WEEKS = int(os.environ.get("YEAR_SITES", "1000")), int(os.environ.get("YEAR_WEEKS", "52"))
TABLES = (
    "runs",
    "run_stages",
    "webhook_deliveries",
    "reconcile_runs",
    "document_pipeline_state",
    "documents",
)
ELSEWHERE = "import django; django.setup(); from benchmarks.year import main; main()"


def run() -> dict[str, float]:
    """In a database and a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        folders = {"DEPLOY_DIR": f"{folder}/published", "STORAGE_DIR": f"{folder}/storage"}
        environ = os.environ | {"DATABASE_URL": _postgresql_url()} | folders
        command = [sys.executable, "-c", ELSEWHERE]
        answer = subprocess.run(command, env=environ, stdout=subprocess.PIPE, check=True).stdout
    return dict(json.loads(answer))


def main() -> None:
    call_command("migrate", verbosity=0)
    began = time.monotonic()
    growth = _year.simulate(SITES, WEEKS, Path(os.environ["DEPLOY_DIR"]))
    sys.stderr.write("\n".join([*_year.as_lines(growth), ""]))
    figures = {f"year_{table}_rows": float(growth.rows[table][-1]) for table in TABLES}
    figures["year_database_mb"] = sum(growth.bytes.values()) / 1e6
    figures["year_seconds"] = time.monotonic() - began
    sys.stdout.write(json.dumps(figures))
