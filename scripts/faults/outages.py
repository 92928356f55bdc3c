"""Trouble of a machine or of what all machines share, as the trivial work meets it while a file says so."""

import errno
import time
from collections.abc import Callable
from pathlib import Path

from pipeline.errors import MachineError, TargetError
from pipeline.queue import clock, pauses
from pipeline.state import retry
from pipeline.state.attempt import Attempt, Finished

Work = Callable[[Attempt], Finished | None]
SKEWED = "skewed-clock"
SKEW_SECONDS = 120.0


def refusing_target() -> None:
    raise TargetError("S3: 503 Slow Down", code="deploy_s3")


def hung_storage() -> None:
    time.sleep(1)
    raise TargetError("S3: read timed out", code="storage")


def full_disk() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def no_tesseract() -> None:
    raise MachineError("no tesseract program", code="engine_missing")


# By the stage that meets it.
KINDS: dict[str, tuple[Callable[[], None], ...]] = {
    "fetch": (full_disk, hung_storage),
    "ocr": (no_tesseract, full_disk, hung_storage),
    "compilation": (full_disk, hung_storage),
    "extraction": (full_disk, hung_storage),
    "deploy": (refusing_target, hung_storage, full_disk),
}
BY_NAME = {kind.__name__: kind for kinds in KINDS.values() for kind in kinds}


def order_file(folder: Path, stage: str) -> Path:
    return folder / f"outage-{stage}"


def troubled(work: Work, folder: Path) -> Work:
    """The same work, in a world where something may be away."""

    def meet(attempt: Attempt) -> Finished | None:
        try:
            kind = order_file(folder, attempt.stage).read_text()
        except FileNotFoundError:
            return work(attempt)
        BY_NAME[kind]()
        return None

    return meet


def hasten(folder: Path) -> None:
    """Pauses of seconds instead of minutes, and a clock that is wrong when it is told to be."""
    pauses.SHORTEST, pauses.LONGEST = 1, 2
    retry.SOON = retry.SOON / 15
    real = clock.skew
    clock.skew = lambda: SKEW_SECONDS if (folder / SKEWED).exists() else real()
