"""The child process for a web page: its text, laid out as a browser would, is one page."""

import time
from pathlib import Path
from typing import Any

import lxml.etree
import lxml.html
from inscriptis import Inscriptis
from inscriptis.model.config import ParserConfig

from pipeline.errors import DocumentError
from pipeline.work.ocr.model import HTML, PageText
from pipeline.work.ocr.pages.judging import tidy, visible
from pipeline.work.ocr.process.child import Tell

MAX_BYTES = 20 * 1024 * 1024


def read(order: dict[str, Any], tell: Tell) -> None:
    started = time.perf_counter()
    tell(pages=1)
    if 1 in order["done"]:
        return
    text = tidy(_text(Path(order["file"]).read_bytes()))
    seconds = round(time.perf_counter() - started, 3)
    tell(page=PageText(1, text, HTML, "web_page", seconds=seconds, ink=bool(visible(text))))


def _text(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise DocumentError(f"a web page of {len(content)} bytes", code="too_large")
    try:
        tree = lxml.html.fromstring(content)
        return str(Inscriptis(tree, ParserConfig()).get_text())
    except (lxml.etree.LxmlError, ValueError, RecursionError) as error:
        raise DocumentError(f"the web page cannot be read: {error}"[:300], code="corrupt") from error
