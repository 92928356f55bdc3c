"""Opening a PDF: pdfium first, then repaired by pypdf, then what can be salvaged."""

from collections.abc import Iterator
from pathlib import Path

import pypdfium2

from pipeline.errors import DocumentError
from pipeline.work.ocr.pages import mending
from pipeline.work.ocr.pages.salvage import with_new_root

HEADER = b"%PDF-"
# pdfium looks for the header in the first kilobyte only.
PDFIUM_REACH = 1024
HEADER_REACH = 64 * 1024
# What it takes to hold a file twice in memory and still read it.
MAX_MENDED = 100 * 1024 * 1024


def open_pdf(file: Path) -> pypdfium2.PdfDocument:
    """An open document with at least one page, or the reason why there is none."""
    trouble = "it is damaged"
    for source in _sources(file):
        try:
            document = pypdfium2.PdfDocument(source)
        except pypdfium2.PdfiumError as error:
            trouble = str(error)
            continue
        if len(document):
            return document
        document.close()
    raise DocumentError(f"{file.name} cannot be read: {trouble}", code="corrupt")


def _sources(file: Path) -> Iterator[Path | bytes]:
    """The file, and when that does not do, what others make of it."""
    yield _from_header(file)
    if file.stat().st_size > MAX_MENDED:
        return
    for mend in (_rewritten, _salvaged):
        mended = mend(file)
        if mended is not None:
            yield mended


def _from_header(file: Path) -> Path | bytes:
    with file.open("rb") as stream:
        at = stream.read(HEADER_REACH).find(HEADER)
        if at < PDFIUM_REACH - len(HEADER):
            return file
        stream.seek(at)
        return stream.read()


def _rewritten(file: Path) -> bytes | None:
    try:
        return mending.rewritten(file)
    except mending.NeedsPassword as error:
        raise DocumentError(f"{file.name} needs a password to open", code="encrypted") from error
    except mending.NoPages as error:
        raise DocumentError(f"{file.name} has no pages", code="no_pages") from error


def _salvaged(file: Path) -> bytes | None:
    return with_new_root(file.read_bytes())
