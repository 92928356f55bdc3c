"""A kind of fact is one object; everything that has to know of it asks that object."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pipeline.work import deploy
from pipeline.work.database.compilation import DocumentInfo, SiteInfo, compile_site
from pipeline.work.extraction import MeetingContext, document, extract_document
from pipeline.work.extraction.kinds import KINDS

Add = Callable[..., DocumentInfo]
MINUTES = """1. Roll Call
Present: Mayor Ann Ruiz, Council Members Bo Lee, Cy Ng and Di Paz
2. Streets
Moved by Lee, seconded by Ng, to adopt Resolution 12 and pay $500 to 1500 N. Main Street by March 3, 2024.
Ayes: Ruiz, Lee, Ng. Noes: Paz. Motion carried.
"""


def test_each_kind_has_its_table_its_columns_and_its_words_for_datasette(
    site: SiteInfo, add_document: Add, tmp_path: Path
) -> None:
    minutes = add_document("minutes", MINUTES)
    compile_site(tmp_path / "meetings.db", site, [minutes])
    extract_document(minutes.text_dir, tmp_path / "facts.json", MeetingContext(kind="minutes"))
    facts = deploy.FactsFile(minutes.id, tmp_path / "facts.json")
    deploy.assemble(tmp_path / "meetings.db", [facts], tmp_path / "site.db")

    told = deploy.datasette_metadata(site)["tables"]
    with closing(sqlite3.connect(tmp_path / "site.db")) as database:
        for kind in KINDS:
            rows = database.execute(f"SELECT {', '.join(kind.columns)} FROM {kind.table}").fetchall()
            assert bool(rows) == (kind.table != "other_facts"), kind.table
            assert told[kind.table] == kind.datasette
            assert {*kind.indexed} <= {*kind.columns}


def test_a_fact_has_a_value_for_every_column_of_its_table(add_document: Add, tmp_path: Path) -> None:
    minutes = add_document("minutes", MINUTES)
    extract_document(minutes.text_dir, tmp_path / "facts.json", MeetingContext(kind="minutes"))

    for fact in document.read_facts(tmp_path / "facts.json")["facts"]:
        [kind] = [kind for kind in KINDS if fact["kind"] in kind.facts]
        assert {*kind.columns} <= {*fact}
