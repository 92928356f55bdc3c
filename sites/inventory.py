"""What a site's storage holds: each document once, whether its PDF, its text or both are there."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath

from sites.storage import AGENDAS, SiteFiles

PDFS, TEXTS = "pdfs", "txt"


@dataclass(frozen=True)
class StoredDocument:
    """`path` is where the PDF is, or was before it was cleaned up, inside the site's storage."""

    path: str
    meeting: str
    day: date | None
    is_agenda: bool
    has_pdf: bool
    has_text: bool
    text_files: int
    size: int | None = None
    modified: datetime | None = None


def documents_in(files: SiteFiles) -> Iterator[StoredDocument]:
    """Folder by folder, so that memory is bounded by the largest one. A folder that is not there is empty."""
    for top in ("", AGENDAS):
        root = files.root / top
        yield from _in_folder(PurePosixPath(top, PDFS), root / PDFS, root / TEXTS, PurePosixPath())


@dataclass(frozen=True)
class _Listing:
    """One folder: its files of one kind by their name without suffix, and its subfolders."""

    files: dict[str, os.DirEntry[str]]
    folders: set[str]


def _list(folder: Path, suffix: str) -> _Listing:
    listing = _Listing({}, set())
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    listing.folders.add(entry.name)
                elif entry.name.lower().endswith(suffix):
                    listing.files.setdefault(entry.name[: -len(suffix)], entry)
    except (FileNotFoundError, NotADirectoryError):
        pass
    return listing


def _in_folder(
    stored: PurePosixPath, pdfs: Path, texts: Path, meeting: PurePosixPath
) -> Iterator[StoredDocument]:
    pdf, text = _list(pdfs, ".pdf"), _list(texts, ".txt")
    # A folder beside the PDFs' folders holds the pages of one document, except at the top, where each
    # folder is a meeting, and except where it holds further folders.
    alone = text.folders - pdf.folders - set(pdf.files)
    nested = {name for name in alone if not meeting.parts or _list(texts / name, ".txt").folders}
    names = set(pdf.files) | set(text.files) | (text.folders - pdf.folders - nested)
    for name in sorted(names):
        yield _document(stored, meeting, name, pdf.files.get(name), text.files.get(name), texts / name)
    for name in sorted(pdf.folders | nested):
        yield from _in_folder(stored / name, pdfs / name, texts / name, meeting / name)


def _document(
    stored: PurePosixPath,
    meeting: PurePosixPath,
    name: str,
    pdf: os.DirEntry[str] | None,
    whole: os.DirEntry[str] | None,
    pages_in: Path,
) -> StoredDocument:
    pages = _list(pages_in, ".txt").files
    texts = ([whole] if whole else []) + list(pages.values())
    status = pdf.stat() if pdf else None
    return StoredDocument(
        path=_writable(str(stored / (pdf.name if pdf else f"{name}.pdf"))),
        meeting=_writable(str(meeting)) if meeting.parts else "Meeting",
        day=_day(name),
        is_agenda=stored.parts[0] == AGENDAS,
        has_pdf=pdf is not None,
        has_text=_say_anything(texts),
        text_files=len(texts),
        size=status.st_size if status else None,
        modified=datetime.fromtimestamp(status.st_mtime, UTC) if status else None,
    )


def _writable(name: str) -> str:
    """A name that is not UTF-8 cannot be written to a database as it is."""
    return name.encode("utf-8", "backslashreplace").decode()


def _day(name: str) -> date | None:
    found = re.match(r"(\d{4})-?(\d{2})-?(\d{2})(?!\d)", name)
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def _say_anything(texts: Iterable[os.DirEntry[str]]) -> bool:
    """A killed OCR leaves empty files, and a blank page gives a form feed: neither is text."""
    return any(_says_anything(Path(entry.path)) for entry in texts)


def _says_anything(text: Path) -> bool:
    with text.open("rb") as file:
        while chunk := file.read(65536):
            if chunk.strip():
                return True
    return False
