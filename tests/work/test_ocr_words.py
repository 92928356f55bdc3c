"""Where the words of a page stand, on the page and in its text."""

import json
from pathlib import Path

import pytest

from pipeline.work.ocr.words import placed, words_of
from tests import pdfs

LINES = pdfs.prose(3, 24, 70)


@pytest.mark.parametrize("document", [pdfs.digital([LINES]), pdfs.scanned([LINES], pdfs.OFFICE)])
def test_every_word_of_a_page_has_its_box_and_its_place_in_the_text(read_pdf, page_text, tmp_path, document):
    read_pdf(document)
    words = words_of(tmp_path / "text", 1)

    assert len(words) == len(page_text(1).split())
    assert all(page_text(1)[word.start : word.end] == word.text for word in words)
    first = words[0]
    # One inch from the left and from the top of a letter page, in a type of some ten points.
    assert 0.11 < first.left < 0.13
    assert 0.06 < first.top < 0.1
    assert 0.005 < first.height < 0.03
    assert all(word.left >= 0 and word.left + word.width <= 1 for word in words)


def test_a_word_that_the_text_lacks_leads_no_other_astray():
    words = [(word, 0, 0, 10, 10, 100) for word in ("The", "motion", "a", "carried")]
    found = {word.text: word.start for word in placed(words, "The motion has carried")}

    assert found == {"The": 0, "motion": 4, "a": None, "carried": 15}


def test_boxes_are_shares_of_the_page():
    [word] = placed([("Aye", 1000, 2000, 1500, 2100, 87)], "Aye")

    assert (word.left, word.top, word.width, word.height) == (0.1, 0.2, 0.05, 0.01)
    assert (word.confidence, word.start, word.end) == (87, 0, 3)


@pytest.mark.parametrize("record", [None, "{", "[]", '{"words": [["short", 1]]}', '{"method": "text"}'])
def test_a_page_without_a_sound_record_has_no_places(tmp_path: Path, record):
    (tmp_path / "1.txt").write_text("Roll call")
    if record is not None:
        (tmp_path / "1.json").write_text(record)

    assert words_of(tmp_path, 1) == []
    assert words_of(tmp_path, 2) == []


def test_the_record_of_a_page_says_its_words_in_one_row_each(read_pdf, tmp_path):
    read_pdf(pdfs.digital([["Roll call"]]))

    rows = json.loads((tmp_path / "text" / "1.json").read_text())["words"]
    assert [row[0] for row in rows] == ["Roll", "call"]
    assert all(len(row) == 6 for row in rows)
