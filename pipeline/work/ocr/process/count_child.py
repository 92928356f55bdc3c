"""The child process that counts the pages of PDFs."""

from pathlib import Path
from typing import Any

from pipeline.errors import DocumentError
from pipeline.work.ocr.pages.opening import open_pdf
from pipeline.work.ocr.process.child import Tell


def read(order: dict[str, Any], tell: Tell) -> None:
    for file in order["reads"]:
        tell(file=file, pages=_pages(Path(file)))


def _pages(file: Path) -> int | None:
    try:
        document = open_pdf(file)
    except (DocumentError, OSError):
        return None
    try:
        return len(document)
    finally:
        document.close()
