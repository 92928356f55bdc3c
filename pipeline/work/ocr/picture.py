"""One page of a PDF as a picture, drawn in a child process that can be killed, as all work on a PDF is."""

import base64
import tempfile
import time
from pathlib import Path

from pipeline.errors import DocumentError
from pipeline.work.ocr.model import OcrOptions
from pipeline.work.ocr.process.parent import Child, ChildDied
from pipeline.work.ocr.sniffing import FileKind, sniff

# Somebody waits for it.
LIMITS = OcrOptions(page_seconds=15, document_seconds=20)
MIN_WIDTH, MAX_WIDTH = 16, 4000


def draw_page(pdf: Path, page: int, width: int, limits: OcrOptions = LIMITS) -> bytes:
    """The page as WebP, as a viewer shows it, at most so wide; or a DocumentError whose code says why not.

    Boxes of words (`words.py`) lie on it as they are. A process that draws often calls
    `process.parent.keep_warm()` first: a picture then costs a fork instead of a start.
    """
    if sniff(pdf) is not FileKind.PDF:
        raise DocumentError(f"{pdf.name} has no pages to draw", code="not_a_pdf")
    order = {
        "module": "pipeline.work.ocr.process.picture_child",
        "file": str(pdf.resolve()),
        "page": page,
        "width": min(max(width, MIN_WIDTH), MAX_WIDTH),
    }
    try:
        return _drawn(order, limits)
    except ChildDied as death:
        raise DocumentError(f"page {page} of {pdf.name}: {death}", code=death.code) from death


def _drawn(order: dict[str, object], limits: OcrOptions) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        child = Child(order | {"scratch": scratch}, limits, time.monotonic() + limits.document_seconds)
        picture = b""
        try:
            child.start()
            for message in child.messages():
                picture = base64.b64decode(message["picture"])
        finally:
            child.stop()
    return picture
