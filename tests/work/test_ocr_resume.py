"""Killed at any line, an attempt leaves whole pages, no process, no temporary file; the next goes on."""

import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pypdfium2
import pytest

from pipeline.work.ocr import read_document
from pipeline.work.ocr.pages.opening import open_pdf
from pipeline.work.ocr.process import pdf_child
from pipeline.work.ocr.store import FORMAT
from tests import pdfs

ROOT = Path(__file__).resolve().parents[2]
PAGES = [pdfs.prose(number, 9, 60) for number in range(6)]


@pytest.fixture(scope="module")
def scan() -> bytes:
    return pdfs.scanned(PAGES, pdfs.FAX)


class Interrupted(BaseException):
    """As RQ raises its time limit: out of a signal's handler, at any line."""


def read_by(file: Path, text_dir: Path, options) -> list[tuple[int, int]]:
    calls: list[tuple[int, int]] = []
    read_document(file, text_dir, options=options, on_page=lambda done, total: calls.append((done, total)))
    return calls


def test_progress_is_told_page_by_page(tmp_path, ocr_options):
    file = tmp_path / "a.pdf"
    file.write_bytes(pdfs.digital(PAGES))
    assert read_by(file, tmp_path / "text", ocr_options) == [(done, 6) for done in range(1, 7)]


def test_only_what_is_missing_is_done_again(tmp_path, ocr_options):
    file, text = tmp_path / "a.pdf", tmp_path / "text"
    file.write_bytes(pdfs.digital(PAGES))
    read_by(file, text, ocr_options)
    (text / "3.txt").unlink()
    (text / "5.json").unlink()
    (text / "6.json").write_text('{"number": 6')
    (text / "9.txt.partial").write_text("half a pa")
    before = {name: (text / name).stat().st_mtime_ns for name in ("1.txt", "2.txt", "4.txt")}

    assert read_by(file, text, ocr_options) == [(4, 6), (5, 6), (6, 6)]
    assert before == {name: (text / name).stat().st_mtime_ns for name in before}
    assert len(list(text.iterdir())) == 13
    assert read_by(file, text, ocr_options) == []


def test_a_changed_file_starts_over(tmp_path, ocr_options):
    file, text = tmp_path / "a.pdf", tmp_path / "text"
    file.write_bytes(pdfs.digital(PAGES))
    read_by(file, text, ocr_options)
    file.write_bytes(pdfs.digital(PAGES[:2]))

    assert read_by(file, text, ocr_options) == [(1, 2), (2, 2)]
    assert sorted(page.name for page in text.glob("*.txt")) == ["1.txt", "2.txt"]


def test_other_languages_and_an_older_format_start_over_too(tmp_path, ocr_options):
    file, text = tmp_path / "a.pdf", tmp_path / "text"
    file.write_bytes(pdfs.digital(PAGES[:1]))
    read_by(file, text, ocr_options)
    read_document(file, text, languages="deu", options=ocr_options)
    manifest = text / "document.json"
    assert '"deu"' in manifest.read_text()
    manifest.write_text(manifest.read_text().replace(f'"format": {FORMAT}', '"format": 0'))
    assert read_by(file, text, ocr_options) == [(1, 1)]


def test_a_given_up_page_is_tried_again_by_the_next_attempt(tmp_path, ocr_options):
    file, text = tmp_path / "a.pdf", tmp_path / "text"
    dense = [pdfs.prose(number, 55, 100) for number in range(1)]  # seconds of OCR on any machine
    file.write_bytes(pdfs.joined(pdfs.digital(PAGES[:1]), pdfs.scanned(dense, size=8)))
    hurried = replace(ocr_options, page_seconds=0.8)
    assert read_document(file, text, options=hurried).methods == {"text": 1, "failed": 1}
    assert read_document(file, text, options=ocr_options).methods == {"text": 1, "ocr": 1}


def test_a_long_document_is_opened_afresh_when_its_memory_grows(tmp_path, ocr_options, monkeypatch):
    file = tmp_path / "a.pdf"
    file.write_bytes(pdfs.digital(PAGES))
    opened = []
    monkeypatch.setattr(pdf_child, "GROWTH", -(1 << 40))

    def open_and_count(path: Path) -> pypdfium2.PdfDocument:
        opened.append(path)
        return open_pdf(path)

    monkeypatch.setattr(pdf_child, "open_pdf", open_and_count)
    told: list[dict] = []
    order = {"options": asdict(ocr_options), "file": str(file), "languages": "eng", "done": [2]}
    pdf_child.read(order, lambda **message: told.append(message))

    assert [message["page"].number for message in told[1:]] == [1, 3, 4, 5, 6]
    assert all(message["page"].text for message in told[1:])
    assert len(opened) == 6


@pytest.mark.usefixtures("nothing_left_behind")
@pytest.mark.parametrize("seconds", [0.02, 0.1, 0.2, 0.3, 0.5, 1.0])
def test_an_alarm_at_any_line_leaves_no_child(tmp_path, ocr_options, scan, seconds):
    def ring(*_):
        raise Interrupted

    file, text = tmp_path / "a.pdf", tmp_path / "text"
    file.write_bytes(scan)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(Interrupted):
            signal.setitimer(signal.ITIMER_REAL, seconds)
            read_document(file, text, options=ocr_options)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


SCRIPT = """
import sys
from pathlib import Path
from pipeline.work.ocr import OcrOptions, read_document
read_document(Path(sys.argv[1]), Path(sys.argv[2]), options=OcrOptions(engine=sys.argv[3]),
              on_page=lambda done, total: print(done, flush=True))
"""


@pytest.mark.usefixtures("nothing_left_behind")
@pytest.mark.parametrize("engine", ["tesserocr", "pytesseract"])
def test_the_child_dies_with_its_parent_and_the_next_attempt_goes_on(tmp_path, ocr_options, scan, engine):
    file, text = tmp_path / "a.pdf", tmp_path / "text"
    file.write_bytes(scan)
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(file), str(text), engine],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as parent:
        assert parent.stdout and parent.stdout.readline() == b"1\n"
        assert parent.stdout.readline() == b"2\n"
        family = psutil.Process(parent.pid).children(recursive=True)
        parent.kill()
    assert family
    assert psutil.wait_procs(family, timeout=5)[1] == []
    done = len(list(text.glob("*.txt")))
    assert 2 <= done < 6

    assert read_by(file, text, replace(ocr_options, engine=engine)) == [(n, 6) for n in range(done + 1, 7)]
