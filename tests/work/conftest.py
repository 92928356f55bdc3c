"""A small site on disk, with page texts as the OCR stage leaves them; and the OCR stage itself."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import psutil
import pytest

from pipeline.work.database.compilation import DocumentInfo, SiteInfo, stable_id
from pipeline.work.extraction import MeetingContext, extract_document, read_facts
from pipeline.work.ocr import OcrOptions, OcrResult, read_document

SITE = SiteInfo("alameda.ca", "Alameda", "CA", "city", "US")

# The example of docs/ocr.md, as a package that somebody installed.
PLUGIN = """
import time
from pipeline.errors import DocumentError
from pipeline.work.ocr.engines import Recognition

def build(setup):
    calls = []

    def read(image, dpi):
        calls.append(image.size)
        if setup.languages == "slow":
            time.sleep(60)
        if setup.languages == "picky":
            raise DocumentError("I do not like it", code="engine_failed")
        return Recognition(f"page {len(calls)} in {setup.languages}, {image.mode}", 88.0)

    return read
"""


@pytest.fixture
def site() -> SiteInfo:
    return SITE


@pytest.fixture
def add_document(tmp_path: Path) -> Callable[..., DocumentInfo]:
    def add(name: str, *pages: str, **facts: object) -> DocumentInfo:
        text_dir = tmp_path / "txt" / "CityCouncil" / name
        text_dir.mkdir(parents=True, exist_ok=True)
        for number, text in enumerate(pages, start=1):
            (text_dir / f"{number}.txt").write_text(text, encoding="utf-8")
        document = DocumentInfo(
            id=stable_id("source", name, 1),
            text_dir=text_dir,
            title=f"Minutes of {name}",
            body="City Council",
            meeting="CityCouncil",
            date=date(2024, 1, 15),
            kind="minutes",
        )
        return replace(document, **facts)

    return add


@pytest.fixture
def ocr_options() -> OcrOptions:
    """The Tesseract that the suite's services found, or whatever the machine has."""
    return OcrOptions(
        tesseract_cmd=os.environ.get("TESSERACT_CMD") or None,
        tessdata=os.environ.get("TESSDATA_PREFIX") or None,
        page_seconds=60,
    )


@pytest.fixture
def read_pdf(tmp_path: Path, ocr_options: OcrOptions) -> Callable[..., OcrResult]:
    """Read these bytes as a document: `read_pdf(data, engine="pytesseract")`; pages in tmp_path/text."""

    def read(content: bytes, *, name: str = "minutes.pdf", languages: str = "eng", **options) -> OcrResult:
        file = tmp_path / name
        file.write_bytes(content)
        return read_document(
            file, tmp_path / "text", languages=languages, options=replace(ocr_options, **options)
        )

    return read


@pytest.fixture
def installed_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    site = tmp_path / "site"
    metadata = site / "shouting-0.1.dist-info"
    metadata.mkdir(parents=True)
    (site / "shouting.py").write_text(PLUGIN)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 0.1\n")
    (metadata / "entry_points.txt").write_text(
        "[clerk.ocr_engines]\nshouting = shouting:build\nbroken = nowhere:build\n"
    )
    monkeypatch.syspath_prepend(site)
    return site


@pytest.fixture
def nothing_left_behind(tmp_path: Path) -> Iterator[None]:
    """Of what the test itself began: other tests of the same process may have children of their own."""
    others = set(psutil.Process().children(recursive=True))
    yield
    left = [file for file in (tmp_path / "text").rglob("*") if file.suffix not in (".txt", ".json")]
    assert not left, "a temporary file stayed"
    assert not set(psutil.Process().children(recursive=True)) - others, "a child stayed"


@pytest.fixture
def page_facts(tmp_path: Path) -> Callable[[int], dict]:
    return lambda number: json.loads((tmp_path / "text" / f"{number}.json").read_text())


@pytest.fixture
def page_text(tmp_path: Path) -> Callable[[int], str]:
    return lambda number: (tmp_path / "text" / f"{number}.txt").read_text()


@pytest.fixture
def facts(add_document: Callable[..., DocumentInfo], tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """What the rules read in the pages of a meeting's minutes."""

    def read(*pages: str, kind: str = "minutes", day: str = "2024-01-15") -> list[dict[str, Any]]:
        document = add_document("minutes", *pages)
        extract_document(document.text_dir, tmp_path / "facts.json", MeetingContext("Council", day, kind))
        found: list[dict[str, Any]] = read_facts(tmp_path / "facts.json")["facts"]
        return found

    return read
