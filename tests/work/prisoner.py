"""A reader that tries to get out: what it reached, as the text of a page for each try."""

import ctypes
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.work.ocr.process.child import Tell

CLONE_NEWUSER = 0x10000000


def read(order: dict[str, Any], tell: Tell) -> None:
    bait = order["bait"]
    tries: dict[str, Callable[[], object]] = {
        "its own file": Path(order["file"]).read_bytes,
        "its scratch": lambda: Path(order["scratch"], "note").write_text("x"),
        "a program": lambda: subprocess.run(["/bin/true"], check=True),
        "its file, to write": lambda: Path(order["file"]).write_text("x"),
        "a neighbour": lambda: Path(order["file"]).with_name("neighbour.pdf").read_bytes(),
        "a folder": lambda: list(Path(order["file"]).parent.iterdir()),
        "a new file": lambda: Path(order["file"]).with_name("new").write_text("x"),
        "the users": Path("/etc/passwd").read_text,
        "the parent's environment": Path(f"/proc/{bait['parent']}/environ").read_bytes,
        "a signal to the parent": lambda: os.kill(bait["parent"], 0),
        "an address": lambda: socket.socket().connect(("127.0.0.1", bait["port"])),
        "a socket in a folder": lambda: socket.socket(socket.AF_UNIX).connect(bait["socket"]),
        "a namespace": lambda: _refused(ctypes.CDLL(None).unshare(CLONE_NEWUSER)),
        "capabilities": lambda: _refused(-int(not _capabilities())),
    }
    for name, attempt in tries.items():
        tell(reached=[name, _reaches(attempt)])


def _reaches(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _refused(result: int) -> None:
    if result < 0:
        raise OSError("refused")


def _capabilities() -> int:
    """Beyond that of reading other users' files, asked of the kernel: /proc cannot be seen."""
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capget(header, data)
    return int(data[0]) & ~(1 << 2) | int(data[3])
