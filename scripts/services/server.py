"""One server process: start it, wait until it answers, notice its death, stop it."""

import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .janitor import Janitor

START_SECONDS = 60


class ServiceError(Exception):
    """A service did not start; the message holds the end of its log."""


@dataclass
class Server:
    name: str
    command: Sequence[str | Path]
    folder: Path
    is_ready: Callable[[], bool]
    # Tried in turn, each with the seconds it may take.
    stop_signals: Sequence[tuple[signal.Signals, float]]
    janitor: Janitor
    environ: Mapping[str, str]
    as_user: Mapping[str, Any] = field(default_factory=dict)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def pid(self) -> int:
        return self.process.pid if self.process else 0

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a Ctrl-C in the terminal is for the command alone
                **self.as_user,
            )
        self.janitor.started(self.process.pid, self.stop_signals[0][0])
        self._wait_until_ready(self.process)

    def _wait_until_ready(self, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if process.poll() is not None:
                raise ServiceError(
                    f"{self.name} ended with {process.returncode} at its start:\n{self._log_end()}"
                )
            if time.monotonic() > deadline:
                raise ServiceError(f"{self.name} was not ready after {START_SECONDS} s:\n{self._log_end()}")
            time.sleep(0.02)

    def _log_end(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])

    def died(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def stop(self) -> None:
        if self.process is None:
            return
        for stop_signal, seconds in (*self.stop_signals, (signal.SIGKILL, 30)):
            if self.process.poll() is None:
                self.process.send_signal(stop_signal)
                try:
                    self.process.wait(seconds)
                except subprocess.TimeoutExpired:
                    continue
        self.janitor.stopped(self.process.pid)
