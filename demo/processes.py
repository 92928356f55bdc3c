"""Child processes of the demo, stopped when it ends, however it ends."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

STOP_SECONDS = 20


class Child:
    """`with Child([...], log) as child:` runs Python with these arguments; leaving the block stops it."""

    def __init__(self, arguments: list[str], log: Path, keep: socket.socket | None = None) -> None:
        self.log = log
        self._arguments = arguments
        self._keep = [keep.fileno()] if keep else []

    def __enter__(self) -> "Child":
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, *self._arguments],
                cwd=Path(__file__).resolve().parent.parent,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                pass_fds=self._keep,
                start_new_session=True,  # a Ctrl-C is for the demo, which then stops this
            )
        return self

    def __exit__(self, *error: object) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()

    def ended(self) -> bool:
        return self._process.poll() is not None

    def wait(self) -> int:
        return self._process.wait()


def listening_socket() -> socket.socket:
    """A free port of the loopback address, kept open so that nobody else can take it."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.bind(("127.0.0.1", 0))
    listening.listen(64)
    return listening
