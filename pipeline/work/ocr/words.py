"""Where each word of a page stands: on the page as a viewer shows it, and in the page's text."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.work.ocr.model import SCALE, Word
from pipeline.work.ocr.pages.judging import tidy

# How far ahead of the last word found the next one is looked for. What one word lacks in the text must not
# send the rest to its end.
REACH = 400
_NOT_SPACE = re.compile(r"\S")


@dataclass(frozen=True)
class PlacedWord:
    """The box in shares of the page, 0 to 1; the span in its text, None where the text lacks it."""

    text: str
    left: float
    top: float
    width: float
    height: float
    confidence: int
    start: int | None = None
    end: int | None = None


def words_of(text_dir: Path, page: int) -> list[PlacedWord]:
    """The words of a page in the order they are read; none where nobody knows where they stand."""
    try:
        record = json.loads((text_dir / f"{page}.json").read_text(encoding="utf-8"))
        text = (text_dir / f"{page}.txt").read_text(encoding="utf-8")
        return list(placed(record["words"], text))
    except (OSError, ValueError, TypeError, KeyError):
        return []  # text of the old system has no record, and a damaged one must not cost the page


def placed(words: Iterable[Word], text: str) -> Iterator[PlacedWord]:
    at = 0
    for word, left, top, right, bottom, sure in words:
        shown = tidy(word)
        start, end = _next(shown, text, at)
        at = at if end is None else end
        yield PlacedWord(
            shown,
            left / SCALE,
            top / SCALE,
            (right - left) / SCALE,
            (bottom - top) / SCALE,
            sure,
            start,
            end,
        )


def _next(word: str, text: str, at: int) -> tuple[int, int] | tuple[None, None]:
    """Nearly always the very next word; else the same word, whole, a little further on."""
    following = _NOT_SPACE.search(text, at)
    if not word or not following:
        return None, None
    # The first half of a word broken at the end of a line has lost its hyphen in the text.
    for known in (word, word.removesuffix("-")):
        if known and text.startswith(known, following.start()):
            return following.start(), following.start() + len(known)
    found = re.compile(rf"(?<!\S){re.escape(word)}(?!\S)").search(text, at, at + len(word) + REACH)
    return found.span() if found else (None, None)
