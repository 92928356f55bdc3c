"""Where a site's files live; the only code that joins these paths."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path, PurePosixPath
from pkgutil import resolve_name
from typing import Protocol

from django.conf import settings

AGENDAS = "_agendas"
# Bytes in a name, on every file system that Clerk may meet; the folders that Clerk names stay well below.
LONGEST_NAME, LONGEST_FOLDER = 255, 200
# By name, so that its library may be absent where nobody uses it.
S3_SHARE = "sites.storage_s3:S3Share.of"


Before = Callable[[], None]


class Share(Protocol):
    """What machines share. Work itself always happens on local files: pulled before, pushed after."""

    def pull(self, path: Path) -> None: ...

    def pull_all(self, folder: Path) -> None: ...

    def push(self, path: Path, to: Path | None = None, before: Before | None = None) -> None: ...

    def remove(self, path: Path) -> None: ...

    def remove_all(self, folder: Path) -> None: ...

    def last_use(self, path: Path) -> int | None: ...

    def evict(self, path: Path) -> int: ...


class OneMachine:
    """The local folder is all there is."""

    def pull(self, path: Path) -> None: ...

    def pull_all(self, folder: Path) -> None: ...

    def push(self, path: Path, to: Path | None = None, before: Before | None = None) -> None: ...

    def remove(self, path: Path) -> None: ...

    def remove_all(self, folder: Path) -> None: ...

    def last_use(self, path: Path) -> int | None:
        return None

    def evict(self, path: Path) -> int:
        return 0


def share() -> Share:
    return _share(settings.STORAGE_URL, Path(settings.STORAGE_DIR))


@cache
def _share(url: str, root: Path) -> Share:
    if not url:
        return OneMachine()
    shared: Share = resolve_name(S3_SHARE)(url, root)
    return shared


def _is_too_long(name: str) -> bool:
    return len(name.encode()) > LONGEST_NAME


def folder_name(body: str) -> str:
    """A meeting body's name as one safe folder: `Parks & Recreation Board` -> `ParksRecreationBoard`."""
    words = re.findall(r"\w+", body, re.UNICODE)
    name = "".join(word[:1].upper() + word[1:] for word in words)[:80]
    # A file system counts bytes: 255 for a name, and other scripts take up to four for a letter.
    return name.encode()[:LONGEST_FOLDER].decode(errors="ignore") or "Meeting"


@dataclass(frozen=True)
class SiteFiles:
    root: Path

    @classmethod
    def of(cls, site_id: str) -> "SiteFiles":
        root = Path(settings.STORAGE_DIR) / site_id
        if not re.fullmatch(r"[\w][\w.-]*", site_id) or _is_too_long(site_id):
            raise ValueError(f"{site_id[:LONGEST_NAME]!r} cannot be the name of a site's folder")
        return cls(root)

    def file(self, path: str) -> Path:
        """A document's file, from `Document.path`."""
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts:
            raise ValueError(f"{path!r} leaves the site's storage")
        if any(map(_is_too_long, pure.parts)):
            raise ValueError(f"{path[:LONGEST_NAME]!r}… has a name that is too long for a file")
        return self.root / _as_on_disk(path)

    def text_dir(self, path: str) -> Path:
        """A folder of page texts: `pdfs/Council/2024-01-15.pdf` -> `txt/Council/2024-01-15/`."""
        return self._beside(path, "txt")

    def facts_file(self, path: str) -> Path:
        facts = self._beside(path, "facts")
        return facts.with_name(f"{facts.name}.json")

    def _beside(self, path: str, folder: str) -> Path:
        """The top folder is exchanged, and only that: a meeting may be called `pdfs` too."""
        parts = list(PurePosixPath(path).parts)
        top = 1 if parts[:1] == [AGENDAS] else 0
        if parts[top : top + 1] == ["pdfs"]:
            parts[top] = folder
        return self.file(str(PurePosixPath(*parts).with_suffix("")))

    def folders(self, name: str) -> tuple[Path, Path]:
        """Everything of one sort, such as `txt`: of minutes, and of agendas."""
        return self.root / name, self.root / AGENDAS / name

    @property
    def database(self) -> Path:
        return self.root / "meetings.db"

    @property
    def kept_database(self) -> Path:
        """What lay in the database's place before the first one of ours."""
        return self.root / "meetings.db.old"

    @property
    def hold_anything(self) -> bool:
        """Whether there is a document, a text or a database: whatever a reader may have been shown."""
        folders = [*self.folders("pdfs"), *self.folders("txt")]
        return self.database.exists() or any(_holds_a_file(folder) for folder in folders)

    @property
    def scratch(self) -> Path:
        return self.root / ".tmp"


def in_writing(name: str) -> str:
    """A name that is not UTF-8 cannot be written to a database as it is: the odd bytes are spelled out."""
    return name.encode("utf-8", "backslashreplace").decode()


def _as_on_disk(written: str) -> str:
    return re.sub(r"\\udc([89a-f][0-9a-f])", lambda found: chr(0xDC00 + int(found[1], 16)), written)


def _holds_a_file(folder: Path) -> bool:
    return any(files for _, _, files in os.walk(folder))


def document_path(meeting: str, day: date | None, kind: str, unique: str, suffix: str = ".pdf") -> str:
    """`pdfs/{meeting}/{date}-{unique}.pdf`; agendas and packets under `_agendas/`."""
    name = f"{day.isoformat() if day else 'undated'}-{unique}{suffix}"
    folders = [AGENDAS] if kind in ("agenda", "packet") else []
    return str(PurePosixPath(*folders, "pdfs", meeting, name))
