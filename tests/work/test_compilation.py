"""A compiled database says exactly what its documents say, however it came to be."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from pipeline.work.database.compilation import DocumentInfo, SiteInfo, compile_site

Add = Callable[..., DocumentInfo]


def rows(database: Path, query: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query, values).fetchall()


def everything(database: Path) -> dict[str, list[tuple[object, ...]]]:
    return {
        table: rows(database, f"SELECT * FROM {table} ORDER BY 1")
        for table in ("site", "meetings", "documents", "pages")
    }


def found(database: Path, words: str) -> list[str]:
    query = (
        "SELECT pages.id FROM pages_fts JOIN pages ON pages.rowid = pages_fts.rowid WHERE pages_fts MATCH ?"
    )
    return [str(row[0]) for row in rows(database, f"{query} ORDER BY rank", words)]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "meetings.db"


def test_pages_documents_and_meetings_are_counted_and_found(
    database: Path, site: SiteInfo, add_document: Add
) -> None:
    minutes = add_document("minutes", "Roll call was taken.", "The levee bond passed.")
    agenda = add_document("agenda", "Call to order", kind="agenda")

    compiled = compile_site(database, site, [minutes, agenda])

    assert (compiled.pages, compiled.documents, compiled.meetings) == (3, 2, 1)
    assert found(database, "levee") == [f"{minutes.id}-2"]


def test_the_same_input_gives_the_same_rows(
    database: Path, site: SiteInfo, add_document: Add, tmp_path: Path
) -> None:
    documents = [add_document(name, f"text of {name}") for name in "abcde"]
    compile_site(database, site, documents)
    compile_site(tmp_path / "other.db", site, reversed(documents))

    assert everything(database) == everything(tmp_path / "other.db")


def test_a_delta_ends_where_a_full_build_ends(
    database: Path, site: SiteInfo, add_document: Add, tmp_path: Path
) -> None:
    documents = [add_document(f"d{number}", f"word{number} first", "second") for number in range(12)]
    compile_site(database, site, documents[:10])
    (documents[3].text_dir / "2.txt").write_text("a longer second page")
    wanted = [replace(documents[0], date=date(2023, 5, 2)), *documents[2:]]

    delta = compile_site(database, site, wanted)
    compile_site(tmp_path / "full.db", site, wanted)

    assert (delta.added, delta.removed) == (4, 1)
    assert everything(database) == everything(tmp_path / "full.db")
    assert found(database, "word1") == []
    assert found(database, "longer") == [f"{documents[3].id}-2"]
    assert rows(database, "INSERT INTO pages_fts (pages_fts) VALUES ('integrity-check')") == []


def test_a_document_is_compiled_again_when_it_was_read_again(
    database: Path, site: SiteInfo, add_document: Add
) -> None:
    once, again = (datetime(2024, 1, day, tzinfo=UTC) for day in (15, 16))
    document = add_document("minutes", "as it was", read_at=once)
    compile_site(database, site, [document])
    # As on another machine: the same file with another time.
    (document.text_dir / "1.txt").write_text("as it is")

    same = compile_site(database, site, [document])
    changed = compile_site(database, site, [replace(document, read_at=again)])

    assert (same.added, changed.added) == (0, 1)
    assert rows(database, "SELECT text FROM pages") == [("as it is",)]


def test_a_site_that_had_no_documents_yet_gets_its_first(
    database: Path, site: SiteInfo, add_document: Add
) -> None:
    assert compile_site(database, site, []).pages == 0

    compile_site(database, site, [add_document("minutes", "the very first")])

    assert len(found(database, "first")) == 1
