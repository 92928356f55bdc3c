"""The demo as a whole: real workers over the made-up towns, and nothing left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
LEFT_TO_THE_SCRIPT = ("DATABASE_URL", "REDIS_URL", "STORAGE_DIR", "DEPLOY_DIR", "CLERK_SERVICES_DIR")


def start(tmp_path: Path, *arguments: str) -> "subprocess.Popen[str]":
    """In a session of its own, so that whatever it leaves can be found."""
    command = [sys.executable, "scripts/with-services", "--sqlite", sys.executable, "-m", "demo"]
    environ = {name: value for name, value in os.environ.items() if name not in LEFT_TO_THE_SCRIPT}
    return subprocess.Popen(
        [*command, "--data", str(tmp_path / "demo"), *arguments],
        cwd=ROOT,
        env=environ | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def family_of(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    return [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]


def lines_until(process: "subprocess.Popen[str]", pattern: str) -> Iterator[str]:
    assert process.stdout is not None
    for line in process.stdout:
        yield line
        if re.search(pattern, line):
            return
    raise AssertionError(f"{pattern} never came")


@pytest.mark.slow
def test_the_demo_completes_every_site_serves_its_pages_and_stops_at_ctrl_c(tmp_path: Path) -> None:
    process = start(tmp_path)
    try:
        said = "".join(lines_until(process, "Ctrl-C"))
        family = family_of(process)
        assert said.count("completed") >= 3
        assert "all as expected" in said
        address = re.search(r"http://127\.0\.0\.1:\d+/admin/", said)
        assert address is not None
        assert httpx.get(f"{address[0]}login/", timeout=60).status_code == 200
        # What no machine could read before: found, and marked on the picture.
        found = re.search(r"picture of its page:\s+(http://127\.0\.0\.1:\d+/alderfalls\.or/\S+)", said)
        assert found is not None
        page = httpx.get(found[1], timeout=60).text
        assert ("<mark>granite drinking fountain</mark>" in page, page.count("<rect ")) == (True, 3)
        picture = httpx.get(f"{found[1].partition('?')[0]}/1200.webp", timeout=60)
        assert (picture.status_code, picture.content[8:12]) == (200, b"WEBP")

        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()
    assert psutil.wait_procs(family, timeout=10)[1] == []


@pytest.mark.slow
def test_a_demo_stopped_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    process = start(tmp_path, "--once")
    try:
        list(lines_until(process, "publish at"))
        time.sleep(2)
        family = family_of(process)
        assert len(family) > 4

        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.communicate()
    assert psutil.wait_procs(family, timeout=10)[1] == []
