"""Search over two million pages: against SQLite's FTS5 on the same pages, and as the pages grow in number."""

import math
import random
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from django.test import override_settings

from benchmarks import _library
from benchmarks._library import BODIES, Library
from pipeline.work.database.schema import TOKENIZER
from pipeline.work.index import generations, marking, searching, writing
from pipeline.work.index.searching import Reader, Wanted
from pipeline.work.ocr.picture import draw_page
from pipeline.work.ocr.process.parent import keep_warm, let_cool
from pipeline.work.pictures import READ
from records import pictures
from records.published import Records, connected
from tests import pdfs

# Words on 70, 50, 20 and 10 % of the pages, two common pairs, a phrase, a common and a rare word, a rare one.
QUERIES = (
    "council",
    "motion",
    "budget",
    "variance",
    "council motion",
    "motion budget",
    '"granite drinking fountain"',
    "council quetzal",
    "quetzal",
)
NARROWED = {"states": ("CA", "OR"), "bodies": BODIES[:2], "since": 20_100_101}
ROUNDS, FTS_ROUNDS, CPU_ROUNDS = 20, 2, 5
PEER_PAGES = 12_000_000
Seconds = dict[str, float]


LIBRARY = Library()


def run(
    small: int = 200_000, large: int = 2_000_000, documents: int = 10_000, library: Library = LIBRARY
) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="clerk-search-") as scratch:
        root = Path(scratch)
        figures = measure_pictures(root / "pictures")
        figures |= measure_change(root / "change", documents)
        return figures | measure_search(root / "search", small, large, library)


