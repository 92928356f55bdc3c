"""The accurate engine, where it is installed, and what is said where it is not."""

import importlib.util
from difflib import SequenceMatcher

import pytest

from pipeline.errors import PipelineError
from pipeline.work.ocr.process.memory import MIB
from pipeline.work.ocr.words import words_of
from tests import pdfs

LINES = pdfs.prose(3, 10, 70)
INSTALLED = importlib.util.find_spec("rapidocr") is not None
installed = pytest.mark.skipif(not INSTALLED, reason="requirements-accurate.txt is not installed")
ROOM = 1536 * MIB


def likeness(text: str, lines: list[str]) -> float:
    return SequenceMatcher(None, " ".join(text.split()), " ".join(lines), autojunk=False).ratio()


@pytest.mark.skipif(INSTALLED, reason="it is installed")
@pytest.mark.parametrize("options", [{"engine": "accurate"}, {"accurate_below": 100}])
def test_without_it_a_document_waits_for_it(read_pdf, options):
    with pytest.raises(PipelineError) as error:
        read_pdf(pdfs.scanned([LINES], pdfs.OFFICE), **options)

    assert error.value.code == "engine_missing"
    assert error.value.retryable


@installed
def test_it_reads_a_rough_scan_with_the_places_of_its_words(read_pdf, page_text, page_facts, tmp_path):
    result = read_pdf(pdfs.scanned([LINES], pdfs.ROUGH), engine="accurate", squeeze=1.0, memory_limit=ROOM)

    assert likeness(page_text(1), LINES) > 0.99
    assert result.confidence > 90
    words = words_of(tmp_path / "text", 1)
    assert all(word.start is not None for word in words)
    assert 0.1 < words[0].left < 0.14
    assert 0.05 < words[0].top < 0.1


@installed
@pytest.mark.parametrize(("below", "engine"), [(100, "accurate"), (10, "")])
def test_what_the_first_engine_doubts_is_read_by_it(read_pdf, page_facts, below, engine):
    read_pdf(pdfs.scanned([LINES], pdfs.FAX), accurate_below=below, memory_limit=ROOM)

    assert page_facts(1)["engine"] == engine


@installed
def test_it_reads_columns_one_after_the_other(read_pdf, page_text, ocr_options):
    left, right = pdfs.prose(4, 12, 40), pdfs.prose(5, 12, 40)
    texts = [(60, 120 + 14 * row, line) for row, line in enumerate(left)]
    texts += [(330, 120 + 14 * row, line) for row, line in enumerate(right)]
    scan = pdfs.images(pdfs.scans(pdfs.laid_out(texts), pdfs.CLEAN))
    read_pdf(scan, engine="accurate", squeeze=1.0, memory_limit=ROOM)

    assert likeness(page_text(1), left + right) > 0.98


@installed
def test_many_pages_are_each_read_for_themselves(read_pdf, page_text):
    """Short of address space, its runtime would answer with the line before."""
    pages = [pdfs.prose(seed, 8, 60 + 4 * seed) for seed in range(4)]
    read_pdf(pdfs.scanned(pages, pdfs.OFFICE), engine="accurate", squeeze=1.0, memory_limit=ROOM)

    for number, lines in enumerate(pages, start=1):
        assert likeness(page_text(number), lines) > 0.97


@installed
def test_too_little_memory_gives_up_the_page(read_pdf):
    with pytest.raises(PipelineError) as error:
        read_pdf(pdfs.scanned([LINES], pdfs.OFFICE), engine="accurate", memory_limit=150 * MIB)

    assert error.value.code in ("memory_limit", "reader_crashed")
