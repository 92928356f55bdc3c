"""The words of a Word 97-2003 file: its text lies in pieces, and a table of them says where."""

import re
import struct
from typing import Any

# Places in the file information block.
_FLAGS, _SECOND_TABLE, _ENCRYPTED = 0x0A, 0x0200, 0x0100
_MAIN_LENGTH, _PIECE_TABLE = 0x4C, 0x01A2
_EIGHT_BIT = 0x4000_0000
# Word's own marks: paragraph and cell ends, line and page breaks; fields keep what they show.
_MARKS = {0x0D: "\n", 0x07: "\t", 0x0B: "\n", 0x0C: "\f", 0x1E: "-", 0xA0: " "}
_FIELD = re.compile(r"\x13[^\x13\x14\x15]{0,2000}\x14?")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")


def text_of_word97(parts: Any) -> str:
    """`parts` is the opened OLE file. A ValueError or struct.error for what is no such document."""
    block = parts.openstream("WordDocument").read()
    (flags,) = struct.unpack_from("<H", block, _FLAGS)
    if flags & _ENCRYPTED:
        raise ValueError("it is protected by a password")
    table = parts.openstream("1Table" if flags & _SECOND_TABLE else "0Table").read()
    start, size = struct.unpack_from("<II", block, _PIECE_TABLE)
    (length,) = struct.unpack_from("<I", block, _MAIN_LENGTH)
    text = "".join(_pieces(block, _piece_table(table[start : start + size])))[:length]
    return _CONTROL.sub("", _FIELD.sub("", text).translate(_MARKS))


def _piece_table(data: bytes) -> bytes:
    """What follows the properties that may stand before it."""
    place = 0
    while data[place] == 1:
        (size,) = struct.unpack_from("<H", data, place + 1)
        place += 3 + size
    if data[place] != 2:
        raise ValueError("it has no table of its pieces")
    (size,) = struct.unpack_from("<I", data, place + 1)
    return data[place + 5 : place + 5 + size]


def _pieces(block: bytes, table: bytes) -> list[str]:
    """n + 1 positions in the text, then n descriptions of eight bytes."""
    count = (len(table) - 4) // 12
    positions = struct.unpack_from(f"<{count + 1}I", table)
    found = []
    for number in range(count):
        (place,) = struct.unpack_from("<I", table, 4 * (count + 1) + 8 * number + 2)
        length = positions[number + 1] - positions[number]
        if place & _EIGHT_BIT:
            place = (place & ~_EIGHT_BIT) // 2
            found.append(block[place : place + length].decode("cp1252", "replace"))
        else:
            found.append(block[place : place + 2 * length].decode("utf-16-le", "replace"))
    return found
