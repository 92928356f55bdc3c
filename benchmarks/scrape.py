"""What a scrape of /metrics costs at 10,000 sites and a million ledger rows, on both databases."""

import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

import django
import django_rq
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks._crowd import make
from benchmarks.reconcile import _postgresql_url

SITES, ROUNDS = 10_000, 30


def run() -> dict[str, float]:
    """Each database in a process of its own, with its own settings."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        urls = {"pg": _postgresql_url(), "sqlite": f"sqlite:///{folder}/bench.sqlite3"}
        for name, url in urls.items():
            command = [sys.executable, "-m", "benchmarks.scrape", name]
            environment = os.environ | {"DATABASE_URL": url}
            answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
            figures |= json.loads(answer)
    return figures


def measure(name: str, sites: int = SITES) -> dict[str, float]:
    from pipeline.monitoring import metrics  # noqa: PLC0415 (the models need the settings of this process)
    from pipeline.queue import tally  # noqa: PLC0415
    from pipeline.reports import snapshot  # noqa: PLC0415
    from pipeline.reports.scrape import read_scrape  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    django_rq.get_connection("high").flushdb()
    rows = make(sites)
    for stage in ("fetch", "ocr", "compilation", "extraction", "deploy"):
        for outcome in ("processed", "failed_retryable", "failed_terminal"):
            for seconds in tally.JOB_BUCKETS:
                tally.add("clerk_job_seconds", seconds, stage=stage, outcome=outcome)
    snapshot.refresh_if_due()
    taken = snapshot.latest()

    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        with CaptureQueriesContext(connection) as captured:
            body, _type = metrics.rendered(read_scrape(), "0")
        times.append(time.perf_counter() - began)
    django_rq.get_connection("high").flushdb()
    figures = {
        "ledger_rows": rows,
        "least_ms": 1000 * min(times),
        "median_ms": 1000 * median(times),
        "p95_ms": 1000 * sorted(times)[int(len(times) * 0.95)],
        "queries": len(captured),
        "bytes": len(body),
        "snapshot_seconds": taken.seconds if taken else 0,
    }
    return {f"scrape.{name}_{key}": round(value, 3) for key, value in figures.items()}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clerk_project.settings")
    django.setup()
    print(json.dumps(measure(sys.argv[1])))
