"""The folder of a document's page texts: written page by page, so that a killed attempt is gone on from."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from pipeline.work.ocr.model import FAILED, PageText

MANIFEST = "document.json"
UNFINISHED = ".partial"
SCRATCH = ".scratch"
# Raised when what is written changes, so that old pages are read anew.
FORMAT = 2


def digest_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class PageFiles:
    """`{n}.txt` is the text of a page, `{n}.json` its provenance; a page with both is done."""

    def __init__(self, folder: Path, key: dict[str, Any]) -> None:
        self.folder = folder
        self.key = key | {"format": FORMAT}

    def prepare(self) -> None:
        """Keep what an earlier attempt on this very content left; clear away what other content left.

        Texts that another system wrote stay until each is read anew: somebody may be reading them.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self.clear_scratch()
        manifest = self.folder / MANIFEST
        same = _read(manifest) == self.key
        clear = not same and manifest.exists()
        for file in self.folder.iterdir():
            if file.is_file() and (file.suffix == UNFINISHED or clear):
                file.unlink(missing_ok=True)
        if not same:
            self._write(MANIFEST, json.dumps(self.key))

    @property
    def scratch(self) -> Path:
        """For what an engine's own program writes down while it works."""
        return self.folder / SCRATCH

    def clear_scratch(self) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)

    def done(self) -> dict[int, PageText]:
        """The pages that are there, without their words; the given-up ones are to be tried again."""
        pages = {}
        for file in self.folder.glob("*.json"):
            known = _read(file)
            if (
                file.stem.isdigit()
                and known
                and file.with_suffix(".txt").is_file()
                and known["method"] != FAILED
            ):
                text = file.with_suffix(".txt").read_text(encoding="utf-8")
                pages[int(file.stem)] = PageText(**known | {"text": text, "words": []})
        return pages

    def has_text_of(self, **wanted: Any) -> bool:
        """Is what lies here the text of this very content?"""
        found = _read(self.folder / MANIFEST) or {}
        return all(found.get(name) == value for name, value in wanted.items())

    def page(self, number: int) -> PageText | None:
        """With its words."""
        known, text = _read(self.folder / f"{number}.json"), self.folder / f"{number}.txt"
        if known is None or not text.is_file():
            return None
        return PageText(**known | {"text": text.read_text(encoding="utf-8")})

    def write(self, page: PageText) -> None:
        """Provenance first: a page counts once its text is there. A page given up keeps an older text."""
        if page.method == FAILED and self._has_older_text(page.number):
            return
        self.write_facts(page)
        self._write(f"{page.number}.txt", page.text)

    def write_facts(self, page: PageText) -> None:
        facts = {name: value for name, value in vars(page).items() if name != "text"}
        self._write(f"{page.number}.json", json.dumps(facts, ensure_ascii=False, separators=(",", ":")))

    def _has_older_text(self, number: int) -> bool:
        text = self.folder / f"{number}.txt"
        return text.is_file() and not text.with_suffix(".json").exists()

    def _write(self, name: str, content: str) -> None:
        unfinished = self.folder / f"{name}{UNFINISHED}"
        try:
            unfinished.write_text(content, encoding="utf-8")
            unfinished.replace(self.folder / name)
        finally:
            unfinished.unlink(missing_ok=True)


def pages_in(folder: Path) -> list[PageText]:
    """What is known of each page of a folder, without text and words; nothing of the old system's texts."""
    records = ((file, _read(file)) for file in folder.glob("*.json") if file.stem.isdigit())
    return [PageText(**known | {"text": "", "words": []}) for _, known in records if known]


def _read(file: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
