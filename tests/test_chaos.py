"""A short seed of the fault test on the database of this part of the suite; `make chaos` is the whole."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]


def test_after_a_few_seconds_of_trouble_nothing_is_lost_or_counted_twice():
    size = ["--seed", "4", "--sites", "3", "--docs", "5", "--seconds", "6", "--grace", "3"]
    command = [sys.executable, "scripts/chaos", "--database", connection.vendor, "--patience", "120", *size]

    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    verdict = json.loads(ended.stdout.splitlines()[-1])
    assert (verdict["ok"], ended.returncode) == (True, 0), ended.stdout + ended.stderr
    assert verdict[connection.vendor]["trouble"] > 0
