"""A child process that can always be killed: watched for time and memory, and never outliving its parent."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.work.ocr.memory import MIB, memory_of
from pipeline.work.ocr.model import OcrOptions

ROOT = Path(__file__).resolve().parents[3]
WATCH_SECONDS = 0.05
# Signals whose handlers raise: RQ's time limit, and the ways a worker is told to stop.
RAISING = (signal.SIGALRM, signal.SIGTERM, signal.SIGINT)
NEAR_LIMIT = 0.7


class ChildDied(Exception):
    """The child was killed or fell; `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Child:
    """`start`, iterate over `messages`, and `stop` in a `finally`."""

    def __init__(
        self, module: str, order: dict[str, Any], options: OcrOptions, deadline: float, scratch: Path
    ) -> None:
        self._module, self._order, self._options, self._deadline = module, order, options, deadline
        self._scratch = scratch
        self._process: subprocess.Popen[bytes] | None = None
        self._reports = -1
        self.peak = 0

    def start(self) -> None:
        """A signal handler's exception must not fall between the fork and our knowing of the child."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, RAISING)
        try:
            self._reports, writing = os.pipe()
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", self._module],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(writing,),
                    env=_environment(self._scratch),
                    start_new_session=True,
                )
            finally:
                os.close(writing)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._send(self._order | {"report": writing, "parent": os.getpid(), "options": asdict(self._options)})

    def _send(self, order: dict[str, Any]) -> None:
        assert self._process and self._process.stdin
        try:
            with self._process.stdin as stdin:
                stdin.write(json.dumps(order).encode())
        except BrokenPipeError:
            pass  # it died before it listened; `messages` says so

    def messages(self) -> Iterator[dict[str, Any]]:
        """What the child reports, until it is done. The page's clock starts anew with each message."""
        buffer = b""
        page_deadline = time.monotonic() + self._options.page_seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._reports, selectors.EVENT_READ)
            while True:
                if not selector.select(WATCH_SECONDS):
                    self._watch(page_deadline)
                    continue
                piece = os.read(self._reports, 1 << 16)
                if not piece:
                    break
                *lines, buffer = (buffer + piece).split(b"\n")
                for line in lines:
                    yield json.loads(line)
                    page_deadline = time.monotonic() + self._options.page_seconds
                self._watch(page_deadline)
        self._reap()

    def _watch(self, page_deadline: float) -> None:
        assert self._process
        used = memory_of(self._process.pid)
        self.peak = max(self.peak, used)
        if used > self._options.memory_limit:
            raise ChildDied("memory_limit", f"more than {self._options.memory_limit // MIB} MiB of memory")
        now = time.monotonic()
        if now > self._deadline:
            raise ChildDied("time_limit", f"more than {self._options.document_seconds:g} s for the document")
        if now > page_deadline:
            raise ChildDied("page_time_limit", f"more than {self._options.page_seconds:g} s on a page")

    def _reap(self) -> None:
        assert self._process
        _, status, usage = os.wait4(self._process.pid, 0)
        code = self._process.returncode = os.waitstatus_to_exitcode(status)
        if code == 0:
            return
        if usage.ru_maxrss * 1024 > NEAR_LIMIT * self._options.memory_limit:
            raise ChildDied("memory_limit", f"fell near its limit of {self._options.memory_limit // MIB} MiB")
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise ChildDied("reader_crashed", f"the reader fell ({name})")

    def stop(self) -> None:
        """Kill what still runs, the engine's own processes too. Calling it twice does no harm."""
        if self._process is not None:
            if self._process.returncode is None:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            if self._process.stdin:
                self._process.stdin.close()
            self._process = None
        if self._reports >= 0:
            os.close(self._reports)
            self._reports = -1


def _environment(scratch: Path) -> dict[str, str]:
    """No passwords, no addresses: the child needs none. One thread: more only slow Tesseract down."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH") if name in os.environ
    }
    return kept | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
        "OMP_THREAD_LIMIT": "1",
        "TMPDIR": str(scratch),
    }
