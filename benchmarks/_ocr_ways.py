"""Three ways from a PDF to the text of its pages: ours, the old system's, and OCRmyPDF's."""

import os
import shutil
import subprocess
from pathlib import Path

import pypdfium2

from pipeline.work.ocr import OcrOptions, read_document
from pipeline.work.ocr.engines.tesseract import program, tessdata

OPTIONS = OcrOptions(
    tesseract_cmd=os.environ.get("TESSERACT_CMD") or None, tessdata=os.environ.get("TESSDATA_PREFIX") or None
)


def ours(file: Path, scratch: Path) -> list[str]:
    pages = read_document(file, scratch / "text", options=OPTIONS).pages
    return [(scratch / "text" / f"{number}.txt").read_text() for number in range(1, pages + 1)]


def every_page_as_png(file: Path, scratch: Path) -> list[str]:
    """The old way: whatever the page holds, a PNG at 150 dpi and one process for it."""
    texts = []
    document = pypdfium2.PdfDocument(file)
    for number, page in enumerate(document):
        image = scratch / f"{number}.png"
        page.render(scale=150 / 72).to_pil().save(image)
        texts.append(_run([program(OPTIONS), str(image), "stdout", "-l", "eng", "--dpi", "150"]))
    document.close()
    return texts


def ocrmypdf(file: Path, scratch: Path) -> list[str]:
    """As one calls it for the text, on one core, and without the cost of an archival PDF."""
    output, text = scratch / "output.pdf", scratch / "output.txt"
    _run(
        [
            "ocrmypdf",
            "-q",
            "--jobs",
            "1",
            "--output-type",
            "pdf",
            "--sidecar",
            str(text),
            str(file),
            str(output),
        ]
    )
    return text.read_text().split("\f")


def has_ocrmypdf() -> bool:
    return shutil.which("ocrmypdf") is not None


def _run(command: list[str]) -> str:
    folder = Path(program(OPTIONS)).parent
    environment = os.environ | {
        "OMP_THREAD_LIMIT": "1",
        "TESSDATA_PREFIX": str(tessdata(OPTIONS, "eng")),
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
    }
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
