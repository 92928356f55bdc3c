"""The child process for a PDF: opened, then read a page at a time."""

from pathlib import Path
from typing import Any

import pypdfium2

from pipeline.errors import DocumentError
from pipeline.work.ocr.engines import EngineSetup
from pipeline.work.ocr.model import OcrOptions
from pipeline.work.ocr.pages.damage import damage_of
from pipeline.work.ocr.pages.opening import open_pdf
from pipeline.work.ocr.pages.reading import Reader
from pipeline.work.ocr.process.child import Tell
from pipeline.work.ocr.process.memory import MIB, give_back, own_memory

GROWTH = 100 * MIB


def read(order: dict[str, Any], tell: Tell) -> None:
    options = OcrOptions(**order["options"])
    file = Path(order["file"])
    document = open_pdf(file)
    total = len(document)
    if total > options.max_pages:
        raise DocumentError(
            f"{total} pages, more than the {options.max_pages} allowed", code="too_many_pages"
        )
    tell(pages=total, damage=damage_of(file, total))
    reader = Reader(file, EngineSetup(order["languages"], options))
    ceiling = own_memory() + GROWTH
    for number in sorted(set(range(1, total + 1)) - set(order["done"])):
        tell(page=reader.page(document, number))
        if own_memory() > ceiling:
            document = _afresh(document, file)
            ceiling = own_memory() + GROWTH


def _afresh(document: pypdfium2.PdfDocument, file: Path) -> pypdfium2.PdfDocument:
    """pdfium keeps what it has read of a file until it is closed: hundreds of scans add up."""
    document.close()
    give_back()
    return open_pdf(file)
