"""Processes that the command left behind: they become ours, and end with us. Only Linux can."""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
STOP_SECONDS = 10


def adopt_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def reap_orphans(besides: Collection[int]) -> None:
    """Take leave of adopted processes that have ended; nobody else can, and they would stay as zombies."""
    with contextlib.suppress(ChildProcessError):
        # Looks without taking: our own children are waited for by those who started them.
        while (
            ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        ) and ended.si_pid not in besides:
            os.waitpid(ended.si_pid, 0)


def stop_orphans(besides: Collection[int]) -> None:
    """Ask, wait, then end them. Their own orphans come to us in turn, so look again until none is left."""
    asked: set[int] = set()
    deadline = time.monotonic() + STOP_SECONDS
    while orphans := [pid for pid in _children() if pid not in besides]:
        for pid in orphans:
            if pid not in asked or time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL if pid in asked else signal.SIGTERM)
                asked.add(pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.05)


def _children() -> list[int]:
    me = str(os.getpid())
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # The fourth field; the second is the name, which may hold anything but ends at the last bracket.
            if entry.joinpath("stat").read_text().rpartition(")")[2].split()[1] == me:
                found.append(int(entry.name))
    return found
