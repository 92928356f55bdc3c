"""OCR: CPU seconds a page and errors of ours, of the old way and of OCRmyPDF, side by side in one run."""

import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks._ocr_scores import character_error_rate, word_f1
from benchmarks._ocr_ways import every_page_as_png, has_ocrmypdf, ocrmypdf, ours
from pipeline.work.ocr.process.parent import keep_warm, let_cool
from tests import pdfs

Way = Callable[[Path, Path], list[str]]
QUALITIES = (pdfs.CLEAN, pdfs.OFFICE, pdfs.ROUGH, pdfs.FAX)
PAGES = 4
ROUNDS = 2
WORKER_ROUNDS = 5


@dataclass
class Measured:
    """CPU seconds: the least of the rounds for each document, for other work on the machine only adds."""

    seconds: dict[str, float] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, seconds: float, texts: list[str]) -> None:
        self.seconds[name] = min(seconds, self.seconds.get(name, seconds))
        self.texts[name] = texts

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def all_texts(self) -> list[str]:
        return [text for name in sorted(self.texts) for text in self.texts[name]]


def run() -> dict[str, float]:
    """As in a worker, which keeps a warm parent for its children."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            return _scanned(Path(folder)) | _mixed(Path(folder)) | _two_workers(Path(folder))
    finally:
        let_cool()


def _page(seed: int) -> list[str]:
    """As full as the pages cities publish: a heading, items, and some 1,500 characters in paragraphs."""
    dice = random.Random(seed)
    lines = [f"REGULAR MEETING OF THE CITY COUNCIL, ITEM {seed}", ""]
    while len(lines) < 34:
        lines += [*pdfs.prose(dice.randrange(10_000), dice.randint(1, 5), dice.choice((56, 66, 76))), ""]
    return lines[:34]


def _scanned(folder: Path) -> dict[str, float]:
    truth: dict[str, list[str]] = {}
    for at, quality in enumerate(QUALITIES):
        pages = [_page(100 * at + number) for number in range(PAGES)]
        (folder / f"scan{at}.pdf").write_bytes(pdfs.scanned(pages, quality, size=11 - at % 2))
        truth[f"scan{at}"] = ["\n".join(page) for page in pages]
    ways: list[Way] = [every_page_as_png, ours, *([ocrmypdf] if has_ocrmypdf() else [])]
    measured = _side_by_side(ways, [folder / f"{name}.pdf" for name in truth])
    old, new = measured[every_page_as_png], measured[ours]
    real = [page for name in sorted(truth) for page in truth[name]]
    rates = {way: character_error_rate(real, measured[way].all_texts()) for way in ways}
    figures = {
        "ocr.scanned_vs_png150": old.total / new.total,
        "ocr.scanned_cer_delta": rates[ours] - rates[every_page_as_png],
        "ocr.scanned_cer": rates[ours],
        "ocr.png150_cer": rates[every_page_as_png],
        "ocr.scanned_cpu_seconds_a_page": new.total / len(real),
        "ocr.png150_cpu_seconds_a_page": old.total / len(real),
    }
    if has_ocrmypdf():
        figures["ocr.scanned_vs_ocrmypdf"] = measured[ocrmypdf].total / new.total
        figures["ocr.ocrmypdf_cer"] = rates[ocrmypdf]
    return figures


def _mixed(folder: Path) -> dict[str, float]:
    """Documents of which three quarters of the pages are digital."""
    files, truth = [], []
    for at, quality in enumerate((pdfs.OFFICE, pdfs.FAX)):
        pages = [_page(1000 + 100 * at + number) for number in range(8)]
        files.append(folder / f"mixed{at}.pdf")
        files[-1].write_bytes(pdfs.joined(pdfs.digital(pages[:6]), pdfs.scanned(pages[6:], quality)))
        truth += ["\n".join(page) for page in pages]
    measured = _side_by_side([every_page_as_png, ours], files)
    old, new = measured[every_page_as_png], measured[ours]
    return {
        "ocr.mixed_vs_png150": old.total / new.total,
        "ocr.mixed_f1_delta": word_f1(truth, new.all_texts()) - word_f1(truth, old.all_texts()),
        "ocr.mixed_f1": word_f1(truth, new.all_texts()),
    }


def _side_by_side(ways: list[Way], files: list[Path]) -> dict[Way, Measured]:
    """Every way on a document before the next document, so that all of them meet the same machine."""
    measured = {way: Measured() for way in ways}
    for file in files * ROUNDS:
        for way in ways:
            with tempfile.TemporaryDirectory() as scratch:
                before = _cpu()
                texts = way(file, Path(scratch))
                measured[way].add(file.stem, _cpu() - before, texts)
    return measured


def _cpu() -> float:
    """Of this process and of all it started: those that ended, the warm parent, and what that forked."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    warm = psutil.Process(keep_warm()).cpu_times()
    forked = warm.user + warm.system + warm.children_user + warm.children_system
    return forked + sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _two_workers(folder: Path) -> dict[str, float]:
    """Pages a second of two workers in those of one: the median of rounds, each begun by the other."""
    files = []
    for number in range(4):
        files.append(folder / f"share{number}.pdf")
        pages = [_page(2000 + number * 10 + page) for page in range(3)]
        files[-1].write_bytes(pdfs.scanned(pages, pdfs.OFFICE))
    ratios = []
    let_cool()  # one parent a worker
    with _pool(1) as one, _pool(2) as two:
        for turn in range(WORKER_ROUNDS):
            walls = {pool: _wall(pool, files) for pool in ((one, two), (two, one))[turn % 2]}
            ratios.append(walls[one] / walls[two])
    return {"ocr.two_workers": statistics.median(ratios)}


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(workers, initializer=keep_warm) as pool:
        list(pool.map(abs, range(workers)))
        yield pool


def _wall(pool: ProcessPoolExecutor, files: list[Path]) -> float:
    started = time.monotonic()
    list(pool.map(_read, files))
    return time.monotonic() - started


def _read(file: Path) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        return len(ours(file, Path(scratch)))
