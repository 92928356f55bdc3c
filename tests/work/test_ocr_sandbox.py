"""A reader of a foreign file sees that file and its scratch folder, and reaches nothing and nobody else."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.reports import health
from pipeline.reports.health import Level
from pipeline.work.ocr.model import OcrOptions
from pipeline.work.ocr.process import sandbox
from pipeline.work.ocr.process.parent import Child

ROOT = Path(__file__).resolve().parent.parent.parent
HIS = {"its own file", "its scratch", "a program"}
WALLED = pytest.mark.skipif(
    sandbox.available() != sandbox.WALLS, reason="this kernel lacks a wall; `health` says which"
)


@pytest.fixture
def prison() -> Iterator[Path]:
    """Where every user may pass through, unlike pytest's own folders."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def order(prison: Path) -> Iterator[dict[str, Any]]:
    cell, scratch = prison / "cell", prison / "scratch"
    for folder in (cell, scratch):
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
    for name in ("file.pdf", "neighbour.pdf"):
        (cell / name).write_text("%PDF")
        (cell / name).chmod(0o666)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as door:
        door.bind(str(prison / "door"))
        door.listen()
        (prison / "door").chmod(0o777)
        bait = {"parent": os.getpid(), "port": server.getsockname()[1], "socket": str(prison / "door")}
        yield {
            "module": "tests.work.prisoner",
            "file": str(cell / "file.pdf"),
            "scratch": str(scratch),
            "bait": bait,
        }


def reached(order: dict[str, Any], options: OcrOptions) -> set[str]:
    child = Child(order, options, time.monotonic() + 60)
    try:
        child.start()
        tries = [message["reached"] for message in child.messages()]
    finally:
        child.stop()
    assert len(tries) == 14
    return {name for name, done in tries if done}


@WALLED
def test_a_reader_reaches_its_file_and_its_scratch_alone(order) -> None:
    assert reached(order, OcrOptions()) == HIS


@WALLED
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else; others are tested above")
def test_so_it_is_for_an_ordinary_user(order) -> None:
    """The same in a process of nobody's, with nothing of ours in hand but the walls themselves."""
    program = """
import json, os, sys
from pathlib import Path
from pipeline.work.ocr.process import sandbox
from tests.work import prisoner
os.setgroups([]); os.setgid(65534); os.setuid(65534)
order = json.loads(sys.argv[1])
sandbox.enter(sandbox.code_paths() | {Path(order["file"])}, Path(order["scratch"]))
prisoner.read(order, lambda reached: print(json.dumps(reached)))
"""
    command = [sys.executable, "-c", program, json.dumps(order)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)})

    tries = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(tries) == 14, ended.stderr
    assert {name for name, done in tries if done} == HIS


def test_without_the_sandbox_it_would_reach_them_all(order) -> None:
    """That the tries are good ones."""
    everything = reached(order, OcrOptions(sandbox=False))

    assert everything >= HIS | {"a neighbour", "a folder", "a new file", "the users", "an address"}
    assert everything >= {"the parent's environment", "a signal to the parent", "a socket in a folder"}


@WALLED
def test_a_plug_in_sees_the_folders_that_the_settings_name(order, prison: Path) -> None:
    options = OcrOptions(read_dirs=str(prison / "cell"))

    assert reached(order, options) == HIS | {"a neighbour", "a folder"}


@pytest.mark.django_db
def test_health_says_what_is_in_force(settings, monkeypatch) -> None:
    def said() -> tuple[Level, str]:
        check = health._sandbox()
        return check.level, check.message

    monkeypatch.setattr(sandbox, "available", lambda: sandbox.WALLS)
    assert said() == (Level.OK, "readers of documents are shut in: no new privileges, Landlock, seccomp")
    monkeypatch.setattr(sandbox, "available", lambda: ("no new privileges", "seccomp"))
    assert said() == (Level.NOTE, "readers of documents are shut in by less than all: no Landlock here")
    settings.OCR_SANDBOX = False
    assert said()[0] == Level.NOTE
