"""What is deployed holds text and facts, and readers only ever see whole versions of it."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.errors import StageError
from pipeline.work.database.compilation import DocumentInfo, SiteInfo, compile_site
from pipeline.work.deploy import FactsFile, Release, assemble, target_for
from pipeline.work.extraction import MeetingContext, extract_document

Add = Callable[..., DocumentInfo]


def value(database: Path, query: str) -> object:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchone()[0]


@pytest.fixture
def assembled(tmp_path: Path, site: SiteInfo, add_document: Add) -> Path:
    document = add_document("minutes", "Resolution No. 2024-17 grants $1,250.50 to the library.")
    compile_site(tmp_path / "meetings.db", site, [document])
    extract_document(document.text_dir, tmp_path / "facts.json", MeetingContext())
    assemble(
        tmp_path / "meetings.db", [FactsFile(document.id, tmp_path / "facts.json")], tmp_path / "site.db"
    )
    return tmp_path / "site.db"


def test_the_assembled_database_holds_text_and_facts(assembled: Path) -> None:
    assert value(assembled, "SELECT count(*) FROM pages_fts WHERE pages_fts MATCH 'library'") == 1
    assert value(assembled, "SELECT number FROM legislation") == "2024-17"
    assert value(assembled, "SELECT amount FROM money") == 1250.5


def test_without_compiled_text_nothing_is_assembled(tmp_path: Path) -> None:
    with pytest.raises(StageError):
        assemble(tmp_path / "meetings.db", [], tmp_path / "site.db")
    assert not (tmp_path / "site.db").exists()


def test_a_directory_serves_the_newest_and_can_go_back(assembled: Path, tmp_path: Path) -> None:
    target = target_for(f"directory://{tmp_path}/served")

    target.publish(Release("alameda.ca", "20240101T000000Z-a", assembled))
    again = target.publish(Release("alameda.ca", "20240201T000000Z-b", assembled))
    assert (again.previous, target.current("alameda.ca")) == ("20240101T000000Z-a", "20240201T000000Z-b")

    target.switch("alameda.ca", "20240101T000000Z-a")
    assert target.current("alameda.ca") == "20240101T000000Z-a"
    assert value(tmp_path / "served" / "alameda.ca.db", "SELECT count(*) FROM pages") == 1


def test_old_versions_beyond_the_newest_five_are_let_go(assembled: Path, tmp_path: Path) -> None:
    target = target_for(f"directory://{tmp_path}/served")
    for number in range(8):
        target.publish(Release("alameda.ca", f"2024010{number + 1}T000000Z-x", assembled))

    assert len(target.versions("alameda.ca")) == 5
    assert target.current("alameda.ca") == "20240108T000000Z-x"
