"""pypdf's part: files that pdfium refuses, and a second opinion on pages where pdfium is at a loss."""

import io
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.errors import FileNotDecryptedError
from pypdf.generic import StreamObject

T = TypeVar("T")
UNPACKED = 1 << 20
# Show text, paint an image or a form, fill, stroke, shade: an operator after its operands.
_PAINTS = re.compile(rb"(?<![^\s\])>])(Tj|TJ|'|\"|Do|BI|sh|S|s|f|F|f\*|B|B\*|b|b\*)(?![^\s\[(</])")


class NeedsPassword(Exception):
    pass


class NoPages(Exception):
    pass


def rewritten(file: Path) -> bytes | None:
    """The document written anew, decrypted and its references rebuilt; None when pypdf cannot."""
    try:
        return _or(None, lambda: _rewrite(_reader(file)))
    except FileNotDecryptedError as error:
        raise NeedsPassword(str(error)) from error


def _rewrite(reader: PdfReader) -> bytes:
    if not len(reader.pages):
        raise NoPages("there is not one page in it")
    writer = PdfWriter()
    for page in reader.pages:
        writer.add_page(page)
    output = io.BytesIO()
    writer.write(output)
    return output.getvalue()


class SecondReader:
    """The same document by other eyes; it never raises, being asked where the first was at a loss."""

    def __init__(self, file: Path) -> None:
        self._pages: Sequence[PageObject] = _or((), lambda: _reader(file).pages)

    def text_of(self, number: int) -> str:
        return _or("", lambda: self._pages[number - 1].extract_text())

    def draws_on(self, number: int) -> bool:
        """Has the page anything to show, as far as its instructions go? Yes, when they cannot be read."""
        return _or(True, lambda: _paints(self._pages[number - 1]))


def _paints(page: PageObject) -> bool:
    """Instructions that are named and not there, or cannot be unpacked, were lost: they painted something."""
    named: Any = page["/Contents"].get_object() if "/Contents" in page else []
    streams = [part.get_object() for part in named] if isinstance(named, list) else [named]
    if not all(isinstance(stream, StreamObject) and _unpacks(stream) for stream in streams):
        return True
    contents = page.get_contents()
    return contents is not None and bool(_PAINTS.search(contents.get_data()))


def _unpacks(stream: StreamObject) -> bool:
    """pypdf makes the best of what is packed wrongly, and says nothing."""
    if stream.get("/Filter") not in ("/FlateDecode", ["/FlateDecode"]):
        return True
    unpacker = zlib.decompressobj()
    try:
        unpacked = unpacker.decompress(stream._data, UNPACKED)
    except zlib.error:
        return False
    return unpacker.eof or bool(unpacked)


def _reader(file: Path) -> PdfReader:
    reader = PdfReader(file, strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        raise FileNotDecryptedError("the password is not empty")
    return reader


def _or(default: T, ask: Callable[[], T]) -> T:
    """On a broken file pypdf raises whatever its own code stumbles over: any of it means no answer."""
    try:
        return ask()
    except (MemoryError, FileNotDecryptedError, NoPages):
        raise
    except Exception:
        return default
