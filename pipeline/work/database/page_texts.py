"""Reads the page texts of a document: one file per page, or one for all of it as the old system wrote."""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Where each word stands on the page: last in a page's record, by far its longest part, and not needed here.
WORDS = ',"words":'


@dataclass(frozen=True)
class CompiledPage:
    number: int
    text: str
    method: str | None = None
    confidence: float | None = None


def fingerprint(text_dir: Path) -> str:
    """Changes when a page's text is written again; reads no text. Called for every page of a site."""
    found = _page_stats(text_dir)
    if not found and (whole := _whole_file(text_dir)).is_file():
        stat = whole.stat()
        found.append(("", stat.st_size, stat.st_mtime_ns, stat.st_ino))
    found.sort()
    return hashlib.blake2b(repr(found).encode(), digest_size=16).hexdigest()


def _page_stats(text_dir: Path) -> list[tuple[str, int, int, int]]:
    try:
        # From an open folder: the way to it is not walked again for every file.
        folder = os.open(text_dir, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return []
    try:
        with os.scandir(folder) as entries:
            texts = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(".txt")]
    finally:
        os.close(folder)
    return [(name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for name, stat in texts]


def read_pages(text_dir: Path) -> Iterator[CompiledPage]:
    """Each page in order. No text at all gives no page."""
    files = _page_files(text_dir)
    for number, path in files:
        yield CompiledPage(number, _read(path), *_provenance(path.removesuffix(".txt") + ".json"))
    if not files:
        yield from _read_whole(_whole_file(text_dir))


def _page_files(text_dir: Path) -> list[tuple[int, str]]:
    try:
        with os.scandir(text_dir) as entries:
            named = [(entry.name.removesuffix(".txt"), entry) for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(
        (int(stem), entry.path)
        for stem, entry in named
        if stem != entry.name and stem.isascii() and stem.isdigit()
    )


def _whole_file(text_dir: Path) -> Path:
    return text_dir.with_name(f"{text_dir.name}.txt")


def _read_whole(path: Path) -> Iterator[CompiledPage]:
    if path.is_file():
        for number, text in enumerate(_read(str(path)).split("\f"), start=1):
            yield CompiledPage(number, text)


def _read(path: str) -> str:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - called for every page there is
        content = file.read()
    # SQLite keeps a NUL but its functions stop at it, so search would lose the rest of the page.
    return content.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _provenance(path: str) -> tuple[str | None, float | None]:
    """Text adopted from the old system has none, and a damaged record must not cost us the text."""
    try:
        head, words, _ = _read(path).partition(WORDS)
        page = json.loads(f"{head}}}" if words else head)
        return page.get("method"), page.get("confidence")
    except (OSError, ValueError, AttributeError):
        return None, None
