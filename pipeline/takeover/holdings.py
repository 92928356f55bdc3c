"""What an old site has: the documents in its storage, and what of them is read."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePosixPath

from django.conf import settings

from pipeline.errors import MachineError
from pipeline.takeover import old_database
from pipeline.takeover.needs import CannotTakeOver
from pipeline.work.database.schema import Extent
from pipeline.work.ocr.counting import LIMITS, count_pages
from pipeline.work.ocr.process.parent import keep_warm, let_cool
from sites.inventory import StoredDocument, documents_in
from sites.storage import SiteFiles, share

BATCH = 500


@dataclass(frozen=True)
class Taken:
    """A document in storage. It is read when it has text, and that of every page of its PDF."""

    stored: StoredDocument
    is_read: bool

    @property
    def is_partly_read(self) -> bool:
        return self.stored.has_text and not self.is_read


@dataclass
class Holdings:
    """Sums over a site: what the old system showed, and what was found in storage."""

    before: Extent = old_database.NOTHING
    documents: int = 0
    read: int = 0
    pages: int = 0
    left_out: list[str] = field(default_factory=list)

    @property
    def unread(self) -> int:
        return self.documents - self.read

    def add(self, some: Iterable[Taken]) -> None:
        for taken in some:
            self.documents += 1
            self.read += taken.is_read
            self.pages += taken.stored.text_files if taken.stored.has_text else 0

    def leave_out(self, path: Path, error: Exception) -> None:
        why = getattr(error, "strerror", None) or str(error)
        self.left_out.append(f"{path.name}: {why}".encode("utf-8", "backslashreplace").decode())


# By the folder of a document's texts: the pages that are still to be brought there.
Coming = Mapping[str, set[int]]


def look(files: SiteFiles, holdings: Holdings, coming: Coming | None = None) -> Iterator[list[Taken]]:
    """Every document, some at a time; `holdings` gathers the sums."""
    found = documents_in(files, holdings.leave_out)
    while some := list(islice(found, BATCH)):
        if coming:
            some = [_with(stored, coming.get(_texts_of(stem_of(stored.path)), set())) for stored in some]
        taken = _judged(files, some)
        holdings.add(taken)
        yield taken


def _with(stored: StoredDocument, pages: set[int]) -> StoredDocument:
    if not pages:
        return stored
    together = stored.pages | pages
    files = stored.text_files + len(together) - len(stored.pages)
    return replace(stored, has_text=True, pages=together, text_files=files)


def _judged(files: SiteFiles, some: list[StoredDocument]) -> list[Taken]:
    in_doubt = {stored.path: files.file(stored.path) for stored in some if stored.has_pdf and stored.pages}
    counted = _pages_of(list(in_doubt.values())) if in_doubt else {}

    def lacks_pages(stored: StoredDocument) -> bool:
        pages = counted.get(in_doubt[stored.path]) if stored.path in in_doubt else None
        return pages is not None and stored.lacks_pages(pages)

    return [Taken(stored, stored.has_text and not lacks_pages(stored)) for stored in some]


@contextmanager
def warm_reader() -> Iterator[None]:
    """One process to fork readers from, however many sites there are."""
    keep_warm()
    try:
        yield
    finally:
        let_cool()


def _pages_of(pdfs: list[Path]) -> dict[Path, int | None]:
    try:
        return count_pages(pdfs, replace(LIMITS, sandbox=settings.OCR_SANDBOX))
    except MachineError as error:
        raise CannotTakeOver(f"{error}. Nobody could tell half-read documents from read ones.") from error


def foresee(files: SiteFiles) -> Holdings:
    """The sums, without bringing anything home that only the old database has."""
    holdings = Holdings(old_database.counts(old_database.find(files)))
    coming: dict[str, set[int]] = {}
    for text in old_database.texts_to_bring(files):
        page = PurePosixPath(text.path)
        coming.setdefault(str(page.parent), set()).add(int(page.stem))
    for some in look(files, holdings, dict(coming)):
        for taken in some:
            coming.pop(_texts_of(stem_of(taken.stored.path)), None)
    holdings.documents += len(coming)
    holdings.read += len(coming)
    holdings.pages += sum(len(pages) for pages in coming.values())
    return holdings


def bring_home(files: SiteFiles) -> Holdings:
    """Everything is where Clerk looks for it: from the shared storage, and from the old database."""
    share().pull_all(files.root)
    holdings = Holdings(old_database.counts(old_database.find(files)))
    for text in old_database.texts_to_bring(files):
        try:
            share().push(old_database.bring(files, text))
        except OSError as error:
            holdings.leave_out(Path(text.path), error)
    return holdings


def stem_of(path: str) -> str:
    return str(PurePosixPath(path).with_suffix(""))


def _texts_of(stem: str) -> str:
    """`pdfs/Council/2024-01-15` -> `txt/Council/2024-01-15`."""
    parts = list(PurePosixPath(stem).parts)
    parts[parts.index("pdfs")] = "txt"
    return str(PurePosixPath(*parts))
