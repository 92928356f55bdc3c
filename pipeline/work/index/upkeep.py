"""The index as a whole: compared with what is deployed, brought up to it, and written anew from it."""

import fcntl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tantivy import Index, Searcher

from pipeline.work.index import contents, generations, searching, writing
from pipeline.work.index.deployed import fingerprints_of, reading
from pipeline.work.index.schema import create_index, open_index
from pipeline.work.index.writing import Synced

# Written anew when so much of it is pages that are gone, or it lies in so many pieces that a search feels it.
MOST_DELETED = 0.2
MOST_SEGMENTS = 30


@dataclass(frozen=True)
class Served:
    """A site's database as it is deployed."""

    site: str
    version: str
    database: Path


@dataclass(frozen=True)
class Difference:
    site: str
    what: str

    def __str__(self) -> str:
        return f"{self.site}: {self.what}"


Progress = Callable[[Synced], None]


def differences(root: Path, served: Iterable[Served], *, thorough: bool = False) -> Iterator[Difference]:
    """Where the index and the deployed databases disagree; `thorough` compares document by document."""
    folder = generations.serving(root)
    if folder is None:
        yield from (Difference(each.site, "not in the index") for each in served)
        return
    searcher = open_index(folder).searcher()
    known = {summary.site: summary for summary in contents.summaries(searcher)}
    counted = searching.pages_by_site(searcher) if thorough else {}
    for each in served:
        summary = known.pop(each.site, None)
        if summary is None:
            yield Difference(each.site, "not in the index")
        elif summary.version != each.version:
            yield Difference(each.site, f"the index has {summary.version}, deployed is {each.version}")
        elif thorough:
            yield from _documents(searcher, each, counted.get(each.site, 0))
    yield from (Difference(site, "in the index, and not deployed") for site in sorted(known))


def _documents(searcher: Searcher, served: Served, counted: int) -> Iterator[Difference]:
    held = contents.manifest_of(searcher, served.site)
    with reading(served.database) as connection:
        wanted = fingerprints_of(connection)
        pages = connection.execute("SELECT count(*) FROM pages").fetchone()[0]
    missing = sum(held.get(document) != mark for document, mark in wanted.items())
    beyond = sum(document not in wanted for document in held)
    if missing or beyond:
        yield Difference(served.site, f"{missing} documents to be indexed, {beyond} to be taken out")
    if counted != pages:
        yield Difference(served.site, f"the index holds {counted} pages, the database {pages}")


def update(root: Path, served: Iterable[Served], progress: Progress) -> int:
    """Bring every site up to what is deployed; how many were not. Deploys may go on meanwhile."""
    wanted = {each.site: each for each in served}
    behind = {difference.site for difference in differences(root, wanted.values())}
    for site in sorted(behind):
        if each := wanted.get(site):
            progress(writing.sync_site(root, site, each.version, each.database))
        else:
            progress(Synced(site, removed=("",) * writing.remove_site(root, site)))
    return len(behind)


def rebuild(root: Path, served: Callable[[], Iterable[Served]], progress: Progress) -> int:
    """Write the index anew beside the one that serves, then swap; how many sites are in it.

    Deploys go on writing to the old one, so the sites that changed meanwhile are brought up at the end, while
    nobody else may write.
    """
    with _rebuilding(root):
        folder = generations.new_folder(root)
        index = create_index(folder)
        for each in served():
            progress(writing.sync(index, each.site, each.version, each.database))
        with generations.writing(root):
            sites = _catch_up(index, served())
            generations.serve(root, folder)
            generations.remove_others(root, folder)
    return sites


@contextmanager
def _rebuilding(root: Path) -> Iterator[None]:
    """One at a time; what one that was killed left behind goes first."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".rebuild.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with generations.writing(root):
            generations.remove_others(root, generations.serving(root))
        yield


def _catch_up(index: Index, served: Iterable[Served]) -> int:
    index.reload()
    known = {summary.site: summary.version for summary in contents.summaries(index.searcher())}
    wanted = {each.site: each for each in served}
    for each in wanted.values():
        if known.get(each.site) != each.version:
            writing.sync(index, each.site, each.version, each.database)
    for site in known.keys() - wanted.keys():
        writing.forget_site(index, site)
    return len(wanted)


def is_worn(root: Path) -> bool:
    """Would writing it anew make it smaller or quicker?"""
    folder = generations.serving(root)
    if folder is None:
        return False
    shape = generations.shape_of(folder)
    return shape.segments > MOST_SEGMENTS or shape.deleted > MOST_DELETED * (shape.pages + shape.deleted)
