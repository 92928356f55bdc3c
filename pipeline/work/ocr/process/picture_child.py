"""The child process that draws one page of a PDF."""

import base64
import io
from pathlib import Path
from typing import Any

import pypdfium2

from pipeline.errors import DocumentError
from pipeline.work.ocr.pages.opening import open_pdf
from pipeline.work.ocr.pages.pdf import page_of, picture
from pipeline.work.ocr.process.child import Tell

# WebP knows no longer side.
MAX_SIDE = 16_383
QUALITY = 75


def read(order: dict[str, Any], tell: Tell) -> None:
    document, number = open_pdf(Path(order["file"])), order["page"]
    if not 1 <= number <= len(document):
        raise DocumentError(f"there is no page {number}; it has {len(document)}", code="no_such_page")
    try:
        with page_of(document, number) as page:
            image = picture(page, order["width"], order["options"]["max_megapixels"], MAX_SIDE)
    except pypdfium2.PdfiumError as error:
        raise DocumentError(f"page {number} cannot be drawn: {error}", code="page_unreadable") from error
    output = io.BytesIO()
    image.save(output, "WEBP", quality=QUALITY, method=2)
    tell(picture=base64.b64encode(output.getvalue()).decode())
