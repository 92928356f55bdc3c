"""What a file is, by its content: names and declared types lie."""

import re
from enum import StrEnum
from pathlib import Path

from pipeline.errors import DocumentError

REACH = 64 * 1024
_MARKUP = re.compile(rb"<(!doctype\s+html|html|head|body|title|table|div|p|h[1-6])[\s>]", re.IGNORECASE)
HTML_NAMES = {".html", ".htm", ".xhtml"}
# How the files of office programs begin, by the name they are kept under.
OFFICE_STARTS = {
    ".docx": b"PK\x03\x04",
    ".odt": b"PK\x03\x04",
    ".rtf": b"{\\rtf",
    ".doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
}


class FileKind(StrEnum):
    PDF = "pdf"
    HTML = "html"
    OFFICE = "office"


def sniff(file: Path) -> FileKind:
    """A PDF may have junk before its header; a web page is one only when it is not posing as a PDF."""
    with file.open("rb") as stream:
        start = stream.read(REACH)
    if not start.strip():
        raise DocumentError(f"{file.name} is empty", code="empty_file")
    magic = OFFICE_STARTS.get(file.suffix.lower())
    if magic and start.startswith(magic):
        return FileKind.OFFICE
    if b"%PDF-" in start:
        return FileKind.PDF
    if _MARKUP.search(start):
        if file.suffix.lower() in HTML_NAMES:
            return FileKind.HTML
        raise DocumentError(f"{file.name} is a web page, not a PDF", code="not_a_pdf")
    raise DocumentError(f"{file.name} is not a PDF", code="not_a_pdf")
