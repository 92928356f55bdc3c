"""Asks the index: the best or the newest pages, how many there are, and how they spread."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from tantivy import DocAddress, FieldType, Index, Occur, Order, Query, Searcher

from pipeline.work.index import contents, generations
from pipeline.work.index.contents import Summary
from pipeline.work.index.question import Question, query_for, understand
from pipeline.work.index.schema import (
    BODY,
    CURRENT,
    DAY,
    DOCUMENT,
    KIND,
    METHOD,
    OLD_TEXT,
    PAGE,
    PLACE,
    SHELF,
    SITE,
    STATE,
    SUPERSEDED,
    TEXT,
    YEAR,
    open_index,
    schema,
)

# Going through results by rank means sorting all before them; who wants more of them can sort by date.
DEEPEST = 1000
SHOWN_OF_EACH = 50
MOST_YEARS = 1000
KEPT_COUNTS = 512
COUNTING_THREADS = 4


@dataclass(frozen=True)
class Wanted:
    """A search: what was typed, and what it is narrowed to. Equal searches are equal objects."""

    words: str = ""
    sites: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    # Days as 20240115; 0 is no bound.
    since: int = 0
    until: int = 0
    superseded: bool = False
    newest_first: bool = False


@dataclass(frozen=True)
class Place:
    """A page that answers. `after` continues a search by date behind this page."""

    site: str
    document: str
    page: int
    after: int = 0


@dataclass(frozen=True)
class Counts:
    """How many pages answer, in all and by what: each a list of name and number, most first."""

    total: int = 0
    years: tuple[tuple[int, int], ...] = ()
    sites: tuple[tuple[str, int], ...] = ()
    bodies: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Answer:
    question: Question
    places: tuple[Place, ...] = ()
    counting: "Future[Counts] | None" = None

    @property
    def counts(self) -> Counts:
        """They take longest: whoever has something else to do with the pages does it first."""
        return self.counting.result() if self.counting else Counts()


CHOICES = {
    "sites": SITE,
    "states": STATE,
    "bodies": BODY,
    "kinds": KIND,
    "methods": METHOD,
    "documents": DOCUMENT,
}
# Each of these looks at every page found: only what is shown is counted.
COUNTED = {"sites": SITE, "bodies": BODY}


class Reader:
    """The index as of its last commit; a look at one small file before each search finds the next."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._seen: tuple[str, int, int] | None = None
        self._index: Index | None = None
        self._searcher: Searcher | None = None
        self._counted = lru_cache(maxsize=KEPT_COUNTS)(self._count)
        self._summed = lru_cache(maxsize=1)(self._sum)

    def searcher(self) -> Searcher | None:
        """None when there is no index."""
        folder = generations.serving(self._root)
        if folder is None:
            return None
        stat = (folder / "meta.json").stat()
        seen = (folder.name, stat.st_mtime_ns, stat.st_ino)
        with self._lock:
            if seen != self._seen:
                self._refresh(folder, seen)
            return self._searcher

    def _refresh(self, folder: Path, seen: tuple[str, int, int]) -> None:
        if self._index is None or self._seen is None or self._seen[0] != folder.name:
            self._index = open_index(folder)
        self._index.reload()
        self._searcher = self._index.searcher()
        self._seen = seen
        self.forget()  # or the searcher before this one would keep its files open

    def counts(self, wanted: Wanted) -> Counts:
        """Kept until the next commit: whoever turns to the second page does not count again."""
        searcher = self.searcher()
        return self._counted(searcher, wanted) if searcher else Counts()

    def summaries(self) -> tuple[Summary, ...]:
        searcher = self.searcher()
        return self._summed(searcher) if searcher else ()

    def forget(self) -> None:
        self._counted.cache_clear()
        self._summed.cache_clear()

    @staticmethod
    def _count(searcher: Searcher, wanted: Wanted) -> Counts:
        return count(searcher, wanted)

    @staticmethod
    def _sum(searcher: Searcher) -> tuple[Summary, ...]:
        return tuple(contents.summaries(searcher))


@cache
def reader_of(root: Path) -> Reader:
    """One per process: what it has open and counted is shared by all requests."""
    return Reader(root)


def search(reader: Reader, wanted: Wanted, *, limit: int = 20, offset: int = 0, after: int = 0) -> Answer:
    """The pages at `offset` by rank, or the newest behind `after`; with the counts of all of them."""
    question = understand(wanted.words)
    searcher = reader.searcher()
    if searcher is None:
        return Answer(question)
    # Counting looks at every hit, so it takes longer: side by side, for the library lets go of Python.
    counting = _pool().submit(reader.counts, replace(wanted, newest_first=False))
    return Answer(question, find(searcher, wanted, limit=limit, offset=offset, after=after), counting)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(COUNTING_THREADS, thread_name_prefix="counting")


