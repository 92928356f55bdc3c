"""The warm parent: loads what reading takes once, and forks a child from itself for each document.

It opens no document, and has no address and no password that a child could inherit.
"""

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import sys
from typing import Any

from pipeline.errors import PipelineError
from pipeline.work.ocr.engines import EngineSetup, engine_for
from pipeline.work.ocr.model import OcrOptions
from pipeline.work.ocr.process.child import Read, die_with, serve

# What a plug-in does while it is built is not known, so its children build it.
WARMED = ("auto", "tesserocr")


def main(control: socket.socket) -> None:
    """An order comes as a line to its sender, to read it from, and a pipe for the child's reports."""
    last = None
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        if not message:
            return
        with socket.socket(fileno=descriptors[0]) as line:
            order = _order_on(line)
            if order is None:
                os.close(descriptors[1])
                continue
            if "languages" in order:
                last = _warm_up(order, last)
            _have_it_read(order, descriptors[1], line, control)


def _order_on(line: socket.socket) -> dict[str, Any] | None:
    """None: its sender is gone."""
    with line.makefile("rb") as stream:
        text = stream.readline()
    return json.loads(text) if text.endswith(b"\n") else None


def _warm_up(order: dict[str, Any], last: EngineSetup | None) -> EngineSetup:
    """The engine too, when it is asked for again: a single document may have no use for it."""
    setup = EngineSetup(order["languages"], OcrOptions(**order["options"]))
    if setup == last and setup.options.engine in WARMED:
        with contextlib.suppress(PipelineError):  # the child that needs it will say so
            engine_for(setup)
    return setup


def _have_it_read(order: dict[str, Any], report: int, line: socket.socket, control: socket.socket) -> None:
    read: Read = importlib.import_module(order["module"]).read
    # Held by the child alone, so its end is seen here.
    alive, held = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if not pid:
        control.close()
        line.close()
        serve(read, order, report, parent)
    for descriptor in (report, held):
        os.close(descriptor)
    with contextlib.suppress(OSError):  # its sender did not wait for the answer
        line.sendall(json.dumps(_ending(pid, alive, line)).encode())
    os.close(alive)


def _ending(pid: int, alive: int, line: socket.socket) -> dict[str, int]:
    """Who lets go of the line wants the child dead; and whatever it started goes with it in any case."""
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)
    select.select([alive, line.fileno()], [], [])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    return {"code": os.waitstatus_to_exitcode(status), "peak": usage.ru_maxrss * 1024}


if __name__ == "__main__":
    die_with(int(sys.argv[2]))
    main(socket.socket(fileno=int(sys.argv[1])))
