"""Files that appear whole or not at all: written beside under another name, then renamed into place."""

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Longer than any job may run: what is older was left by a process that was killed.
LEFTOVER_SECONDS = 2 * 60 * 60


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to; it takes the place of `path` when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path)
    building = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.building")
    try:
        yield building
        _flush(building)
        building.replace(path)
        _flush(path.parent)
    finally:
        for part in path.parent.glob(f"{building.name}*"):
            part.unlink(missing_ok=True)


def path_value(path: Path) -> str | bytes:
    """A path as SQLite keeps it, bytes where its name is not UTF-8; `os.fsdecode` reads both."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return str(path)


def write_text(path: Path, text: str) -> None:
    with replacing(path) as building:
        building.write_text(text, encoding="utf-8")


def _remove_leftovers(path: Path) -> None:
    remove_old(path.parent, f".{path.name}.*.building*")


def remove_old(folder: Path, names: str) -> None:
    """Files of these names that nobody can still be writing."""
    for leftover in folder.glob(names):
        try:
            if leftover.stat().st_mtime < time.time() - LEFTOVER_SECONDS:
                leftover.unlink()
        except FileNotFoundError:
            continue


def _flush(path: Path) -> None:
    """Without this a power cut after the rename could leave a name with no content behind it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