def find(
    searcher: Searcher, wanted: Wanted, *, limit: int = 20, offset: int = 0, after: int = 0
) -> tuple[Place, ...]:
    if offset + limit > DEEPEST:
        limit = max(0, DEEPEST - offset)
    if not limit:
        return ()
    query = narrowed(wanted, after)
    if wanted.newest_first or not understand(wanted.words).wanted:
        found = searcher.search(
            query, limit=limit, offset=offset, count=False, order_by_field=PLACE, order=Order.Desc
        )
        return tuple(place_at(searcher, address, int(place)) for place, address in found.hits)
    # Counting would look at every hit; without it, those that cannot be among the first are skipped.
    found = searcher.search(query, limit=limit, offset=offset, count=False)
    return tuple(place_at(searcher, address) for _, address in found.hits)


def place_at(searcher: Searcher, address: DocAddress, after: int = 0) -> Place:
    document = searcher.doc(address)
    site, identity, page = (document.get_first(name) for name in (SITE, DOCUMENT, PAGE))
    return Place(str(site), str(identity), int(page or 0), after)


def count(searcher: Searcher, wanted: Wanted) -> Counts:
    asked = {"years": {"terms": {"field": YEAR, "size": MOST_YEARS}}}
    asked |= {name: {"terms": {"field": column, "size": SHOWN_OF_EACH}} for name, column in COUNTED.items()}
    told = searcher.aggregate(narrowed(wanted), asked)
    listed = {
        name: tuple((bucket["key"], bucket["doc_count"]) for bucket in part["buckets"])
        for name, part in told.items()
    }
    total = sum(number for _, number in listed["years"]) + told["years"].get("sum_other_doc_count", 0)
    years = tuple(sorted((int(year), number) for year, number in listed.pop("years")))
    return Counts(total, years, **listed)


def narrowed(wanted: Wanted, after: int = 0) -> Query:
    asked = _asked(understand(wanted.words), superseded=wanted.superseded)
    filters = [*_filters(wanted), *_ranges(wanted, after)]
    if not filters:
        return asked
    return Query.boolean_query(
        [(Occur.Must, asked), *((Occur.Must, Query.const_score_query(each, 0.0)) for each in filters)]
    )


def _asked(question: Question, *, superseded: bool) -> Query:
    shelf = _one_of(SHELF, (CURRENT, SUPERSEDED) if superseded else (CURRENT,))
    if not question.clauses:
        return shelf
    asked = query_for(question, TEXT)
    if not question.wanted:
        return _except(shelf, question, superseded)
    if superseded:
        asked = Query.boolean_query([(Occur.Should, asked), (Occur.Should, query_for(question, OLD_TEXT))])
    return asked


def _except(shelf: Query, question: Question, superseded: bool) -> Query:
    """Only words that must not be there: every other page."""
    fields = (TEXT, OLD_TEXT) if superseded else (TEXT,)
    refused = Question(tuple(replace(clause, excluded=False) for clause in question.clauses))
    each = [Question((clause,)) for clause in refused.clauses]
    unwanted = [(Occur.MustNot, query_for(one, name)) for one in each for name in fields]
    return Query.boolean_query([(Occur.Must, shelf), *unwanted])


def _filters(wanted: Wanted) -> list[Query]:
    chosen = ((column, getattr(wanted, name)) for name, column in CHOICES.items())
    return [_one_of(column, values) for column, values in chosen if values]


def _one_of(column: str, values: Sequence[str]) -> Query:
    if len(values) == 1:
        return Query.term_query(schema(), column, values[0], index_option="basic")
    return Query.term_set_query(schema(), column, list(values))


def _ranges(wanted: Wanted, after: int) -> list[Query]:
    ranges = []
    if wanted.since or wanted.until:
        upper = wanted.until or None
        ranges.append(Query.range_query(schema(), DAY, FieldType.Unsigned, max(wanted.since, 1), upper))
    if after:
        ranges.append(
            Query.range_query(schema(), PLACE, FieldType.Unsigned, None, after, include_upper=False)
        )
    return ranges


def pages_by_site(searcher: Searcher) -> dict[str, int]:
    """Every page there is, of superseded versions too."""
    asked = {"sites": {"terms": {"field": SITE, "size": contents.MOST_SITES}}}
    told = searcher.aggregate(_one_of(SHELF, (CURRENT, SUPERSEDED)), asked)
    return {bucket["key"]: bucket["doc_count"] for bucket in told["sites"]["buckets"]}
