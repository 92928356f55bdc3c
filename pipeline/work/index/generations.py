"""Where the index lies: one folder per generation, a link to the one that serves, one writer at a time."""

import fcntl
import json
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pipeline.work.index import schema

CURRENT = "current"


@dataclass(frozen=True)
class Shape:
    """How the index lies on disk."""

    segments: int
    pages: int
    deleted: int
    bytes: int


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Wait for the writer before us: the library itself refuses a second one at once."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def serving(root: Path) -> Path | None:
    """The folder that readers open; None when there is none of this version."""
    try:
        folder = root / (root / CURRENT).readlink()
    except OSError:
        return None
    is_ours = folder.name.startswith(_prefix()) and (folder / "meta.json").is_file()
    return folder if is_ours else None


def new_folder(root: Path) -> Path:
    return root / f"{_prefix()}{uuid.uuid4().hex[:12]}"


def serve(root: Path, folder: Path) -> None:
    """Swap the link in one step. Readers keep what they have open until they look again."""
    beside = root / f".{uuid.uuid4().hex[:12]}.link"
    beside.symlink_to(folder.name)
    beside.replace(root / CURRENT)


def remove_others(root: Path, keep: Path | None) -> int:
    """Generations that serve no longer, and those a killed writer left. Only for whoever holds the lock."""
    gone = [path for path in root.glob("v*-*") if path.is_dir() and path != keep]
    for path in gone:
        shutil.rmtree(path, ignore_errors=True)
    for leftover in root.glob(".*.link"):
        leftover.unlink(missing_ok=True)
    return len(gone)


def shape_of(folder: Path) -> Shape:
    segments = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["segments"]
    deleted = sum((each["deletes"] or {}).get("num_deleted_docs", 0) for each in segments)
    held = sum(each["max_doc"] for each in segments)
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    return Shape(len(segments), held - deleted, deleted, size)


def _prefix() -> str:
    return f"v{schema.VERSION}-"
