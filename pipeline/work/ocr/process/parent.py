"""A child process that can always be killed: watched for time and memory, and never outliving its parent."""

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.errors import ENGINE_MISSING, LANGUAGE_MISSING, DocumentError, MachineError, PipelineError
from pipeline.work.ocr.model import OcrOptions
from pipeline.work.ocr.process.memory import MIB, memory_of

ROOT = Path(__file__).resolve().parents[4]
WATCH_SECONDS = 0.05
ANSWER_SECONDS = 10
# Signals whose handlers raise: RQ's time limit, and the ways a worker is told to stop.
RAISING = (signal.SIGALRM, signal.SIGTERM, signal.SIGINT)
NEAR_LIMIT = 0.7


class ChildDied(Exception):
    """The child was killed or fell; `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class WarmParent:
    """The process of `warm.py`: a worker keeps one, so that a document costs a fork instead of a start."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "pipeline.work.ocr.process.warm",
                    str(theirs.fileno()),
                    str(os.getpid()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=_environment(),
                start_new_session=True,
            )
        self.pid = self._process.pid

    def ask(self, order: dict[str, Any], report: int) -> socket.socket:
        """The line to the child's parent: it tells how the child ended; letting go of it kills the child."""
        line, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [b"."], [theirs.fileno(), report])
        line.settimeout(ANSWER_SECONDS)
        line.sendall(json.dumps(order).encode() + b"\n")
        return line

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        self._control.close()
        self._process.kill()
        self._process.wait()


_kept: WarmParent | None = None


def keep_warm() -> int:
    """For a process that has many documents read, by itself or by its forks; the warm parent's id."""
    global _kept
    if _kept is None or not _kept.is_alive():
        let_cool()
        _kept = WarmParent()
    return _kept.pid


def let_cool() -> None:
    global _kept
    if _kept is not None:
        _kept.stop()
        _kept = None


class Child:
    """`start`, iterate over `messages`, and `stop` in a `finally`."""

    def __init__(self, order: dict[str, Any], options: OcrOptions, deadline: float) -> None:
        self._order = order | {"options": asdict(options)}
        self._options, self._deadline = options, deadline
        self._own: WarmParent | None = None
        self._line: socket.socket | None = None
        self._reports = -1
        self._pid = 0

    def start(self) -> None:
        """A signal handler's exception must not fall between the fork and our knowing of the child."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, RAISING)
        try:
            self._reports, writing = os.pipe()
            try:
                self._line = self._ask(writing)
            finally:
                os.close(writing)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _ask(self, report: int) -> socket.socket:
        if _kept is not None:
            with contextlib.suppress(OSError):  # it fell; the worker starts another for its next job
                return _kept.ask(self._order, report)
        self._own = WarmParent()
        return self._own.ask(self._order, report)

    @property
    def has_begun(self) -> bool:
        """It stands behind its walls and reads. If it dies before, no file has brought it down."""
        return self._pid > 0

    def messages(self) -> Iterator[dict[str, Any]]:
        """What the child reports, until it is done or failed. Each message starts the page's clock anew."""
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
                for message in map(json.loads, lines):
                    if "pid" in message:
                        self._pid = message["pid"]
                    elif "failed" in message:
                        raise failure_in(message)
                    else:
                        yield message
                    page_deadline = time.monotonic() + self._options.page_seconds
                self._watch(page_deadline)
        self._judge()

    def _watch(self, page_deadline: float) -> None:
        if self._pid and memory_of(self._pid) > self._options.memory_limit:
            raise ChildDied("memory_limit", f"more than {self._options.memory_limit // MIB} MiB of memory")
        now = time.monotonic()
        if now > self._deadline:
            raise ChildDied("time_limit", f"more than {self._options.document_seconds:g} s for the document")
        if now > page_deadline:
            raise ChildDied("page_time_limit", f"more than {self._options.page_seconds:g} s on a page")

    def _judge(self) -> None:
        """How did it end?"""
        assert self._line
        try:
            with self._line.makefile("rb") as stream:
                ending = stream.read()
        except OSError:
            ending = b""
        if not ending:
            raise ChildDied("reader_crashed", "the reader went without a word")
        code, peak = json.loads(ending).values()
        if code == 0:
            return
        if peak > NEAR_LIMIT * self._options.memory_limit:
            raise ChildDied("memory_limit", f"fell near its limit of {self._options.memory_limit // MIB} MiB")
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise ChildDied("reader_crashed", f"the reader fell ({name})")

    def stop(self) -> None:
        """Kill what still runs, the engine's own processes too. Calling it twice does no harm."""
        if self._line is not None:
            self._let_go(self._line)
            self._line = None
        if self._own is not None:
            self._own.stop()
            self._own = None
        if self._reports >= 0:
            os.close(self._reports)
            self._reports = -1

    def _let_go(self, line: socket.socket) -> None:
        """The warm parent closes its end once the child is gone."""
        try:
            line.shutdown(socket.SHUT_WR)
            while line.recv(1 << 12):
                pass
        except TimeoutError:
            raise
        except OSError:
            pass  # the warm parent fell, and its child with it
        line.close()


def failure_in(message: dict[str, Any]) -> Exception:
    """What the child reported as its failure, as the error to raise."""
    reason, code = message["failed"], message["code"]
    if code is None:
        return RuntimeError(f"the reader failed: {reason}")
    if code in (ENGINE_MISSING, LANGUAGE_MISSING):
        return MachineError(reason, code=code)
    if message["retryable"]:
        return PipelineError(reason, code=code)
    if code == "memory_limit":
        return ChildDied(code, reason)
    return DocumentError(reason, code=code)


def _environment() -> dict[str, str]:
    """No passwords, no addresses: the child needs none. One thread: more only slow Tesseract down."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH") if name in os.environ
    }
    return kept | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
        "OMP_THREAD_LIMIT": "1",
    }
