"""What a file is, by its content: names and declared types lie."""

import re
from enum import StrEnum
from pathlib import Path

from pipeline.errors import DocumentError

REACH = 64 * 1024
_MARKUP = re.compile(rb"<(!doctype\s+html|html|head|body|title|table|div|p|h[1-6])[\s>]", re.IGNORECASE)
HTML_NAMES = {".html", ".htm", ".xhtml"}


class Kind(StrEnum):
    PDF = "pdf"
    HTML = "html"


def sniff(file: Path) -> Kind:
    """A PDF may have junk before its header; a web page is one only when it is not posing as a PDF."""
    with file.open("rb") as stream:
        start = stream.read(REACH)
    if not start.strip():
        raise DocumentError(f"{file.name} is empty", code="empty_file")
    if b"%PDF-" in start:
        return Kind.PDF
    if _MARKUP.search(start):
        if file.suffix.lower() in HTML_NAMES:
            return Kind.HTML
        raise DocumentError(f"{file.name} is a web page, not a PDF", code="not_a_pdf")
    raise DocumentError(f"{file.name} is not a PDF", code="not_a_pdf")
