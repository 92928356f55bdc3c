"""Whatever a file holds, it ends within its limits in text or in a failure with a code of its own."""

import os
from pathlib import Path

import pytest

from pipeline.errors import DocumentError, JobTimeout, PipelineError
from pipeline.work.ocr.process.memory import memory_of
from tests import pdfs

LINES = pdfs.prose(4, 12, 60)
MIB = 1024 * 1024
pytestmark = pytest.mark.usefixtures("nothing_left_behind")


@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("empty_file", lambda: b""),
        ("empty_file", lambda: b" \n\n"),
        ("not_a_pdf", lambda: b"PK\x03\x04 a spreadsheet"),
        ("not_a_pdf", lambda: b"<!DOCTYPE html><html><body>404 Not Found</body></html>"),
        ("encrypted", lambda: pdfs.encrypted(pdfs.digital([LINES]))),
        ("no_pages", pdfs.no_pages),
        ("corrupt", lambda: b"%PDF-1.7\n" + bytes(range(256)) * 40),
        ("corrupt", lambda: pdfs.digital([LINES])[:200]),
        ("no_text", lambda: pdfs.blank(3)),
    ],
)
def test_each_failure_has_its_own_code(read_pdf, code, content):
    with pytest.raises(DocumentError) as failure:
        read_pdf(content())
    assert failure.value.code == code
    assert not failure.value.retryable


@pytest.mark.parametrize(
    ("code", "limits"), [("too_large", {"max_bytes": 500}), ("too_many_pages", {"max_pages": 1})]
)
def test_a_document_over_its_limits(read_pdf, code, limits):
    with pytest.raises(DocumentError) as failure:
        read_pdf(pdfs.digital([LINES, LINES]), **limits)
    assert failure.value.code == code


@pytest.mark.parametrize(
    "content",
    [
        lambda: pdfs.encrypted(pdfs.digital([LINES]), user=""),
        lambda: b"junk\n" * 1000 + pdfs.digital([LINES]),
        lambda: pdfs.digital([LINES])[:-400],
        lambda: pdfs.giant_page(),
    ],
    ids=["empty password", "junk before the header", "cut off at the end", "a page of miles"],
)
def test_what_can_be_mended_is(read_pdf, content):
    assert read_pdf(content()).characters > 200


def test_a_file_without_its_root_gives_the_pages_it_still_has(read_pdf, page_text):
    whole = pdfs.digital([LINES, LINES, pdfs.prose(9)])
    result = read_pdf(whole.replace(b"/Catalog", b"/Katalog")[:-900])
    assert result.pages == 3
    assert page_text(1).split() == " ".join(LINES).split()


@pytest.mark.parametrize("content", [lambda: pdfs.bomb(900), pdfs.form_loop], ids=["bomb", "loop"])
def test_a_page_that_eats_memory_is_stopped(read_pdf, content):
    before = memory_of(os.getpid())
    with pytest.raises(DocumentError) as failure:
        read_pdf(content(), memory_limit=300 * MIB, page_seconds=30)
    assert failure.value.code == "memory_limit"
    assert memory_of(os.getpid()) - before < 50 * MIB


def test_a_page_that_brings_the_reader_down_is_given_up_and_the_rest_are_read(read_pdf, page_text):
    result = read_pdf(
        pdfs.joined(pdfs.digital([LINES]), pdfs.bomb(700), pdfs.digital([LINES])), memory_limit=250 * MIB
    )
    assert result.methods == {"text": 2, "failed": 1}
    assert result.findings == ["page 2 was given up: memory_limit"]
    assert (page_text(1), page_text(2)) == (page_text(3), "")


def test_a_document_that_keeps_bringing_it_down_is_given_up(read_pdf):
    with pytest.raises(DocumentError) as failure:
        read_pdf(pdfs.joined(*[pdfs.bomb(700)] * 2), memory_limit=250 * MIB, max_failed_pages=1)
    assert failure.value.code == "memory_limit"


def test_a_page_over_its_time_is_given_up(read_pdf):
    with pytest.raises(DocumentError) as failure:
        read_pdf(pdfs.scanned([pdfs.prose(1)]), page_seconds=0.3)
    assert failure.value.code == "page_time_limit"


def test_a_document_over_its_time_may_try_again_when_it_got_further(read_pdf, tmp_path):
    scans = pdfs.scanned([pdfs.prose(number) for number in range(8)], pdfs.FAX)
    with pytest.raises(JobTimeout) as failure:
        read_pdf(pdfs.joined(pdfs.digital([LINES]), scans), document_seconds=1.5)
    assert failure.value.code == "time_limit"
    assert failure.value.retryable
    assert 1 <= len(list((tmp_path / "text").glob("*.txt"))) < 9


def test_nothing_to_show_for_the_time_is_terminal(read_pdf):
    with pytest.raises(JobTimeout) as failure:
        read_pdf(pdfs.scanned([pdfs.prose(1)]), document_seconds=0.3)
    assert not failure.value.retryable


@pytest.mark.parametrize("engine", ["tesserocr", "pytesseract"])
def test_a_missing_language_says_what_to_install(read_pdf, engine):
    with pytest.raises(PipelineError) as failure:
        read_pdf(pdfs.scanned([LINES]), languages="eng+tlh", engine=engine)
    assert failure.value.code == "language_missing"
    assert failure.value.retryable
    assert "tesseract-ocr-tlh" in str(failure.value)
    assert "tlh.traineddata" in str(failure.value)


@pytest.mark.parametrize(
    "options",
    [
        {"engine": "nosuch"},
        {"engine": "tesserocr", "tessdata": "/nonexistent"},
        {"engine": "pytesseract", "tessdata": "/nonexistent"},
    ],
)
def test_a_missing_engine_is_worth_another_try(read_pdf, options):
    with pytest.raises(PipelineError) as failure:
        read_pdf(pdfs.scanned([LINES]), **options)
    assert failure.value.code == "engine_missing"
    assert failure.value.retryable


def test_a_digital_document_needs_no_engine(read_pdf):
    assert read_pdf(pdfs.digital([LINES]), engine="nosuch", languages="tlh").characters > 200


def test_a_web_page_without_a_word_is_no_success(read_pdf):
    with pytest.raises(DocumentError) as failure:
        read_pdf(b"<html><body><img src='x.png'></body></html>", name="agenda.html")
    assert failure.value.code == "no_text"


def test_a_web_page_nested_without_end_does_not_hurt(read_pdf):
    deep = b"<html><body>" + b"<div>" * 100_000 + b"Minutes" + b"</div>" * 100_000
    try:
        assert read_pdf(deep, name="agenda.html").characters
    except DocumentError as failure:
        assert failure.code in ("corrupt", "reader_crashed", "no_text", "memory_limit")


def test_the_reader_sees_no_secrets(monkeypatch, read_pdf, tmp_path):
    """The child that touches hostile files gets no address and no password of the services."""
    monkeypatch.setenv("DATABASE_URL", "postgres://clerk:hunter2@db")
    monkeypatch.setenv("SECRET_KEY", "hunter2")
    spy = tmp_path / "spy"
    spy.mkdir()
    (spy / "sitecustomize.py").write_text(
        f"import os, pathlib\npathlib.Path({str(tmp_path / 'seen')!r}).write_text(repr(dict(os.environ)))\n"
    )
    monkeypatch.syspath_prepend(spy)
    read_pdf(pdfs.digital([LINES]))

    seen = Path(tmp_path / "seen").read_text()
    assert "OMP_THREAD_LIMIT" in seen
    assert "hunter2" not in seen
