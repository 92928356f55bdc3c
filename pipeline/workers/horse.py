"""The process that a staying worker has its jobs done by: started once, asked many times, always ended."""

import contextlib
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

MIB = 1024 * 1024
# What the process answers after a job: it can take another one, or it goes now.
FREE, LEAVING = b"+", b"-"
LEAVE_SECONDS = 5.0
Ended = tuple[int | None, int | None, "resource.struct_rusage | None"]


class Horse:
    """Seen from the worker: orders go in, one byte comes out for each; the end of the line is its death."""

    def __init__(self, live: Callable[[socket.socket], NoReturn]) -> None:
        self._line, theirs = socket.socketpair()
        self._is_new = True
        self.pid = os.fork()
        if self.pid == 0:
            self._line.close()
            let_go_in_children(theirs.fileno())
            live(theirs)
        theirs.close()

    def can_take_a_job(self) -> bool:
        """Asked once after each job: then the answer that `wait` saw is taken from the line."""
        if self._is_new:
            return True
        try:
            return self._line.recv(1, socket.MSG_DONTWAIT) == FREE
        except OSError:
            return False

    def give(self, order: bytes) -> bool:
        """False when it died while it had nothing to do."""
        self._is_new = False
        try:
            self._line.sendall(order + b"\n", socket.MSG_NOSIGNAL)
        except OSError:
            return False
        return True

    def wait(self) -> Ended:
        """Until the job is done (then the code is 0) or the process died. It may be interrupted anywhere:
        the answer stays on the line until the next job is due."""
        select.select([self._line], [], [])
        try:
            if self._line.recv(1, socket.MSG_PEEK):
                return self.pid, os.EX_OK, None
        except OSError:
            pass  # as good as the end of the line
        return self._reap(0)

    def end(self) -> None:
        """It has nothing in hand. One that does not leave by itself is made to."""
        self._line.close()
        deadline = time.monotonic() + LEAVE_SECONDS
        while time.monotonic() < deadline:
            if self._reap(os.WNOHANG)[0] != 0:
                return
            time.sleep(0.01)
        self.kill()
        self._reap(0)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # it is gone already
            os.killpg(self.pid, signal.SIGKILL)

    def _reap(self, options: int) -> Ended:
        try:
            return os.wait4(self.pid, options)
        except ChildProcessError:
            return None, None, None


def let_go_in_children(line: int) -> None:
    """What a job starts must not hold the line: its end is how the worker hears of this process's death.

    By its number: a socket that is being read as a file closes only together with that.
    """
    held = [line]

    def let_go() -> None:
        if held:
            os.close(held.pop())

    os.register_at_fork(after_in_child=let_go)


def memory_mb() -> float:
    """What this process has in memory now; where the kernel does not say, the most it ever had."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / MIB
