"""A whole document: sniffed, read in a child process, resumed where an earlier attempt stopped, summed up."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pipeline.errors import DocumentError, JobTimeout
from pipeline.work.ocr.model import DAMAGED, FAILED, OCR, SALAD, OcrOptions, OcrResult, PageText
from pipeline.work.ocr.pages.judging import visible
from pipeline.work.ocr.process.memory import MIB
from pipeline.work.ocr.process.parent import Child, ChildDied
from pipeline.work.ocr.sniffing import FileKind, sniff
from pipeline.work.ocr.store import PageFiles, digest_of

OnPage = Callable[[int, int], None]
DEFAULTS = OcrOptions()
READERS = {
    FileKind.PDF: "pipeline.work.ocr.process.pdf_child",
    FileKind.HTML: "pipeline.work.ocr.process.html_child",
    FileKind.OFFICE: "pipeline.work.ocr.process.office_child",
}


def read_document(
    file: Path,
    text_dir: Path,
    *,
    languages: str = "eng",
    options: OcrOptions = DEFAULTS,
    on_page: OnPage | None = None,
) -> OcrResult:
    """Write `text_dir/{n}.txt` for each page of the document, or raise the reason why it cannot be read."""
    started = time.monotonic()
    kind = sniff(file)
    size = file.stat().st_size
    if size > options.max_bytes:
        limit = options.max_bytes // MIB
        raise DocumentError(
            f"{file.name} has {size // MIB} MiB, more than the {limit} allowed", code="too_large"
        )
    files = files_of(file, text_dir, languages, options)
    files.prepare()
    reading = DocumentReading(
        file, files, READERS[kind], languages, options, on_page, started + options.document_seconds
    )
    reading.run()
    return _sum_up(file, reading.pages.values(), reading.damage, time.monotonic() - started)


def files_of(file: Path, text_dir: Path, languages: str, options: OcrOptions) -> PageFiles:
    return PageFiles(text_dir, {"sha256": digest_of(file), "languages": languages} | options.asked)


class DocumentReading:
    """Reads, in child processes, the pages of a document that its folder lacks."""

    def __init__(
        self,
        file: Path,
        files: PageFiles,
        module: str,
        languages: str,
        options: OcrOptions,
        on_page: OnPage | None,
        deadline: float,
    ) -> None:
        self.file, self.files, self.module, self.languages = file, files, module, languages
        self.options, self.on_page, self.deadline = options, on_page, deadline
        self.pages = files.done()
        self.total = 0
        self.damage = ""
        self.before = len(self.pages)

    def run(self) -> None:
        """A page that brings the reader down is given up and the rest go on, a few times."""
        given_up = 0
        while True:
            try:
                return self._pass()
            except ChildDied as death:
                given_up += 1
                self._give_up_page(death, last=given_up > self.options.max_failed_pages)

    def _pass(self) -> None:
        order = {
            "module": self.module,
            "file": str(self.file.resolve()),
            "languages": self.languages,
            "done": sorted(self.pages),
            "scratch": str(self.files.scratch.resolve()),
        }
        child = Child(order, self.options, self.deadline)
        # The job's alarm rings once: should it hit the first `stop`, there is a second.
        self.files.scratch.mkdir(exist_ok=True)
        try:
            try:
                child.start()
                for message in child.messages():
                    self._hear(message)
            finally:
                child.stop()
        finally:
            child.stop()
            self.files.clear_scratch()

    def _hear(self, message: dict[str, Any]) -> None:
        if "pages" in message:
            self.total, self.damage = message["pages"], message.get("damage", "")
        else:
            self.keep(PageText(**message["page"]))

    def keep(self, page: PageText) -> None:
        self.files.write(page)
        self.pages[page.number] = page
        if self.on_page:
            self.on_page(len(self.pages), self.total)

    def _give_up_page(self, death: ChildDied, *, last: bool) -> None:
        if death.code == "time_limit":
            raise self._out_of_time(death)
        missing = [number for number in range(1, self.total + 1) if number not in self.pages]
        if last or not missing:
            where = f"page {missing[0]} of " if missing else ""
            raise DocumentError(f"{where}{self.file.name}: {death}", code=death.code)
        self.keep(PageText(missing[0], "", FAILED, death.code))

    def _out_of_time(self, death: ChildDied) -> JobTimeout:
        """Worth another attempt when this one got further."""
        done = len(self.pages)
        error = JobTimeout(
            f"{self.file.name}: {death}; {done} of {self.total} pages are done", code="time_limit"
        )
        error.retryable = done > self.before
        return error


def _sum_up(file: Path, pages: Iterable[PageText], damage: str, seconds: float) -> OcrResult:
    pages = sorted(pages, key=lambda page: page.number)
    characters = sum(visible(page.text) for page in pages)
    if not characters:
        reasons = Counter(page.reason for page in pages if page.method == FAILED)
        worst = reasons.most_common(1)[0][0] if reasons else "no_text"
        message = f"not one of the {len(pages)} pages of {file.name} gave any text ({worst})"
        raise DocumentError(message, code="corrupt" if worst == "page_unreadable" else worst)
    return OcrResult(
        pages=len(pages),
        characters=characters,
        methods=dict(Counter(page.method for page in pages)),
        findings=[*filter(None, [damage]), *(finding for page in pages for finding in _findings(page))],
        seconds=round(seconds, 3),
        confidence=_confidence(pages),
    )


def _findings(page: PageText) -> list[str]:
    """What a person should know of the page, the most telling first."""
    found = []
    if page.method == FAILED:
        found.append(f"page {page.number} was given up: {page.reason}")
    elif page.reason == DAMAGED:
        found.append(f"page {page.number} is damaged and shows nothing")
    elif page.ink and not visible(page.text):
        found.append(f"page {page.number} has ink but gave no text")
    elif page.reason.endswith(SALAD):
        found.append(f"page {page.number} reads like word salad")
    return found + ([f"page {page.number} looks like {page.looks}"] if page.looks else [])


def _confidence(pages: list[PageText]) -> float | None:
    read = [page for page in pages if page.method == OCR and page.confidence is not None and page.text]
    weight = sum(len(page.text) for page in read)
    return (
        round(sum((page.confidence or 0) * len(page.text) for page in read) / weight, 1) if weight else None
    )
