"""The error family: what went wrong, whether trying again can help, and a code that stays the same."""

import errno
import sqlite3
from dataclasses import dataclass
from enum import Enum

from pipeline.redaction import redact


class PipelineError(Exception):
    """An expected failure of a job. `code` is stable and is what operators filter by."""

    code = "pipeline_error"
    retryable = True

    def __init__(self, message: str, *, code: str | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code
        # Seconds the outside asked us to wait (Retry-After); overrides the backoff when longer.
        self.retry_after = retry_after


class DocumentError(PipelineError):
    """This file is bad; the rest go on."""

    code = "document_error"
    retryable = False


class StageError(PipelineError):
    """This site cannot pass this stage."""

    code = "stage_error"
    retryable = False


class SourceError(PipelineError):
    """The outside failed and may recover."""

    code = "source_error"
    retryable = True


class InfrastructureError(SourceError):
    """Not the document's fault: no attempt is charged, and its queue waits until the trouble is over."""


class MachineError(InfrastructureError):
    """This machine lacks something: a program, its data, room on its disk. Another one may have it."""

    code = "machine"


class TargetError(InfrastructureError):
    """Something that all machines share does not answer or refuses: storage, a deploy target."""

    code = "target"


class JobTimeout(PipelineError):
    """The job hit its time limit. Worth another attempt only when the last one got further."""

    code = "timeout"
    retryable = False


class Fenced(Exception):
    """This attempt or run is no longer the one that may write; nothing was written."""


WORKER_LOST = "worker_lost"
SKIPPED = "skipped"
UNEXPECTED = "unexpected"
DISK_FULL = "disk_full"
ENGINE_MISSING, LANGUAGE_MISSING = "engine_missing", "language_missing"
FULL = (errno.ENOSPC, errno.EDQUOT)
# What the operating system says when the machine, not a file, is in trouble.
_SICK = (*FULL, errno.EIO, errno.EROFS, errno.ESTALE, errno.ENOTCONN, errno.EMFILE, errno.ENFILE)
CODE_LENGTH = 50
# The job's limit, and the one that OCR sets itself a little earlier.
OUT_OF_TIME = ("timeout", "time_limit")


class Trouble(Enum):
    MACHINE = "this machine"
    TARGET = "what all machines share"


@dataclass(frozen=True)
class Failure:
    """What the ledger keeps of an exception."""

    code: str
    message: str
    retryable: bool
    retry_after: float | None = None
    got_further: bool = False
    # Whose trouble it is when it is not the document's.
    trouble: Trouble | None = None
    # The fingerprint of failures of its kind.
    group: str = ""


def storable(text: str) -> str:
    """Without what no database keeps: NUL, and halves of characters. Foreign files put both into messages."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def describe(error: BaseException) -> Failure:
    """Any exception as a ledger entry. Unclassified ones are retryable: they are bugs or passing trouble."""
    message = storable(redact(f"{type(error).__name__}: {error}"))[:500]
    if isinstance(error, PipelineError):
        # A code over the column's length would lose the whole record.
        code = error.code[:CODE_LENGTH]
        return Failure(code, message, error.retryable, error.retry_after, trouble=trouble_of(error))
    if trouble_of(error):
        return Failure(_machine_code(error), message, retryable=True, trouble=Trouble.MACHINE)
    return Failure(UNEXPECTED, message, retryable=True)


def trouble_of(error: BaseException) -> Trouble | None:
    if isinstance(error, TargetError):
        return Trouble.TARGET
    sick = isinstance(error, OSError) and error.errno in _SICK
    return Trouble.MACHINE if sick or isinstance(error, MachineError) or _is_full(error) else None


def _is_full(error: BaseException) -> bool:
    """SQLite has no number for it, only words."""
    return isinstance(error, sqlite3.OperationalError) and "disk is full" in str(error)


def _machine_code(error: BaseException) -> str:
    full = isinstance(error, OSError) and error.errno in FULL
    return DISK_FULL if full or _is_full(error) else MachineError.code
