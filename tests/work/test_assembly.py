"""Text and facts meet in one database, whichever came first, and follow every later change."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.work.database.compilation import DocumentInfo, SiteInfo, compile_site
from pipeline.work.deploy import Assembled, FactsFile, assemble
from pipeline.work.extraction import MeetingContext, extract_document

Add = Callable[..., DocumentInfo]
TEXT = "Moved by Mr. Lee, seconded by Ms. Ng. Ayes: Lee, Ng. Nays: None. Motion carried. $5"


@pytest.fixture
def stages(tmp_path: Path, site: SiteInfo):
    """The three stages over some documents, each to be called when the test says so."""

    class Stages:
        output = tmp_path / "site.db"

        def facts_file(self, document: DocumentInfo) -> Path:
            return tmp_path / "facts" / f"{document.id}.json"

        def compile(self, documents: Iterable[DocumentInfo]) -> None:
            compile_site(tmp_path / "meetings.db", site, documents)

        def extract(self, documents: Iterable[DocumentInfo]) -> None:
            for document in documents:
                extract_document(document.text_dir, self.facts_file(document), MeetingContext(kind="minutes"))

        def assemble(self, documents: Iterable[DocumentInfo]) -> Assembled:
            files = [FactsFile(document.id, self.facts_file(document)) for document in documents]
            return assemble(tmp_path / "meetings.db", files, self.output)

        def rows(self, query: str) -> list[tuple[object, ...]]:
            with closing(sqlite3.connect(self.output)) as connection:
                return connection.execute(query).fetchall()

    return Stages()


@pytest.mark.parametrize("order", [("compile", "extract"), ("extract", "compile")])
def test_whichever_stage_ended_first_both_are_there(stages, add_document: Add, order) -> None:
    documents = [add_document("minutes", TEXT)]
    for stage in order:
        getattr(stages, stage)(documents)

    stages.assemble(documents)

    assert stages.rows("SELECT count(*) FROM pages") == [(1,)]
    assert stages.rows("SELECT mover, seconder, result FROM motions") == [("Lee", "Ng", "passed")]
    assert stages.rows("SELECT name, vote FROM votes ORDER BY name") == [("Lee", "aye"), ("Ng", "aye")]
    assert stages.rows("SELECT motions.mover FROM votes JOIN motions ON motions.id = motion_id LIMIT 1") == [
        ("Lee",)
    ]


def test_a_document_without_facts_still_has_its_text(stages, add_document: Add) -> None:
    documents = [add_document("one", TEXT), add_document("two", TEXT)]
    stages.compile(documents)
    stages.extract(documents[:1])

    stages.assemble(documents)

    assert stages.rows("SELECT count(*) FROM pages") == [(2,)]
    assert stages.rows("SELECT DISTINCT document_id FROM money") == [(documents[0].id,)]


def test_changed_facts_replace_the_old_and_gone_documents_take_theirs_along(
    stages, add_document: Add
) -> None:
    documents = [add_document("one", TEXT), add_document("two", TEXT)]
    stages.compile(documents)
    stages.extract(documents)
    stages.assemble(documents)
    (documents[0].text_dir / "1.txt").write_text("The fee is $7.")

    stages.compile(documents[:1])
    stages.extract(documents[:1])
    stages.assemble(documents[:1])

    assert stages.rows("SELECT amount FROM money") == [(7.0,)]
    assert stages.rows("SELECT count(*) FROM motions") == [(0,)]
    assert stages.rows("SELECT count(*) FROM votes") == [(0,)]


def test_the_same_content_has_the_same_digest_and_other_content_another(stages, add_document: Add) -> None:
    documents = [add_document("one", TEXT)]
    stages.compile(documents)
    stages.extract(documents)
    first, again = stages.assemble(documents), stages.assemble(documents)
    documents.append(add_document("two", TEXT))
    stages.compile(documents)

    assert first.digest == again.digest != stages.assemble(documents).digest


def test_facts_of_a_kind_we_do_not_know_are_kept(stages, add_document: Add) -> None:
    [document] = documents = [add_document("one", TEXT)]
    stages.compile(documents)
    place = {"page": 1, "start": 0, "end": 5, "text": "Moved", "rule": "theirs", "confidence": 0.5}
    stages.facts_file(document).parent.mkdir()
    stages.facts_file(document).write_text(
        json.dumps({"facts": [{"kind": "mood", "value": "calm", **place}]})
    )

    stages.assemble(documents)

    [(kind, value, rule)] = stages.rows("SELECT kind, value, rule FROM other_facts")
    assert (kind, json.loads(value)["value"], rule) == ("mood", "calm", "theirs")


def test_a_damaged_file_of_facts_costs_only_its_facts(stages, add_document: Add) -> None:
    documents = [add_document("one", TEXT), add_document("two", TEXT)]
    stages.compile(documents)
    stages.extract(documents)
    stages.facts_file(documents[0]).write_text('{"facts": [{"kind": "mon')

    stages.assemble(documents)

    assert stages.rows("SELECT document_id FROM money") == [(documents[1].id,)]
