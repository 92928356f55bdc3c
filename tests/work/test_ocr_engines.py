"""Engines from other packages, and the two that come along."""

import pytest
from PIL import Image

from pipeline.errors import DocumentError, PipelineError
from pipeline.work.ocr.engines import EngineSetup, engine_for
from pipeline.work.ocr.engines.tesseract import from_table, program
from pipeline.work.ocr.model import OcrOptions
from tests import pdfs


@pytest.mark.usefixtures("installed_plugin")
def test_a_plugin_reads_the_pages(read_pdf, page_text, page_facts):
    result = read_pdf(pdfs.scanned([["one"], ["two"]], pdfs.FAX), engine="shouting", languages="spa+eng")
    assert [page_text(1), page_text(2)] == ["page 1 in spa+eng, L", "page 2 in spa+eng, L"]
    assert result.confidence == page_facts(1)["confidence"] == 88.0


@pytest.mark.usefixtures("installed_plugin")
def test_a_plugin_that_hangs_is_stopped_at_the_pages_limit(read_pdf):
    document = pdfs.joined(pdfs.scanned([["one"]], pdfs.FAX), pdfs.digital([pdfs.prose(1)]))
    result = read_pdf(document, engine="shouting", languages="slow", page_seconds=1.5)
    assert result.findings == ["page 1 was given up: page_time_limit"]


@pytest.mark.usefixtures("installed_plugin")
def test_a_page_that_an_engine_refuses_is_given_up(read_pdf):
    scan, text = pdfs.scanned([["one"]], pdfs.FAX), pdfs.digital([pdfs.prose(1)])
    result = read_pdf(pdfs.joined(scan, text), engine="shouting", languages="picky")
    assert result.findings == ["page 1 was given up: engine_failed"]
    with pytest.raises(DocumentError) as failure:
        read_pdf(scan, engine="shouting", languages="picky")
    assert failure.value.code == "engine_failed"


def test_a_damaged_language_is_the_machines_fault(read_pdf, tmp_path):
    (tmp_path / "tessdata").mkdir()
    (tmp_path / "tessdata" / "eng.traineddata").write_bytes(b"not a model")
    with pytest.raises(PipelineError, match="does not start") as failure:
        read_pdf(pdfs.scanned([["one"]], pdfs.FAX), engine="tesserocr", tessdata=str(tmp_path / "tessdata"))
    assert failure.value.code == "engine_missing"


@pytest.mark.usefixtures("installed_plugin")
def test_a_plugin_that_does_not_load_is_named(read_pdf):
    with pytest.raises(PipelineError, match="broken does not load: No module named 'nowhere'") as failure:
        read_pdf(pdfs.scanned([["one"]], pdfs.FAX), engine="broken")
    assert failure.value.code == "engine_missing"


def test_both_engines_read_the_same(ocr_options: OcrOptions):
    [image] = pdfs.scans(pdfs.digital([pdfs.prose(6, 8)]), pdfs.Quality(dpi=150))
    texts = []
    for engine in ("tesserocr", "pytesseract"):
        options = OcrOptions(engine, ocr_options.tesseract_cmd, ocr_options.tessdata)
        texts.append(engine_for(EngineSetup("eng", options))(image, 150).text.split())
    assert texts[0] == texts[1] == " ".join(pdfs.prose(6, 8)).split()


def test_the_program_is_the_one_asked_for(tmp_path):
    fake = tmp_path / "tesseract"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    assert program(OcrOptions(tesseract_cmd=str(fake))) == str(fake)


def test_tesseracts_table_becomes_lines_paragraphs_and_boxes():
    rows = [
        "level\tpage\tblock\tpar\tline\tword\tleft\ttop\twidth\theight\tconf\ttext",
        "4\t1\t1\t1\t1\t0\t0\t0\t100\t10\t-1\t",
        "5\t1\t1\t1\t1\t1\t10\t20\t30\t10\t96.5\tRoll",
        "5\t1\t1\t1\t1\t2\t50\t20\t30\t10\t90\tcall",
        "5\t1\t1\t1\t2\t1\t10\t40\t30\t10\t80\tPresent",
        "5\t1\t1\t2\t1\t1\t10\t80\t30\t10\t70\tAbsent\tnone",
        "5\t1\t1\t2\t1\t2\t10\t80\t30\t10\t-1\t ",
    ]
    read = from_table("\n".join(rows), 100, 200)
    assert read.text == "Roll call\nPresent\n\nAbsent\tnone"
    assert read.words[0] == ("Roll", 1000, 1000, 4000, 1500, 96)
    assert 78 < read.confidence < 83


def test_a_tiny_image_is_no_trouble(ocr_options: OcrOptions):
    for engine in ("tesserocr", "pytesseract"):
        options = OcrOptions(engine, ocr_options.tesseract_cmd, ocr_options.tessdata)
        assert engine_for(EngineSetup("eng", options))(Image.new("L", (8, 8), 255), 150).text == ""