def measure_search(root: Path, small: int, large: int, library: Library) -> dict[str, float]:
    root.mkdir(parents=True, exist_ok=True)
    made = Made(root, library)
    made.grow_to(small)
    _, few = timed(made.reader())
    made.grow_to(large)
    every, many = timed(made.reader())
    least = [min(every[start : start + ROUNDS]) for start in range(0, len(every), ROUNDS)]
    processor = 1000 * percentile(processor_seconds(made.reader()), 95)
    found = {query: found_by(made.reader(), query) for query in QUERIES}
    first, fts = first_twenty(made.reader()), fts_seconds(made.fts)
    exponent = math.log(mean(many) / mean(few)) / math.log(large / small)
    shape = generations.shape_of(generations.serving(made.index) or made.index)
    report(found, many, first, fts, few, exponent, large)
    return {
        "search.pages": float(shape.pages),
        "search.p95_ms": 1000 * percentile(every, 95),
        # What a machine with nothing else to do would show: other work only adds.
        "search.p95_least_ms": 1000 * percentile(least, 95),
        # The work itself, whatever else the machine does meanwhile.
        "search.p95_cpu_ms": processor,
        "search.median_ms": 1000 * statistics.median(every),
        "search.vs_fts5": geometric(fts[query] / first[query] for query in QUERIES),
        "search.vs_fts5_with_counts": geometric(fts[query] / many[query] for query in QUERIES),
        "search.growth_exponent": exponent,
        "search.extrapolated_p95_ms_12m": 1000
        * percentile(every, 95)
        * (PEER_PAGES / large) ** max(exponent, 0),
        "search.index_mb": shape.bytes / 2**20,
        "search.segments": float(shape.segments),
        "search.pages_per_second_indexed": large / made.index_seconds,
        "search.pages_per_second_fts5": large / made.fts_seconds,
        "search.peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


class Made:
    """The same pages in deployed databases, in our index and in one FTS5 table, as many as are asked for."""

    def __init__(self, root: Path, library: Library) -> None:
        self.root, self.library = root, library
        self.index, self.fts = root / "index", root / "fts.db"
        self.sites = 0
        self.index_seconds = self.fts_seconds = 0.0
        with closing(sqlite3.connect(self.fts)) as connection:
            connection.execute(
                f"CREATE VIRTUAL TABLE pages USING fts5 (text, content='', tokenize='{TOKENIZER}')"
            )

    def grow_to(self, pages: int) -> None:
        while self.sites * self.library.pages_a_site < pages:
            site = f"town{self.sites}.ca"
            database = _library.write_site(self.root / f"{site}.db", site, self.library, self.sites)
            began = time.process_time()
            writing.sync_site(self.index, site, f"20260101T000000000000Z-{self.sites}", database)
            self.index_seconds += time.process_time() - began
            self._add_to_fts(database)
            self.sites += 1
            if sys.stderr.isatty() or self.sites % 20 == 0:
                print(f"search: {self.sites * self.library.pages_a_site:,} pages", file=sys.stderr)

    def _add_to_fts(self, database: Path) -> None:
        began = time.process_time()
        with closing(sqlite3.connect(self.fts)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("ATTACH ? AS one", (str(database),))
            connection.execute(
                "INSERT INTO pages (rowid, text) SELECT rowid + ?, text FROM one.pages",
                (self.sites * self.library.pages_a_site,),
            )
            connection.commit()
        self.fts_seconds += time.process_time() - began

    def reader(self) -> "Shelf":
        return Shelf(Reader(self.index), self.root)


class Shelf:
    """What the search page does for one answer: the first 20, the counts, and each hit in its context."""

    def __init__(self, reader: Reader, databases: Path) -> None:
        self.reader, self.databases = reader, databases

    def answer(self, wanted: Wanted) -> int:
        self.reader.forget()
        found = searching.search(self.reader, wanted, limit=20)
        for place in found.places:
            connection = connected(self.databases / f"{place.site}.db")
            page = Records(place.site, connection).page(place.document, place.page)
            marking.snippet(found.question, page.text if page else "")
        return found.counts.total

    def first(self, wanted: Wanted) -> None:
        searcher = self.reader.searcher()
        if searcher is not None:
            searching.find(searcher, wanted, limit=20)


def found_by(shelf: Shelf, query: str) -> int:
    return shelf.answer(Wanted(query))


def timed(shelf: Shelf) -> tuple[list[float], Seconds]:
    """Every answer with all that a page of results shows, as asked and narrowed; and the median by query."""
    every: list[float] = []
    by_query: Seconds = {}
    for query in QUERIES:
        plain = rounds(lambda query=query: shelf.answer(Wanted(query)), ROUNDS)  # type: ignore[misc]
        narrow = Wanted(query, **NARROWED)  # type: ignore[arg-type]
        every += plain + rounds(lambda wanted=narrow: shelf.answer(wanted), ROUNDS)  # type: ignore[misc]
        by_query[query] = statistics.median(plain)
    return every, by_query


def processor_seconds(shelf: Shelf) -> list[float]:
    """Seconds of the processor, in every thread: the clock's are those of other programs, too."""
    seconds = []
    for query in QUERIES:
        for wanted in (Wanted(query), Wanted(query, **NARROWED)):  # type: ignore[arg-type]
            shelf.answer(wanted)
            began = time.process_time()
            for _ in range(CPU_ROUNDS):
                shelf.answer(wanted)
            seconds.append((time.process_time() - began) / CPU_ROUNDS)
    return seconds


def first_twenty(shelf: Shelf) -> Seconds:
    """Only the first 20 by rank, which is all that FTS5 is asked for."""
    return {
        query: statistics.median(rounds(lambda query=query: shelf.first(Wanted(query)), ROUNDS))  # type: ignore[misc]
        for query in QUERIES
    }


def fts_seconds(database: Path) -> Seconds:
    ranked = "SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT 20"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA mmap_size = 8589934592")
        return {
            query: min(
                rounds(lambda query=query: connection.execute(ranked, (query,)).fetchall(), FTS_ROUNDS)  # type: ignore[misc]
            )
            for query in QUERIES
        }


def rounds(work: Callable[[], object], count: int) -> list[float]:
    """The clock's seconds, as a reader waits for them; the first time, which fills caches, is not counted."""
    work()
    seconds = []
    for _ in range(count):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return seconds


def measure_change(root: Path, documents: int) -> dict[str, float]:
    """One changed document of a site with many, against indexing the site."""
    root.mkdir(parents=True)
    library = replace(Library(), documents=documents, pages=5)
    database = _library.write_site(root / "site.db", "town.ca", library, 1)
    began, processor = time.perf_counter(), time.process_time()
    writing.sync_site(root / "index", "town.ca", "1", database)
    whole, whole_cpu = time.perf_counter() - began, time.process_time() - processor
    changes, processors = [], []
    for number in range(5):
        with closing(sqlite3.connect(database)) as connection, connection:
            change_a_document(connection, number)
        began, processor = time.perf_counter(), time.process_time()
        writing.sync_site(root / "index", "town.ca", f"{number + 2}", database)
        changes.append(time.perf_counter() - began)
        processors.append(time.process_time() - processor)
    return {
        "search.site_index_seconds": whole,
        "search.changed_document_ms": 1000 * statistics.median(changes),
        "search.changed_document_fraction": statistics.median(changes) / whole,
        "search.changed_document_cpu_fraction": statistics.median(processors) / whole_cpu,
    }


def measure_pictures(root: Path) -> dict[str, float]:
    """A scanned page: the first look of all, a first look at a page, and every look after that."""
    root.mkdir(parents=True)
    file = root / "scan.pdf"
    file.write_bytes(pdfs.scanned([pdfs.prose(seed) for seed in range(5)]))
    with override_settings(RECORDS_IMAGE_CACHE_DIR=root / "images"):
        try:
            keep_warm()
            began = time.perf_counter()
            pictures.keep("0", draw_page(file, 1, READ))
            cold = time.perf_counter() - began
            first = [_draw(file, page) for page in range(2, 6)]
            cached = rounds(lambda: pictures.kept("2"), ROUNDS)
        finally:
            let_cool()
    return {
        "image.cold_ms": 1000 * cold,
        "image.first_ms": 1000 * statistics.median(first),
        "image.cached_ms": 1000 * statistics.median(cached),
    }


def _draw(file: Path, page: int) -> float:
    began = time.perf_counter()
    pictures.keep(str(page), draw_page(file, page, READ))
    return time.perf_counter() - began


def change_a_document(connection: sqlite3.Connection, number: int) -> None:
    identity = connection.execute(
        "SELECT id FROM documents ORDER BY id LIMIT 1 OFFSET ?", (number,)
    ).fetchone()[0]
    connection.execute("UPDATE documents SET fingerprint = ? WHERE id = ?", (str(random.random()), identity))
    connection.execute("UPDATE pages SET text = text || ' corrected' WHERE document_id = ?", (identity,))


def report(
    found: dict[str, int],
    ours: Seconds,
    first: Seconds,
    fts: Seconds,
    few: Seconds,
    exponent: float,
    pages: int,
) -> None:
    print(f"{'query':30} {'pages found':>12} {'answer ms':>10} {'first 20':>9} {'FTS5 ms':>9} {'times':>7}")
    for query in QUERIES:
        times = fts[query] / first[query]
        print(
            f"{query:30} {found[query]:12,} {1000 * ours[query]:10.2f} {1000 * first[query]:9.2f}"
            f" {1000 * fts[query]:9.1f} {times:7.0f}"
        )
    grown = mean(ours) * (PEER_PAGES / pages) ** max(exponent, 0)
    print(
        f"mean answer {1000 * mean(few):.2f} ms at first, {1000 * mean(ours):.2f} ms at {pages:,} pages;"
        f" extrapolated to {PEER_PAGES:,} pages {1000 * grown:.1f} ms"
    )


def mean(seconds: Seconds) -> float:
    return statistics.fmean(seconds.values())


def geometric(ratios: Iterable[float]) -> float:
    return statistics.geometric_mean(list(ratios))


def percentile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]


if __name__ == "__main__":
    sizes = [int(size) for size in sys.argv[1:3]] or [20_000, 200_000]
    for name, value in run(sizes[0], sizes[1], sizes[0] // 10).items():
        print(f"{name:36} {value:12.4g}")
