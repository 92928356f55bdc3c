"""Bodies that are sent packed: unpacked in small steps, so that no few bytes become many at once."""

import zlib
from collections.abc import Iterator

from pipeline.errors import DocumentError, SourceError

STEP = 1024 * 1024
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


def unpack(pieces: Iterator[bytes], encoding: str, url: str) -> Iterator[bytes]:
    """The pieces as they are, or unpacked as the header says; what follows the packed data is left."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return pieces
    if name not in _WINDOWS:
        raise DocumentError(f"{url} is packed as {name[:40]!r}, which nobody asked for", code="bad_encoding")
    return _unpacked(pieces, _WINDOWS[name], url)


def _unpacked(pieces: Iterator[bytes], window: int, url: str) -> Iterator[bytes]:
    machine, begun = zlib.decompressobj(window), False
    for piece in pieces:
        if not begun and window == 15 and _is_bare(piece):
            machine = zlib.decompressobj(-15)
        begun = begun or bool(piece)
        yield from _steps(machine, piece, url)
        if machine.eof:
            return
    if begun:
        raise SourceError(f"{url} ends in the middle of its packed data", code="truncated")


def _steps(machine: "zlib._Decompress", piece: bytes, url: str) -> Iterator[bytes]:
    try:
        while piece:
            unpacked = machine.decompress(piece, STEP)
            if unpacked:
                yield unpacked
            piece = machine.unconsumed_tail
    except zlib.error as error:
        raise SourceError(f"{url}: {error}", code="bad_encoding") from error


def _is_bare(start: bytes) -> bool:
    """Some servers call it deflate and leave out the wrapping that belongs to it."""
    return len(start) < 2 or start[0] & 0x0F != 8 or (start[0] * 256 + start[1]) % 31 != 0
