"""How many pages PDFs have, asked of a child process that can be killed, as all work on a PDF is."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import MachineError
from pipeline.work.ocr.model import OcrOptions
from pipeline.work.ocr.process.parent import Child, ChildDied

# Opening a file takes milliseconds; one that takes longer will not be opened.
LIMITS = OcrOptions(page_seconds=20, document_seconds=3600)


def count_pages(pdfs: Sequence[Path], limits: OcrOptions = LIMITS) -> dict[Path, int | None]:
    """Each file's number of pages; None for one that cannot be opened, or that brought the reader down.

    A reader that falls before it has seen a file says nothing of any: that is an error.
    """
    counted: dict[Path, int | None] = {}
    while left := [pdf for pdf in pdfs if pdf not in counted]:
        _count(left, counted, limits)
        # The one that no answer came for is the one the reader fell over.
        for pdf in left:
            if pdf not in counted:
                counted[pdf] = None
                break
    return counted


def _count(pdfs: Sequence[Path], counted: dict[Path, int | None], limits: OcrOptions) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        order = {
            "module": "pipeline.work.ocr.process.count_child",
            "reads": [str(pdf) for pdf in pdfs],
            "scratch": scratch,
        }
        child = Child(order, limits, time.monotonic() + limits.document_seconds)
        try:
            child.start()
            for message in child.messages():
                counted[Path(message["file"])] = message["pages"]
        except ChildDied as error:
            if not child.has_begun:
                raise MachineError(f"no PDF can be opened on this machine: {error}") from error
        finally:
            child.stop()
