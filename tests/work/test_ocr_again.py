"""Pages read again by another engine: the better reading stays, and nothing is asked twice."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.errors import DocumentError
from pipeline.work.ocr.again import doubtful_pages, read_again
from tests import pdfs

LINES = pdfs.prose(3, 8, 70)


@pytest.fixture
def read_badly(read_pdf, installed_plugin) -> None:
    """A digital page, and two scans that a poor engine has read: one word each, 88 percent sure."""
    scans = [pdfs.scanned([LINES], pdfs.CLEAN), pdfs.scanned([["Adjourned."]], pdfs.CLEAN)]
    read_pdf(pdfs.joined(pdfs.digital([LINES]), *scans), engine="shouting")


@pytest.fixture
def again(tmp_path: Path, ocr_options):
    def read(pages: list[int], engine: str = "tesserocr"):
        options = replace(ocr_options, engine=engine)
        return read_again(tmp_path / "minutes.pdf", tmp_path / "text", pages, options=options)

    return read


def test_doubtful_pages_are_those_recognised_with_less_confidence(read_badly, tmp_path):
    assert doubtful_pages(tmp_path / "text", "tesserocr", 90) == [2, 3]
    assert doubtful_pages(tmp_path / "text", "tesserocr", 88) == []
    assert doubtful_pages(tmp_path / "nowhere", "tesserocr", 90) == []


def test_the_better_reading_of_each_page_stays(read_badly, again, page_text, page_facts, tmp_path):
    untouched = (tmp_path / "text" / "1.txt").stat().st_mtime_ns
    worse = (tmp_path / "text" / "3.txt").stat().st_mtime_ns
    done = again([2, 3])

    # "Adjourned." is less than the poor engine's "page 2 in eng, L", whatever that is worth.
    assert (done.read, done.better) == (2, (2,))
    assert page_text(2).split() == " ".join(LINES).split()
    assert (page_facts(2)["engine"], page_facts(2)["tried"]) == ("tesserocr", "tesserocr")
    assert (page_facts(3)["engine"], page_facts(3)["tried"]) == ("", "tesserocr")
    assert (tmp_path / "text" / "1.txt").stat().st_mtime_ns == untouched
    assert (tmp_path / "text" / "3.txt").stat().st_mtime_ns == worse


def test_what_an_engine_was_asked_it_is_not_asked_again(read_badly, again, tmp_path):
    again([2])
    assert doubtful_pages(tmp_path / "text", "tesserocr", 90) == [3]
    again([3])
    assert doubtful_pages(tmp_path / "text", "tesserocr", 90) == []
    assert doubtful_pages(tmp_path / "text", "pytesseract", 90) == [3]


def test_a_file_that_is_gone_or_another_is_left_alone(read_badly, again, page_text, tmp_path):
    before = page_text(2)
    (tmp_path / "minutes.pdf").write_bytes(pdfs.scanned([LINES], pdfs.CLEAN))
    with pytest.raises(DocumentError) as changed:
        again([2])
    (tmp_path / "minutes.pdf").unlink()
    with pytest.raises(DocumentError) as missing:
        again([2])

    assert (changed.value.code, missing.value.code) == ("changed_file", "missing_file")
    assert page_text(2) == before


def test_a_page_that_the_engine_refuses_stays_as_it_is(
    read_badly, page_text, page_facts, tmp_path, ocr_options
):
    options = replace(ocr_options, engine="shouting")
    done = read_again(tmp_path / "minutes.pdf", tmp_path / "text", [2], languages="picky", options=options)

    assert done.better == ()
    assert page_text(2).startswith("page 1 in eng")
    assert page_facts(2)["tried"] == ""


def test_a_record_of_the_time_before_is_read_too(read_badly, again, tmp_path):
    """Records written before an engine could be asked again lack its name."""
    record = tmp_path / "text" / "2.json"
    facts = json.loads(record.read_text())
    record.write_text(
        json.dumps({name: facts[name] for name in facts if name not in ("tried", "engine", "looks")})
    )

    assert again([2]).better == (2,)
