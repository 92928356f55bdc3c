"""The warm parent that a worker keeps: children are forked from it and die with those they belong to."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pipeline.errors import DocumentError
from pipeline.work.ocr.process.parent import keep_warm, let_cool
from tests import pdfs

ROOT = Path(__file__).resolve().parents[2]
LINES = pdfs.prose(2, 6, 60)


@pytest.fixture
def warm() -> Iterator[psutil.Process]:
    yield psutil.Process(keep_warm())
    let_cool()


@pytest.mark.usefixtures("nothing_left_behind")
def test_one_parent_serves_document_after_document(warm, read_pdf, page_text):
    scan = pdfs.scanned([LINES])
    for number in range(3):  # cold, then with the engine warm too
        read_pdf(scan + b"\n" * number)
        assert page_text(1).split() == " ".join(LINES).split()
        assert warm.children() == []
    read_pdf(b"<html><body>Agenda</body></html>", name="agenda.html")
    assert keep_warm() == warm.pid


@pytest.mark.usefixtures("nothing_left_behind")
def test_a_document_that_is_stopped_does_not_touch_the_next(warm, read_pdf):
    with pytest.raises(DocumentError):
        read_pdf(pdfs.form_loop(), memory_limit=200 * 1024 * 1024)
    assert warm.children() == []
    assert read_pdf(pdfs.digital([LINES])).characters > 100


def test_a_warm_parent_that_fell_is_done_without_and_then_replaced(warm, read_pdf):
    warm.kill()
    warm.wait()
    assert read_pdf(pdfs.digital([LINES])).characters > 100
    assert keep_warm() != warm.pid


# A worker with a job: the job's process is a fork of it, and asks the parent that the worker keeps.
WORKER = """
import os, sys, time
from pathlib import Path
from pipeline.work.ocr import OcrOptions, read_document
from pipeline.work.ocr.process.parent import keep_warm
print(keep_warm(), flush=True)
if not os.fork():
    file, text = map(Path, sys.argv[1:])
    tell = lambda done, total: print(os.getpid(), flush=True)
    read_document(file, text, languages="slow", options=OcrOptions(engine="shouting"), on_page=tell)
time.sleep(60)
"""


@pytest.mark.parametrize("killed", ["job", "worker"])
def test_a_child_dies_with_the_job_it_reads_for_and_the_parent_with_its_worker(
    tmp_path, installed_plugin, killed
):
    file = tmp_path / "a.pdf"  # its second page keeps the child busy for a minute
    file.write_bytes(pdfs.joined(pdfs.digital([LINES]), pdfs.scanned([LINES], pdfs.FAX)))
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, str(file), str(tmp_path / "text")],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{installed_plugin}"},
    ) as worker:
        assert worker.stdout
        warm = psutil.Process(int(worker.stdout.readline()))
        job = psutil.Process(int(worker.stdout.readline()))
        children = warm.children()
        assert children
        (job if killed == "job" else psutil.Process(worker.pid)).kill()
        gone = children if killed == "job" else [*children, warm]
        assert psutil.wait_procs(gone, timeout=5)[1] == []
        assert warm.is_running() == (killed == "job")
        if killed == "worker":
            job.kill()
        worker.kill()
    assert psutil.wait_procs([warm], timeout=5)[1] == []
