"""The pages of PDFs are counted by a reader that is shut in with these files, and that may fall."""

from pathlib import Path

import pytest

from pipeline.errors import MachineError
from pipeline.work.ocr.counting import count_pages
from pipeline.work.ocr.model import OcrOptions
from pipeline.work.ocr.process import parent
from tests import pdfs


def three_pages(file: Path) -> Path:
    file.write_bytes(pdfs.digital([["a"], ["b"], ["c"]]))
    return file


def test_each_file_is_counted_beside_those_that_cannot_be_opened(tmp_path: Path) -> None:
    good, broken, linked = (
        three_pages(tmp_path / "good.pdf"),
        tmp_path / "broken.pdf",
        tmp_path / "linked.pdf",
    )
    broken.write_bytes(b"%PDF-1.4 old")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    linked.symlink_to(three_pages(elsewhere / "x.pdf"))
    missing = tmp_path / "missing.pdf"

    assert count_pages([good, broken, linked, missing]) == {good: 3, broken: None, linked: 3, missing: None}


def test_a_reader_that_never_began_says_nothing_of_any_file(tmp_path: Path) -> None:
    parent.let_cool()

    with pytest.raises(MachineError, match="no PDF can be opened on this machine"):
        count_pages([three_pages(tmp_path / "good.pdf")], OcrOptions(page_seconds=-1))
