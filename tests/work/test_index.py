"""The search index: a change whole or not at all, one writer at a time, rebuilt from what is deployed."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.work.database import schema
from pipeline.work.index import generations, marking, upkeep, writing
from pipeline.work.index.question import understand
from pipeline.work.index.searching import DEEPEST, Reader, Wanted, search
from pipeline.work.index.upkeep import Served

Pages = dict[str, list[str]]


@pytest.fixture
def deploy(tmp_path) -> Callable[..., Path]:
    """A deployed database: `deploy("bend.or", {"minutes": ["page one", "page two"]})`."""
    count = 0

    def make(site: str, documents: Pages, *, state: str = "OR", superseded: tuple[str, ...] = ()) -> Path:
        nonlocal count
        count += 1
        path = tmp_path / f"{site}-{count}.db"
        schema.create_tables(path)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("ALTER TABLE documents ADD COLUMN fingerprint TEXT")
            connection.execute("INSERT INTO site VALUES (?, ?, ?, 'city', 'us')", (site, site, state))
            for number, (name, pages) in enumerate(documents.items()):
                day = f"20{10 + number}-03-05"
                connection.execute(
                    "INSERT INTO documents (id, title, body, date, kind, superseded, pages, fingerprint)"
                    " VALUES (?, ?, 'Council', ?, 'minutes', ?, ?, ?)",
                    (f"{site}-{name}", name, day, name in superseded, len(pages), f"{pages}"),
                )
                connection.executemany(
                    "INSERT INTO pages (id, document_id, page, text, method) VALUES (?, ?, ?, ?, 'ocr')",
                    [
                        (f"{site}-{name}-{page}", f"{site}-{name}", page, text)
                        for page, text in enumerate(pages, start=1)
                    ],
                )
        return path

    return make


@pytest.fixture
def root(tmp_path) -> Path:
    return tmp_path / "index"


def found(root: Path, words: str, **narrowed) -> set[str]:
    answer = search(Reader(root), Wanted(words, **narrowed))
    return {f"{place.document}/{place.page}" for place in answer.places}


def test_what_is_new_changed_and_gone_follows_and_nothing_else_is_touched(root, deploy):
    first = writing.sync_site(
        root, "bend.or", "1", deploy("bend.or", {"a": ["owl"], "b": ["elk"], "c": ["fox"]})
    )
    second = writing.sync_site(
        root, "bend.or", "2", deploy("bend.or", {"a": ["owl"], "b": ["elk", "hare"], "d": ["lynx"]})
    )

    assert (first.added, first.touched) == (("bend.or-a", "bend.or-b", "bend.or-c"), 3)
    assert (second.added, second.changed, second.removed) == (("bend.or-d",), ("bend.or-b",), ("bend.or-c",))
    assert found(root, "owl OR elk OR hare OR lynx OR fox") == {
        *("bend.or-a/1", "bend.or-b/1", "bend.or-b/2", "bend.or-d/1")
    }


def test_a_site_does_not_touch_another(root, deploy):
    writing.sync_site(root, "bend.or", "1", deploy("bend.or", {"a": ["owl"]}))
    writing.sync_site(root, "reno.nv", "1", deploy("reno.nv", {"a": ["owl"]}, state="NV"))

    writing.sync_site(root, "bend.or", "2", deploy("bend.or", {}))

    assert found(root, "owl") == {"reno.nv-a/1"}
    assert [summary.site for summary in Reader(root).summaries()] == ["bend.or", "reno.nv"]
    assert writing.remove_site(root, "reno.nv") == 1
    assert found(root, "") == set()


def test_a_state_that_was_corrected_is_that_of_every_page(root, deploy):
    writing.sync_site(root, "bend.or", "1", deploy("bend.or", {"a": ["owl"]}, state="CA"))
    writing.sync_site(root, "bend.or", "2", deploy("bend.or", {"a": ["owl"]}, state="OR"))

    assert (found(root, "owl", states=("CA",)), found(root, "owl", states=("OR",))) == (
        set(),
        {"bend.or-a/1"},
    )


def test_superseded_versions_are_found_only_by_who_asks_for_them(root, deploy):
    database = deploy("bend.or", {"old": ["owl"], "new": ["owl"]}, superseded=("old",))
    writing.sync_site(root, "bend.or", "1", database)

    assert found(root, "owl") == found(root, "") == {"bend.or-new/1"}
    assert found(root, "owl", superseded=True) == {"bend.or-new/1", "bend.or-old/1"}


def test_one_document_can_be_taken_out_at_once(root, deploy):
    writing.sync_site(root, "bend.or", "1", deploy("bend.or", {"a": ["owl", "owl"], "b": ["owl"]}))

    assert writing.remove_document(root, "bend.or", "bend.or-a")
    assert not writing.remove_document(root, "bend.or", "bend.or-a")

    assert found(root, "owl") == {"bend.or-b/1"}
    assert [(each.documents, each.pages) for each in Reader(root).summaries()] == [(1, 1)]


def test_a_reader_sees_a_commit_at_its_next_search(root, deploy):
    reader = Reader(root)
    assert search(reader, Wanted("owl")).counts.total == 0

    writing.sync_site(root, "bend.or", "1", deploy("bend.or", {"a": ["owl"]}))
    assert search(reader, Wanted("owl")).counts.total == 1

    writing.sync_site(root, "bend.or", "2", deploy("bend.or", {"a": ["owl"], "b": ["owl"]}))
    assert search(reader, Wanted("owl")).counts.total == 2


def test_a_writer_killed_before_its_commit_leaves_the_old_state(root, deploy, monkeypatch):
    writing.sync_site(root, "bend.or", "1", deploy("bend.or", {"a": ["owl"]}))
    after = deploy("bend.or", {"b": ["elk"] * 50})
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(writing, "_forget", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        writing.sync_site(root, "bend.or", "2", after)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

    assert (found(root, "owl"), found(root, "elk")) == ({"bend.or-a/1"}, set())
    writing.sync_site(root, "bend.or", "2", after)
    assert (found(root, "owl"), len(found(root, "elk", newest_first=True))) == (set(), 20)


def test_writers_queue_behind_one_another(root, deploy):
    """The library itself refuses a second writer at once."""
    databases = [deploy(f"town{number}.or", {"a": ["owl"] * 20}) for number in range(4)]
    children = []
    for number, database in enumerate(databases):
        if (child := os.fork()) == 0:
            writing.sync_site(root, f"town{number}.or", "1", database)
            os._exit(0)
        children.append(child)

    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    assert search(Reader(root), Wanted("owl")).counts.total == 80


# ---- The index as a whole -----------------------------------------------------------------------------


def served(deploy) -> list[Served]:
    return [
        Served(site, "1", deploy(site, {"a": [f"owl of {site}"], "b": ["elk"]}))
        for site in ("bend.or", "reno.nv")
    ]


def ignore(_: object) -> None: ...


def test_a_lost_index_is_rebuilt_from_the_deployed_databases(root, deploy):
    sites = served(deploy)

    assert {str(each) for each in upkeep.differences(root, sites)} == {
        "bend.or: not in the index",
        "reno.nv: not in the index",
    }
    assert upkeep.rebuild(root, lambda: sites, ignore) == 2
    assert list(upkeep.differences(root, sites, thorough=True)) == []
    assert found(root, "owl") == {"bend.or-a/1", "reno.nv-a/1"}


def test_a_check_names_what_differs_and_an_update_mends_it(root, deploy):
    sites = served(deploy)
    upkeep.rebuild(root, lambda: sites, ignore)
    writing.remove_document(root, "bend.or", "bend.or-a")
    writing.sync_site(root, "gone.or", "1", deploy("gone.or", {"a": ["owl"]}))
    sites[1] = Served("reno.nv", "2", deploy("reno.nv", {"c": ["lynx"]}))

    assert [str(each) for each in upkeep.differences(root, sites, thorough=True)] == [
        "bend.or: 1 documents to be indexed, 0 to be taken out",
        "bend.or: the index holds 1 pages, the database 2",
        "reno.nv: the index has 1, deployed is 2",
        "gone.or: in the index, and not deployed",
    ]
    assert upkeep.update(root, sites, ignore) == 2
    assert found(root, "owl OR lynx") == {"reno.nv-c/1"}


def test_a_deploy_during_a_rebuild_is_not_lost_and_readers_go_on(root, deploy):
    sites = served(deploy)
    upkeep.rebuild(root, lambda: sites, ignore)
    reader, newer = Reader(root), Served("bend.or", "2", deploy("bend.or", {"z": ["zebra"]}))

    def deploy_meanwhile(_: object) -> None:
        if sites[0] is not newer:
            sites[0] = newer
            writing.sync_site(root, "bend.or", "2", newer.database)
        assert search(reader, Wanted("elk")).counts.total

    upkeep.rebuild(root, lambda: list(sites), deploy_meanwhile)

    assert (found(root, "zebra"), found(root, "bend")) == ({"bend.or-z/1"}, set())
    assert len([path for path in root.iterdir() if path.is_dir() and not path.is_symlink()]) == 1


def test_an_index_that_is_mostly_deleted_pages_is_worth_writing_anew(root, deploy):
    writing.sync_site(root, "bend.or", "1", deploy("bend.or", {f"{n}": ["owl"] * 5 for n in range(10)}))
    assert not upkeep.is_worn(root)
    for number in range(9):
        writing.remove_document(root, "bend.or", f"bend.or-{number}")

    assert upkeep.is_worn(root)


def test_an_index_of_another_version_is_as_good_as_none(root, deploy):
    writing.sync_site(root, "bend.or", "1", deploy("bend.or", {"a": ["owl"]}))
    folder = generations.serving(root)
    assert folder
    folder.rename(root / f"v0-{folder.name}")
    generations.serve(root, root / f"v0-{folder.name}")

    assert generations.serving(root) is None
    assert found(root, "owl") == set()


# ---- What people type ---------------------------------------------------------------------------------

TEXTS = {
    "a": ["The council adopted a short-term rental ordinance"],
    "b": ["Short hearing; the term of the lease; rentals. Zoë Ñuñez spoke"],
    "c": ["Councilmembers licensed the café"],
}


@pytest.fixture
def library(root, deploy) -> Path:
    writing.sync_site(root, "bend.or", "1", deploy("bend.or", TEXTS))
    return root


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("rental", "ab"),
        ("RENTALS", "ab"),
        ('"short-term rental"', "a"),
        ("short-term", "a"),
        ("short term", "ab"),
        ("“short term rental”", "a"),
        ("rental -ordinance", "b"),
        ("rental NOT ordinance", "b"),
        ('rental -"short term"', "b"),
        ("ordinance OR cafe", "ac"),
        ("rental ordinance OR lease", "ab"),
        ("zoe nunez", "b"),
        ("council*", "ac"),
        ("licensing*", "c"),
        ("-council", "bc"),
        ("nothing", ""),
        ("x" * 60, ""),
        ("AND", "abc"),
        ("", "abc"),
    ],
)
def test_what_people_type(library, typed, expected):
    assert {place[8] for place in found(library, typed)} == set(expected)


HOSTILE = [
    "word " * 10_000,
    '"' * 500,
    '"a "b "c" d" e',
    "".join(chr(code) for code in range(33, 127)),
    "\0\0owl\0",
    "🦉 👩‍👩‍👧‍👦 🏳️‍🌈",
    "\u202eowl\u202c \u200fמועצה\u200f مجلس",  # noqa: RUF001
    "\ud800 half a character",
    "text:owl site:* [1 TO 5] a^9 ~5 /.*/ \\ (((",
    "* ** a* ab* abc* " * 20,
    "-" * 300,
    "OR " * 300,
    "ﬁﬀ ＡＢＣ İ ß",  # noqa: RUF001
]


@pytest.mark.parametrize("typed", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_questions_are_answered_quickly_and_mark_nothing_wrong(library, typed):
    began = time.process_time()
    answer = search(Reader(library), Wanted(typed))
    pieces = marking.marked(understand(typed), TEXTS["b"][0])

    assert answer.counts.total <= 3
    assert "".join(piece.text for piece in pieces) == TEXTS["b"][0]
    assert time.process_time() - began < 1


def test_going_on_after_a_page_by_date_meets_every_page_once(root, deploy):
    writing.sync_site(root, "bend.or", "1", deploy("bend.or", {f"{n:02}": ["owl"] * 3 for n in range(9)}))
    reader, after, seen = Reader(root), 0, []
    while places := search(reader, Wanted("owl", newest_first=True), limit=4, after=after).places:
        seen += [f"{place.document}/{place.page}" for place in places]
        after = places[-1].after

    assert seen == [f"bend.or-{n:02}/{page}" for n in reversed(range(9)) for page in (1, 2, 3)]


def test_rank_goes_no_deeper_than_it_costs(library):
    assert search(Reader(library), Wanted("rental"), offset=DEEPEST).places == ()


def test_filters_narrow_and_counts_follow_them(library):
    answer = search(Reader(library), Wanted("rental", since=20_110_101, until=20_111_231))

    assert [place.document for place in answer.places] == ["bend.or-b"]
    assert (answer.counts.total, answer.counts.years) == (1, ((2011, 1),))
    assert answer.counts.bodies == (("Council", 1),)


# ---- Marks --------------------------------------------------------------------------------------------


def marks(typed: str, text: str) -> list[str]:
    return [piece.text for piece in marking.marked(understand(typed), text) if piece.marked]


def test_marks_stand_where_the_index_finds():
    text = "The Café has rentals: short-term rental, Rent 😀 renting"

    assert marks("cafe rental", text) == ["Café", "rentals", "rental"]
    assert marks('"short term"', text) == ["short-term"]
    assert marks("rent*", text) == ["rentals", "rental", "Rent", "renting"]
    assert marks("-rental short", text) == ["short"]


def test_a_snippet_holds_most_of_what_was_asked_for():
    text = f"{'budget ' * 3}{'filler ' * 200}granite drinking fountain{' filler' * 200}"
    shown = "".join(piece.text for piece in marking.snippet(understand("budget granite fountain"), text))

    assert "granite drinking fountain" in shown
    assert (len(shown) < 300, shown.startswith("… "), shown.endswith(" …")) == (True, True, True)
