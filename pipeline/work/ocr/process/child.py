"""The child's side: limits itself, dies with its parent, and reports to the reading process line by line."""

import ctypes
import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.errors import PipelineError
from pipeline.work.ocr.model import OcrOptions
from pipeline.work.ocr.process import sandbox
from pipeline.work.ocr.process.memory import open_own

PR_SET_PDEATHSIG = 1


Tell = Callable[..., None]
Read = Callable[[dict[str, Any], Tell], None]


def serve(read: Read, order: dict[str, Any], report: int, parent: int) -> None:
    """Run `read` on the order and report what it says, its failure too. Does not return."""
    try:
        os.setpgid(0, 0)
        die_with(parent)
        os.environ["TMPDIR"] = order["scratch"]
        _limit(OcrOptions(**order["options"]).address_space)
        _shut_in(order)
        _serve(read, order, _teller(report))
        os._exit(0)
    finally:
        # Nothing here needs tearing down, and pdfium's own end is one more place to hang.
        os._exit(1)


def _serve(read: Read, order: dict[str, Any], tell: Tell) -> None:
    try:
        tell(pid=os.getpid())
        read(order, tell)
    except PipelineError as error:
        tell(failed=str(error), code=error.code, retryable=error.retryable)
    except MemoryError:
        tell(failed="more memory than it may have", code="memory_limit", retryable=False)
    except BrokenPipeError:
        pass  # nobody listens any more
    except Exception:  # the parent raises it again: a bug must be seen
        tell(failed=traceback.format_exc()[-2000:], code=None, retryable=True)


def _teller(descriptor: int) -> Tell:
    def tell(**message: Any) -> None:
        line = json.dumps(message, default=vars).encode() + b"\n"
        while line:
            line = line[os.write(descriptor, line) :]

    return tell


def die_with(parent: int) -> None:
    """Signals blocked by the parent while it forked are open again; its death is ours."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _shut_in(order: dict[str, Any]) -> None:
    """Only now, with what is needed from outside in hand."""
    open_own()
    options = order["options"]
    if not options["sandbox"]:
        return
    program, data = options["tesseract_cmd"], options["tessdata"]
    named = [
        order.get("file"),
        *order.get("reads", ()),
        program,
        data,
        *options["read_dirs"].split(os.pathsep),
    ]
    paths = {Path(path).resolve() for path in named if path}
    sandbox.enter(sandbox.code_paths() | paths, Path(order["scratch"]))


def _limit(wall: int) -> None:
    """The parent watches what is really used; a bomb that outruns its watch ends at this wall."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (wall, wall))
