"""Small files as office programs write them."""

import io
import struct
import zipfile

import docx
from docx.enum.text import WD_BREAK

SECTOR = 512
FREE, END, FAT = 0xFFFF_FFFF, 0xFFFF_FFFE, 0xFFFF_FFFD


def make_docx(*pages: str, table: tuple[tuple[str, ...], ...] = ()) -> bytes:
    document = docx.Document()
    for number, text in enumerate(pages):
        paragraph = document.add_paragraph(text)
        if number < len(pages) - 1:
            paragraph.add_run().add_break(WD_BREAK.PAGE)
    if table:
        grid = document.add_table(len(table), len(table[0]))
        for row, texts in enumerate(table):
            for column, text in enumerate(texts):
                grid.cell(row, column).text = text
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def make_odt(*paragraphs: str) -> bytes:
    office, text = ("urn:oasis:names:tc:opendocument:xmlns:" + name for name in ("office:1.0", "text:1.0"))
    lines = "".join(f"<text:p>{line}</text:p>" for line in paragraphs)
    content = (
        f'<office:document-content xmlns:office="{office}" xmlns:text="{text}" office:version="1.2">'
        f"<office:body><office:text>{lines}</office:text></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.text"
    names = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    manifest = (
        f'<m:manifest xmlns:m="{names}"><m:file-entry m:full-path="/" m:media-type="{kind}"/>'
        '<m:file-entry m:full-path="content.xml" m:media-type="text/xml"/></m:manifest>'
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)
    return file.getvalue()


def make_rtf(text: str) -> bytes:
    return rb"{\rtf1\ansi\deff0 " + text.encode("cp1252").replace(b"\n", rb"\par ") + b"}"


def make_doc(text: str) -> bytes:
    """A Word 97 file in an OLE container: two streams, a directory, and one table of sectors."""
    block = bytearray(4096)
    body = text.replace("\n", "\r").encode("utf-16-le")
    struct.pack_into("<HH", block, 0, 0xA5EC, 0x00C1)
    struct.pack_into("<H", block, 0x0A, 0x0200)
    struct.pack_into("<I", block, 0x4C, len(text))
    block[2048 : 2048 + len(body)] = body
    pieces = struct.pack("<II", 0, len(text)) + struct.pack("<HIH", 0, 2048, 0)
    table = b"\x02" + struct.pack("<I", len(pieces)) + pieces
    struct.pack_into("<II", block, 0x01A2, 0, len(table))
    return _container({"WordDocument": bytes(block), "1Table": table.ljust(4096, b"\0")})


def _container(streams: dict[str, bytes]) -> bytes:
    chains, data, place = [FAT, END], b"", 2
    entries = [_entry("Root Entry", 5, END, 0, child=1)]
    for number, (name, content) in enumerate(streams.items(), start=1):
        sectors = len(content) // SECTOR
        following = number + 1 if number < len(streams) else FREE
        entries.append(_entry(name, 2, place, len(content), right=following))
        chains += [*range(place + 1, place + sectors), END]
        data, place = data + content, place + sectors
    entries += [b"\0" * 128] * (4 - len(entries))
    chains += [FREE] * (128 - len(chains))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16
    header += struct.pack("<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, END, 0, END, 0)
    header += struct.pack("<I", 0) + struct.pack("<I", FREE) * 108
    return header + struct.pack("<128I", *chains) + b"".join(entries) + data


def _entry(name: str, kind: int, start: int, size: int, child: int = FREE, right: int = FREE) -> bytes:
    written = name.encode("utf-16-le") + b"\0\0"
    entry = written.ljust(64, b"\0") + struct.pack("<HBB", len(written), kind, 1)
    return entry + struct.pack("<III", FREE, right, child) + b"\0" * 36 + struct.pack("<IQ", start, size)
