"""The error family: what went wrong, whether trying again can help, and a code that stays the same."""

import errno
from dataclasses import dataclass

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
# The job's limit, and the one that OCR sets itself a little earlier.
OUT_OF_TIME = ("timeout", "time_limit")


@dataclass(frozen=True)
class Failure:
    """What the ledger keeps of an exception."""

    code: str
    message: str
    retryable: bool
    retry_after: float | None = None
    got_further: bool = False


def storable(text: str) -> str:
    """Without what no database keeps: NUL, and halves of characters. Foreign files put both into messages."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def describe(error: BaseException) -> Failure:
    """Any exception as a ledger entry. Unclassified ones are retryable: they are bugs or passing trouble."""
    message = storable(redact(f"{type(error).__name__}: {error}"))[:500]
    if isinstance(error, PipelineError):
        return Failure(error.code, message, error.retryable, error.retry_after)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Failure(DISK_FULL, message, retryable=True)
    return Failure(UNEXPECTED, message, retryable=True)
