"""How fast text becomes a searchable database, against the plain way, by delta, and as it grows."""

import json
import math
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

from sqlite_utils import Database

from pipeline.work.database.compilation import DocumentInfo, SiteInfo, compile_site, stable_id

SITE = SiteInfo("bench.ca", "Bench", "CA", "city", "US")
PAGES_A_DOCUMENT = 20
WORDS = [
    "".join(
        random.Random(seed).choices("abcdefghijklmnopqrstuvwxyz", k=random.Random(seed + 1).randint(3, 11))
    )
    for seed in range(0, 80_000, 2)
]


def run(pages: int = 50_000, growth: tuple[int, ...] = (5_000, 50_000, 500_000)) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as scratch:
        return compare(Path(scratch), pages) | grow(Path(scratch) / "growth", growth)


def compare(root: Path, pages: int) -> dict[str, float]:
    documents = list(write_documents(root / "txt", pages, words=350))
    plain, full, memory = [], [], 0.0
    for turn in ("first", "ours"):
        # In turns, and the better of two: what else the machine does must not decide it.
        plain.append(measured(plain_way, root / f"{turn}.plain.db", documents)[0])
        seconds, memory = measured(our_way, root / f"{turn}.db", documents)
        full.append(seconds)
    documents += write_documents(root / "more", 100, words=350)
    delta = [measured(our_way, root / f"{turn}.db", documents)[0] for turn in ("first", "ours")]
    return {
        "compile.vs_plain": min(plain) / min(full),
        "compile.incremental_fraction": min(delta) / min(full),
        "compile.pages_per_cpu_second": pages / min(full),
        "compile.peak_mb": memory,
    }


def grow(root: Path, sizes: tuple[int, ...]) -> dict[str, float]:
    """The exponent of time over pages, from the smallest site to the largest; short pages keep it brief."""
    documents: list[DocumentInfo] = []
    seconds, peaks = [], []
    for size in sizes:
        more = size - len(documents) * PAGES_A_DOCUMENT
        documents += write_whole_documents(root / str(size), more, words=40)
        (root / "site.db").unlink(missing_ok=True)
        took, peak = measured(our_way, root / "site.db", documents)
        seconds.append(took)
        peaks.append(peak)
    exponent = math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])
    return {"compile.growth_exponent": exponent, "compile.growth_peak_mb": max(peaks)}


def our_way(database: Path, documents: Iterable[DocumentInfo]) -> None:
    compile_site(database, SITE, documents)


def plain_way(database: Path, documents: Iterable[DocumentInfo]) -> None:
    """Read all, insert all with sqlite-utils, then index."""
    rows = [row for document in documents for row in plain_rows(document)]
    plain = Database(database)
    plain.table("pages").insert_all(rows, pk="id")
    plain.table("pages").enable_fts(["text"], tokenize="porter unicode61 remove_diacritics 2")
    plain.close()


def plain_rows(document: DocumentInfo) -> Iterator[dict[str, object]]:
    for path in sorted(document.text_dir.glob("*.txt"), key=lambda path: int(path.stem)):
        record = json.loads(path.with_suffix(".json").read_text())
        yield {
            "id": f"{document.id}-{path.stem}",
            "document_id": document.id,
            "meeting": document.meeting,
            "date": str(document.date),
            "kind": document.kind,
            "page": int(path.stem),
            "text": path.read_text(),
            "method": record["method"],
            "confidence": record["confidence"],
        }


def measured(way: Callable[..., None], database: Path, documents: list[DocumentInfo]) -> tuple[float, float]:
    """CPU seconds and peak memory above the start, in MB, of a process of its own.

    Not the clock's seconds: on a machine that is busy with something else those measure the neighbours.
    """
    context = get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=_measure, args=(way, database, documents, answers))
    child.start()
    child.join()
    if child.exitcode:
        raise RuntimeError(f"{way.__name__} ended with {child.exitcode}")
    seconds, peak = answers.get()
    return seconds, peak


def _measure(
    way: Callable[..., None], database: Path, documents: list[DocumentInfo], answers: object
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    way(database, documents)
    seconds = time.process_time() - started
    answers.put((seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))  # type: ignore[attr-defined]


def write_documents(root: Path, pages: int, words: int) -> Iterator[DocumentInfo]:
    """Page texts in words as unevenly frequent as real ones, with the records that OCR leaves beside them."""
    for number, texts in enumerate(made_up(root.name, pages, words)):
        text_dir = root / f"{number}"
        text_dir.mkdir(parents=True)
        for page, text in enumerate(texts, start=1):
            (text_dir / f"{page}.txt").write_text(text)
            (text_dir / f"{page}.json").write_text(f'{{"number":{page},"method":"text","confidence":null}}')
        yield described(text_dir, number)


def write_whole_documents(root: Path, pages: int, words: int) -> Iterator[DocumentInfo]:
    """One file a document, as the old system wrote; half a million files would measure the file system."""
    root.mkdir(parents=True)
    for number, texts in enumerate(made_up(root.name, pages, words)):
        (root / f"{number}.txt").write_text("\f".join(texts))
        yield described(root / f"{number}", number)


def made_up(seed: str, pages: int, words: int) -> Iterator[list[str]]:
    rng = random.Random(seed)
    pool = rng.choices(WORDS, [1 / (rank + 5) for rank in range(len(WORDS))], k=200_000)
    for _ in range(pages // PAGES_A_DOCUMENT):
        starts = [rng.randrange(len(pool) - words) for _ in range(PAGES_A_DOCUMENT)]
        yield [" ".join(pool[start : start + words]) for start in starts]


def described(text_dir: Path, number: int) -> DocumentInfo:
    day = date(2000, 1, 1) + timedelta(days=number % 9000)
    identity, read_at = stable_id(text_dir), datetime(2024, 1, 15, tzinfo=UTC)
    return DocumentInfo(identity, text_dir, meeting="Council", date=day, kind="minutes", read_at=read_at)


if __name__ == "__main__":
    chosen = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    for name, value in run(chosen, (chosen // 10, chosen, chosen * 10)).items():
        print(f"{name:32} {value:10.3f}")
