"""Where back-ups lie: a folder or a bucket in which every content is kept once, under its hash."""

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Protocol
from urllib.parse import unquote, urlsplit

# By name, so that its library may be absent where nobody uses it.
S3_TARGET = "pipeline.backup.s3_target:S3Target.of"
PARTS = ".parts"


class BackupError(Exception):
    """What an operator is told: what could not be done, and what to do about it."""


class Target(Protocol):
    """Names are relative, with slashes. What has a name is whole."""

    def put(self, name: str, file: Path) -> None: ...

    def get(self, name: str, file: Path) -> None: ...

    def size_of(self, name: str) -> int | None: ...

    def names(self, prefix: str) -> Iterator[tuple[str, int]]: ...

    def delete(self, name: str) -> None: ...


def open_target(address: str) -> Target:
    """`/mnt/backup`, `file:///mnt/backup` or `s3://bucket/prefix?endpoint=…&region=…`."""
    parts = urlsplit(address)
    if parts.scheme == "s3":
        try:
            made: Target = resolve_name(S3_TARGET)(address)
        except ModuleNotFoundError as error:
            raise BackupError(f"{address}: S3 needs the package {error.name}") from error
        return made
    if parts.scheme not in ("", "file"):
        raise BackupError(f"{address}: expected a folder or s3://bucket/prefix")
    return FolderTarget(Path(unquote(parts.path) if parts.scheme else address).expanduser().absolute())


@dataclass(frozen=True)
class FolderTarget:
    root: Path

    def __str__(self) -> str:
        return str(self.root)

    def put(self, name: str, file: Path) -> None:
        path = self.root / name
        with _told(self.root):
            part = self._part()
            try:
                shutil.copyfile(file, part)
                _flush(part)
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                part.replace(path)
                _flush(path.parent)
            finally:
                part.unlink(missing_ok=True)

    def get(self, name: str, file: Path) -> None:
        if not (self.root / name).is_file():
            raise BackupError(f"{self.root}: {name} is missing")
        with _told(file):
            shutil.copyfile(self.root / name, file)

    def size_of(self, name: str) -> int | None:
        with _told(self.root):
            try:
                return (self.root / name).stat().st_size
            except (FileNotFoundError, NotADirectoryError):
                return None

    def names(self, prefix: str) -> Iterator[tuple[str, int]]:
        with _told(self.root):
            for folder, folders, files in os.walk(self.root / prefix):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                for name in sorted(files):
                    path = Path(folder, name)
                    yield path.relative_to(self.root).as_posix(), path.stat().st_size

    def delete(self, name: str) -> None:
        with _told(self.root):
            (self.root / name).unlink(missing_ok=True)

    def _part(self) -> Path:
        """Nobody but its owner reads it: a back-up holds password hashes and the keys of webhooks."""
        parts = self.root / PARTS
        if not self.root.exists():
            self.root.mkdir(parents=True, mode=0o700)
        parts.mkdir(exist_ok=True, mode=0o700)
        part = parts / uuid.uuid4().hex
        os.close(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
        return part


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def _told(where: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BackupError(in_words(where, error)) from error


def in_words(where: object, error: OSError) -> str:
    if error.errno in FULL:
        return f"{where}: no room left. What was there before is untouched; make room and begin again"
    return f"{where}: {error.strerror or error}"
