"""A child that outlives a killed parent just long enough to stop what it had started."""

import contextlib
import os
import shutil
import signal
import time
from pathlib import Path

LAST_WORD_SECONDS = 10


class Janitor:
    """Knows what runs; when the parent is gone, however it went, stops that and removes the folder."""

    def __init__(self, folder: Path) -> None:
        reading, self._writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._writing)
            _serve(reading, folder)
            os._exit(0)
        os.close(reading)

    def started(self, pid: int, stop_signal: int) -> None:
        self._tell(f"{pid} {int(stop_signal)}\n")

    def stopped(self, pid: int) -> None:
        self._tell(f"{pid} 0\n")

    def finish(self) -> None:
        os.close(self._writing)
        os.waitpid(self.pid, 0)

    def _tell(self, line: str) -> None:
        # Losing the janitor loses only the safety net; the parent still stops everything itself.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._writing, line.encode())


def _serve(reading: int, folder: Path) -> None:
    # Its own session: a Ctrl-C in the terminal is not for it. Its own output: a reader of ours would wait.
    os.setsid()
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    running: dict[int, int] = {}
    with os.fdopen(reading) as lines:
        for line in lines:
            pid, stop_signal = map(int, line.split())
            running[pid] = stop_signal
    _stop({pid: stop_signal for pid, stop_signal in running.items() if stop_signal})
    shutil.rmtree(folder, ignore_errors=True)


def _stop(running: dict[int, int]) -> None:
    for pid, stop_signal in running.items():
        _send(pid, stop_signal)
    deadline = time.monotonic() + LAST_WORD_SECONDS
    while time.monotonic() < deadline and any(_send(pid, 0) for pid in running):
        time.sleep(0.05)
    for pid in running:
        _send(pid, signal.SIGKILL)


def _send(pid: int, signal_number: int) -> bool:
    try:
        os.kill(pid, signal_number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
