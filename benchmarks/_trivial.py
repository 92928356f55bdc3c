"""Jobs with no work at all: what they cost is the queue, the ledger and the worker."""

from pipeline.protocol import job
from pipeline.state.attempt import Attempt, Finished
from sites.stages import Stage


@job(Stage.OCR)
def nothing(attempt: Attempt) -> Finished:
    return Finished()


def nothing_at_all() -> None: ...
