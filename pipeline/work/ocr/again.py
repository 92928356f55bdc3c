"""Pages that are there already, read again by another engine; the better reading of each stays."""

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.errors import DocumentError
from pipeline.work.ocr.document import DEFAULTS, READERS, DocumentReading, files_of
from pipeline.work.ocr.model import FAILED, OCR, OcrOptions, PageText
from pipeline.work.ocr.sniffing import FileKind
from pipeline.work.ocr.store import PageFiles, digest_of, pages_in

# An engine is half sure of what is not there.
HALF_SURE = 50


@dataclass(frozen=True)
class Again:
    """How many pages were read, and which of them came out better."""

    read: int
    better: tuple[int, ...]


def doubtful_pages(text_dir: Path, engine: str, below: float) -> list[int]:
    """Recognised pages under this confidence that the engine has not been asked about yet."""
    return sorted(
        page.number
        for page in pages_in(text_dir)
        if page.method == OCR and (page.confidence or 0) < below and engine not in (page.tried, page.engine)
    )


def read_again(
    file: Path,
    text_dir: Path,
    pages: Collection[int],
    *,
    languages: str = "eng",
    options: OcrOptions = DEFAULTS,
) -> Again:
    """Read these pages with the engine of the options; each is kept as it comes."""
    if not file.is_file():
        raise DocumentError(f"{file.name} is not there any more", code="missing_file")
    files = files_of(file, text_dir, languages, options)
    if not files.has_text_of(sha256=digest_of(file)):
        raise DocumentError(f"the text is not that of {file.name} as it is now", code="changed_file")
    reading = _ReadingAgain(file, files, languages, options, pages)
    reading.run()
    return Again(len(reading.asked) - len(reading.left), tuple(sorted(reading.better)))


class _ReadingAgain(DocumentReading):
    """All pages are done but those asked for, which replace what is there where they are better."""

    def __init__(
        self, file: Path, files: PageFiles, languages: str, options: OcrOptions, pages: Collection[int]
    ) -> None:
        deadline = time.monotonic() + options.document_seconds
        super().__init__(file, files, READERS[FileKind.PDF], languages, options, None, deadline)
        self.asked = set(pages)
        self.left = set(pages)
        self.better: list[int] = []
        self.pages = {number: page for number, page in self.pages.items() if number not in self.asked}

    def keep(self, page: PageText) -> None:
        self.pages[page.number] = page
        self.left.discard(page.number)
        known = self.files.page(page.number)
        engine = self.options.engine
        if known is None or page.number not in self.asked:
            return
        if page.method == OCR and worth(page) > worth(known):
            self.better.append(page.number)
            self.files.write(replace(page, tried=engine, engine=engine))
        elif page.method != FAILED:
            self.files.write_facts(replace(known, tried=engine))


def worth(page: PageText) -> float:
    """Letters above half-sure, weighted by how much: much garbage does not outweigh a little text."""
    if not page.words:
        return len(page.text) * ((page.confidence or 0) - HALF_SURE)
    return sum(len(word[0]) * max(word[5] - HALF_SURE, 0) for word in page.words)
