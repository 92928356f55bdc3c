"""Folders as listings: each file by its content, small files of one folder together, links as links."""

import gzip
import json
import os
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.backup.objects import Objects, digest_of
from pipeline.work.database.file import copy_database

# A page's text is a kilobyte: a million of them one by one would be a million requests.
SMALL = 64 << 10
TOGETHER = 200
# A compiled database is changed in place, so it is copied as one moment of it.
DATABASES = (".db",)

Entry = dict[str, Any]
Wanted = Callable[[str, os.stat_result], bool]


@dataclass
class Counted:
    files: int = 0
    bytes: int = 0

    def add(self, size: int) -> None:
        self.files += 1
        self.bytes += size


@dataclass(frozen=True)
class Lister:
    """Lists one folder, and keeps the content of its files where `copy` says so."""

    objects: Objects
    root: Path
    wanted: Wanted
    counted: Counted
    copy: bool = True
    hidden: bool = False

    def entries(self) -> Iterator[Entry]:
        for folder, small, large in self._folders():
            for path in large:
                if entry := self._file(path):
                    yield entry
            for start in range(0, len(small), TOGETHER):
                yield self._pack(folder, small[start : start + TOGETHER])

    def _folders(self) -> Iterator[tuple[Path, list[Path], list[Path]]]:
        seen: set[str] = set()
        for name, folders, files in os.walk(self.root, followlinks=True):
            folder = Path(name)
            real = os.path.realpath(folder)
            if real in seen:  # a link that leads up again would have no end
                folders.clear()
                continue
            seen.add(real)
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            found = [folder / each for each in sorted(files) if not each.startswith(".")]
            yield folder, *self._sorted(found)

    def _sorted(self, found: list[Path]) -> tuple[list[Path], list[Path]]:
        small: list[Path] = []
        large: list[Path] = []
        for path in found:
            try:
                told = path.lstat()
                if not path.is_symlink() and not stat.S_ISREG(told.st_mode):
                    continue
                if not self.wanted(self._name(path), told):
                    continue
            except FileNotFoundError:  # replaced or removed meanwhile
                continue
            together = stat.S_ISREG(told.st_mode) and told.st_size < SMALL and path.suffix not in DATABASES
            (small if together else large).append(path)
        return small, large

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _file(self, path: Path) -> Entry | None:
        try:
            if path.is_symlink() and _stays_inside(path, self.root):
                return {"p": self._name(path), "l": str(path.readlink())}
            told = path.stat()
            self.counted.add(told.st_size)
            entry = {"p": self._name(path), "s": told.st_size, "m": told.st_mtime_ns}
            return entry | {"h": self._unchanged(entry, path) or self._keep(path)}
        except FileNotFoundError:
            return None

    def _unchanged(self, entry: Entry, path: Path) -> str:
        """The hash it had at the back-up before, if its size and time are what they were."""
        said = self.objects.notebook.before(entry["p"])
        before = json.loads(said) if said else {}
        same = all(before.get(name) == entry[name] for name in ("s", "m"))
        if not same or path.with_name(f"{path.name}-wal").exists():
            return ""
        digest = str(before.get("h", ""))
        return digest if not self.copy or self.objects.has(digest) else ""

    def _keep(self, path: Path) -> str:
        if path.suffix not in DATABASES or path.is_symlink() or not _is_database(path):
            return self.objects.keep(path) if self.copy else digest_of(path)
        with tempfile.TemporaryDirectory(dir=self.objects.scratch) as folder:
            copied = Path(folder) / "copy"
            copy_database(path, copied)
            return self.objects.keep(copied) if self.copy else digest_of(copied)

    def _pack(self, folder: Path, files: list[Path]) -> Entry:
        here = {path: told for path in files if (told := _told(path))}
        for told in here.values():
            self.counted.add(told.st_size)
        entry: Entry = {
            "d": self._name(folder),
            "f": [[path.name, told.st_size, told.st_mtime_ns] for path, told in here.items()],
        }
        said = self.objects.notebook.before(_key(entry))
        before = json.loads(said) if said else {}
        if before.get("f") == entry["f"] and (not self.copy or self.objects.has(before["h"])):
            return entry | {"h": before["h"]}
        return entry | {"h": self._keep_pack(list(here))}

    def _keep_pack(self, files: list[Path]) -> str:
        with tempfile.TemporaryDirectory(dir=self.objects.scratch) as folder:
            packed = Path(folder) / "pack"
            with (
                packed.open("wb") as raw,
                gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as out,
                tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive,
            ):
                for path in files:
                    _add(archive, path)
            return self.objects.keep(packed) if self.copy else digest_of(packed)


def _add(archive: tarfile.TarFile, path: Path) -> None:
    """Name, size and content alone, so that the same files are the same pack on every machine."""
    try:
        with path.open("rb") as content:
            info = tarfile.TarInfo(path.name)
            info.size = os.fstat(content.fileno()).st_size
            archive.addfile(info, content)
    except FileNotFoundError:
        return


def _told(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def _stays_inside(link: Path, root: Path) -> bool:
    target = link.readlink()
    inside = Path(os.path.normpath(link.parent / target)).is_relative_to(root)
    return not target.is_absolute() and inside


def _key(entry: Entry) -> str:
    """Under which an entry is found again at the next back-up."""
    return str(entry["p"]) if "p" in entry else f"{entry['d']}/ {entry['f'][0][0] if entry['f'] else ''}"


def remembered(entries: Iterator[Entry]) -> Iterator[tuple[str, str]]:
    return ((_key(entry), json.dumps(entry)) for entry in entries)


# ---- Back ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filler:
    """Puts the files of a listing where they were. What is there already as it was is left."""

    objects: Objects
    root: Path

    def fill(self, entry: Entry) -> int:
        """How many files had to be brought."""
        if "l" in entry:
            return self._link(self.root / entry["p"], entry["l"])
        if "p" in entry:
            path = self.root / entry["p"]
            if _is_there(path, entry["s"], entry["m"]):
                return 0
            with self.objects.fetched(entry["h"]) as file:
                _place(file, path, entry["m"])
            return 1
        return self._unpack(entry)

    def _link(self, path: Path, target: str) -> int:
        if path.is_symlink() and str(path.readlink()) == target:
            return 0
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.link")
        beside.unlink(missing_ok=True)
        beside.symlink_to(target)
        beside.replace(path)
        return 1

    def _unpack(self, entry: Entry) -> int:
        folder = self.root / entry["d"]
        times = {name: (size, modified) for name, size, modified in entry["f"]}
        if all(_is_there(folder / name, *told) for name, told in times.items()):
            return 0
        brought = 0
        with (
            self.objects.fetched(entry["h"]) as file,
            tarfile.open(file, "r:gz") as archive,
            tempfile.TemporaryDirectory(dir=self.objects.scratch) as unpacked,
        ):
            for member in archive:
                content = archive.extractfile(member) if member.name in times else None
                if content is None:
                    continue
                part = Path(unpacked) / "part"
                with content, part.open("wb") as out:
                    shutil.copyfileobj(content, out)
                _place(part, folder / member.name, times[member.name][1])
                brought += 1
        return brought


def _is_there(path: Path, size: int, modified: int) -> bool:
    try:
        told = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return stat.S_ISREG(told.st_mode) and (told.st_size, told.st_mtime_ns) == (size, modified)


def _place(file: Path, path: Path, modified: int) -> None:
    """Whole or not at all, with the time it had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name[:100]}.restoring")
    shutil.copyfile(file, beside)
    os.utime(beside, ns=(modified, modified))
    beside.replace(path)
