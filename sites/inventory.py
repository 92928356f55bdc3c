"""What a site's storage holds: each document once, whether its PDF, its text or both are there."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath

from sites.storage import AGENDAS, SiteFiles, in_writing

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
    # The pages that have a file of their own; empty where one file holds them all.
    pages: frozenset[int] = frozenset()

    @property
    def title(self) -> str:
        """What people would call it: `City Council minutes 2024-01-15`."""
        body = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.meeting.replace("_", " "))
        kind = "agenda" if self.is_agenda else "minutes"
        return f"{body} {kind} {self.day or PurePosixPath(self.path).stem}"

    def lacks_pages(self, in_pdf: int) -> bool:
        """Whether a reader that was killed left pages unread. One file for all pages is never half of one."""
        return bool(self.pages) and not self.pages >= set(range(1, in_pdf + 1))


Trouble = Callable[[Path, OSError], None]


def _raise(path: Path, error: OSError) -> None:
    raise error


def documents_in(files: SiteFiles, trouble: Trouble = _raise) -> Iterator[StoredDocument]:
    """Folder by folder, so that memory is bounded by the largest one. A folder that is not there is empty.

    `trouble` hears of each file and folder that cannot be read; the others are taken all the same.
    """
    for top in ("", AGENDAS):
        root = files.root / top
        walk = _Walk(PurePosixPath(top, PDFS), root / PDFS, root / TEXTS, trouble)
        yield from walk.documents(PurePosixPath())


@dataclass(frozen=True)
class _Listing:
    """One folder: its files of one kind by their name without suffix, and its subfolders."""

    files: dict[str, os.DirEntry[str]]
    folders: set[str]


class _Walk:
    """Through the folders of PDFs and of texts side by side."""

    def __init__(self, stored: PurePosixPath, pdfs: Path, texts: Path, trouble: Trouble) -> None:
        self.stored, self.pdfs, self.texts, self.trouble = stored, pdfs, texts, trouble

    def documents(self, meeting: PurePosixPath) -> Iterator[StoredDocument]:
        pdf, text = self._list(self.pdfs / meeting, ".pdf"), self._list(self.texts / meeting, ".txt")
        # A folder beside the PDFs' folders holds the pages of one document, except at the top, where each
        # folder is a meeting, and except where it holds further folders.
        alone = text.folders - pdf.folders - set(pdf.files)
        nested = {name for name in alone if not meeting.parts or self._has_folders(meeting / name)}
        names = set(pdf.files) | set(text.files) | (text.folders - pdf.folders - nested)
        for name in sorted(names):
            found = self._document(meeting, name, pdf.files.get(name), text.files.get(name))
            if found is not None:
                yield found
        for name in sorted(pdf.folders | nested):
            yield from self.documents(meeting / name)

    def _has_folders(self, texts: PurePosixPath) -> bool:
        return bool(self._list(self.texts / texts, ".txt").folders)

    def _list(self, folder: Path, suffix: str) -> _Listing:
        listing = _Listing({}, set())
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._sort(entry, folder, suffix, listing)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            self.trouble(folder, error)
        return listing

    def _sort(self, entry: os.DirEntry[str], folder: Path, suffix: str, listing: _Listing) -> None:
        if entry.name.startswith("."):
            return
        if entry.is_dir(follow_symlinks=False) or _leads_down(entry, folder):
            listing.folders.add(entry.name)
        elif entry.name.lower().endswith(suffix):
            listing.files.setdefault(entry.name[: -len(suffix)], entry)

    def _document(
        self,
        meeting: PurePosixPath,
        name: str,
        pdf: os.DirEntry[str] | None,
        whole: os.DirEntry[str] | None,
    ) -> StoredDocument | None:
        pages = self._list(self.texts / meeting / name, ".txt").files
        texts = self._readable([*([whole] if whole else []), *pages.values()])
        status = self._status(pdf) if pdf else None
        if status is None and not texts:
            return None  # only its name is left
        return StoredDocument(
            path=in_writing(str(self.stored / meeting / (pdf.name if pdf else f"{name}.pdf"))),
            meeting=in_writing(str(meeting)) if meeting.parts else "Meeting",
            day=_day(name),
            is_agenda=self.stored.parts[0] == AGENDAS,
            has_pdf=status is not None,
            has_text=any(says_something for _, says_something in texts),
            text_files=len(texts),
            size=status.st_size if status else None,
            modified=datetime.fromtimestamp(status.st_mtime, UTC) if status else None,
            pages=frozenset(int(stem) for stem in pages if stem.isascii() and stem.isdigit()),
        )

    def _status(self, entry: os.DirEntry[str]) -> os.stat_result | None:
        try:
            return entry.stat()
        except OSError as error:
            self.trouble(Path(entry.path), error)
            return None

    def _readable(self, texts: Iterable[os.DirEntry[str]]) -> list[tuple[str, bool]]:
        """Each text that can be read, and whether it says anything."""
        found = []
        for entry in texts:
            try:
                found.append((entry.name, _says_anything(Path(entry.path))))
            except OSError as error:
                self.trouble(Path(entry.path), error)
        return found


def _leads_down(entry: os.DirEntry[str], folder: Path) -> bool:
    """A link to a folder is followed, but not to one that it lies in: that way would have no end."""
    if not entry.is_symlink() or not entry.is_dir():
        return False
    return not folder.resolve().is_relative_to(Path(entry.path).resolve())


def _day(name: str) -> date | None:
    found = re.match(r"(\d{4})-?(\d{2})-?(\d{2})(?!\d)", name)
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def _says_anything(text: Path) -> bool:
    """A killed OCR leaves empty files, and a blank page gives a form feed: neither is text."""
    with text.open("rb") as file:
        while chunk := file.read(65536):
            if chunk.strip():
                return True
    return False
