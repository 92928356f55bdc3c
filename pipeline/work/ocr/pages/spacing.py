"""Spaces that one reader of a PDF lost and the other kept, given back."""

import re
from collections.abc import Mapping

from pipeline.work.ocr.model import Word

# Marks of a lost space: a capital or a figure in the middle of a word ("theCity", "2001TOALLOW"), capitals
# without end, and more letters than words have. Surnames have capitals inside, too, after these.
_INSIDE = re.compile(r"[a-z]{2,}[A-Z][a-z]|\d[A-Z]{3,}|[A-Z]{18,}|[^\W\d_]{24,}")
_NAME = re.compile(r"\b(Mc|Mac|Van|Von|De|Del|Della|Da|Di|Du|La|Le|Fitz|San|St)[A-Z]")
SUSPECTS = 2
# Words in running text have some five letters; a page of them without spaces between many has more.
LONG_MEAN, ENOUGH = 7.0, 60
# As many words one lost space after the other may have joined.
MOST_WORDS = 40
_WORD = re.compile(r"\S+")


def may_have_lost_spaces(text: str) -> bool:
    words = text.split()
    suspects = {word for word in words if len(word) > 4 and _INSIDE.search(word) and not _NAME.search(word)}
    if len(suspects) >= SUSPECTS:
        return True
    plain = [word for word in words if word.isalpha() and word.islower()]
    return len(plain) >= ENOUGH and sum(map(len, plain)) / len(plain) > LONG_MEAN


def spaced(text: str, words: list[Word], other: str) -> tuple[str, list[Word]]:
    """Text and words with the spaces that the other reader has between the same letters."""
    known = _known_joins(other.split(), set(text.split()))
    if not known:
        return text, words
    return (
        _WORD.sub(lambda found: known.get(found[0], found[0]), text),
        [part for word in words for part in _parted(word, known)],
    )


def _known_joins(others: list[str], glued: set[str]) -> dict[str, str]:
    """Each of our words that is several of the other reader's, written as it writes them."""
    whole = set(others)
    joins: dict[str, str] = {}
    for start in range(len(others)):
        joined = others[start]
        for stop in range(start + 1, min(start + MOST_WORDS, len(others))):
            joined += others[stop]
            if joined in glued and joined not in whole:
                joins.setdefault(joined, " ".join(others[start : stop + 1]))
    return joins


def _parted(word: Word, known: Mapping[str, str]) -> list[Word]:
    """The box is shared out by letters, which is near enough to mark a word on a page."""
    text, left, top, right, bottom, sure = word
    parts = known.get(text, text).split()
    letters, at, boxes = max(len(text), 1), 0, []
    for part in parts:
        begins = left + (right - left) * at // letters
        at += len(part)
        boxes.append((part, begins, top, left + (right - left) * at // letters, bottom, sure))
    return boxes or [word]
