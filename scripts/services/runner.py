"""Runs the command between the start and the stop of its services, whatever signals arrive meanwhile."""

import os
import signal
import subprocess
import sys
import tempfile
import types
from collections.abc import Sequence
from pathlib import Path

from .janitor import Janitor
from .orphans import adopt_orphans, reap_orphans, stop_orphans
from .postgres import can_reach, other_user
from .server import Server, ServiceError
from .wanted import Resolved, Wanted, resolve

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WATCH_SECONDS = 0.5
# A Unix socket's path has at most 107 characters, and some systems allow fewer.
LONGEST_TEMPORARY = 60


class Runner:
    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.command: subprocess.Popen[bytes] | None = None
        self.servers: list[Server] = []

    def run(self, command: Sequence[str]) -> int:
        """Start, run, stop. The exit code is the command's own, or 128 + the signal that ended it."""
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._on_signal)
        adopt_orphans()
        folder = temporary_folder()
        janitor = Janitor(folder)
        try:
            resolved = resolve(self.wanted, folder, janitor, os.environ)
            self.servers = resolved.servers
            for server in self.servers:
                server.start()
            return self._run_command(command, resolved, janitor)
        finally:
            for number in SIGNALS:
                signal.signal(number, signal.SIG_IGN)
            stop_orphans(besides=self._helpers(janitor))
            for server in self.servers:
                server.stop()
            janitor.finish()

    def _run_command(self, command: Sequence[str], resolved: Resolved, janitor: Janitor) -> int:
        self.command = subprocess.Popen(command, env=os.environ | resolved.environ)
        janitor.started(self.command.pid, signal.SIGTERM)
        while True:
            try:
                code = self.command.wait(WATCH_SECONDS)
            except subprocess.TimeoutExpired:
                self._restart_the_dead()
                reap_orphans(besides={self.command.pid, *self._helpers(janitor)})
            else:
                janitor.stopped(self.command.pid)
                return code if code >= 0 else 128 - code

    def _helpers(self, janitor: Janitor) -> set[int]:
        return {janitor.pid, *(server.pid for server in self.servers)}

    def _restart_the_dead(self) -> None:
        for server in self.servers:
            if server.died():
                print(f"with-services: {server.name} died and is started again", file=sys.stderr)
                try:
                    server.start()
                except ServiceError as error:  # tried again at the next look
                    print(f"with-services: {error}", file=sys.stderr)

    def _on_signal(self, number: int, frame: types.FrameType | None) -> None:
        if self.command is None:
            raise SystemExit(128 + number)
        if not (number == signal.SIGINT and _came_from_the_terminal()):
            self.command.send_signal(number)


def _came_from_the_terminal() -> bool:
    """A Ctrl-C reaches the whole foreground group: the command has it, and a second would mean more."""
    try:
        with Path("/dev/tty").open("rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def temporary_folder() -> Path:
    """A folder that the user PostgreSQL runs as can pass through, with room for a socket's name."""
    as_user = other_user()
    for parent in (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):
        if parent.is_dir() and len(str(parent)) <= LONGEST_TEMPORARY and can_reach(parent, as_user):
            folder = Path(tempfile.mkdtemp(prefix="clerk-", dir=parent))
            folder.chmod(0o711)
            return folder
    raise ServiceError("no temporary folder can be used; set TMPDIR to one with a short name")
