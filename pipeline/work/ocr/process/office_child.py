"""The child process for a text of an office program: its words, parted where it breaks its pages."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import docx
import docx.oxml.ns
import lxml.etree
import odfdo
import olefile
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table
from striprtf.striprtf import rtf_to_text

from pipeline.errors import DocumentError
from pipeline.work.ocr.model import BLANK, TEXT, PageText
from pipeline.work.ocr.pages.judging import tidy, visible
from pipeline.work.ocr.process.child import Tell
from pipeline.work.ocr.process.word97 import text_of_word97
from pipeline.work.ocr.sniffing import OFFICE_STARTS

MAX_BYTES = 100 * 1024 * 1024
_UNREADABLE = (
    ValueError,
    KeyError,
    IndexError,
    OSError,
    AttributeError,
    TypeError,
    BadZipFile,
    RecursionError,
)
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "lastRenderedPageBreak": "\f"}


def read(order: dict[str, Any], tell: Tell) -> None:
    started = time.perf_counter()
    pages = _pages(Path(order["file"]))
    tell(pages=len(pages))
    seconds = round((time.perf_counter() - started) / len(pages), 3)
    for number, text in enumerate(pages, start=1):
        if number not in order["done"]:
            method = TEXT if visible(text) else BLANK
            tell(page=PageText(number, text, method, "office_file", seconds=seconds, ink=bool(visible(text))))


def _pages(file: Path) -> list[str]:
    if file.stat().st_size > MAX_BYTES:
        raise DocumentError(f"an office file of {file.stat().st_size} bytes", code="too_large")
    try:
        text = _reader_for(file)(file)
    except (*_UNREADABLE, PackageNotFoundError, lxml.etree.LxmlError) as error:
        raise DocumentError(f"the office file cannot be read: {error}"[:300], code="corrupt") from error
    # A break is often written down twice: by the author, and by the program that laid the pages out.
    return [page for page in map(tidy, text.split("\f")) if visible(page)] or [""]


def _reader_for(file: Path) -> Callable[[Path], str]:
    with file.open("rb") as stream:
        start = stream.read(8)
    suffix = next(suffix for suffix, magic in OFFICE_STARTS.items() if _is(suffix, magic, start, file))
    return _READERS[suffix]


def _is(suffix: str, magic: bytes, start: bytes, file: Path) -> bool:
    return start.startswith(magic) and (magic != b"PK\x03\x04" or file.suffix.lower() == suffix)


def _word(file: Path) -> str:
    parts = docx.Document(str(file)).iter_inner_content()
    return "\n".join(_table(part) if isinstance(part, Table) else _paragraph(part._p) for part in parts)


def _table(table: Table) -> str:
    """A line for each row; a cell that spans several columns is named once."""
    rows = []
    for row in table.rows:
        cells = {
            id(cell._tc): "\n".join(_paragraph(line._p) for line in cell.paragraphs) for cell in row.cells
        }
        rows.append("\t".join(text.replace("\n", " ") for text in cells.values()))
    return "\n".join(rows)


def _paragraph(element: Any) -> str:
    return "".join(_words(part) for part in element.iter())


def _words(part: Any) -> str:
    name = str(part.tag).rpartition("}")[2]
    if name == "t":
        return part.text or ""
    if name == "br" and part.get(docx.oxml.ns.qn("w:type")) == "page":
        return "\f"
    return _BREAKS.get(name, "")


def _open_document(file: Path) -> str:
    return str(odfdo.Document(str(file)).get_formatted_text())


def _rich_text(file: Path) -> str:
    text = file.read_bytes().decode("latin-1").replace("\\page ", "\\par\f ")
    return str(rtf_to_text(text, errors="replace"))


def _word97(file: Path) -> str:
    with olefile.OleFileIO(str(file)) as parts:
        return text_of_word97(parts)


_READERS: dict[str, Callable[[Path], str]] = {
    ".docx": _word,
    ".odt": _open_document,
    ".rtf": _rich_text,
    ".doc": _word97,
}
