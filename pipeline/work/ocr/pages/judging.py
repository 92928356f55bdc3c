"""Is this text worth keeping? Judgements on a page's text alone, with no dictionary."""

import math
import re
import unicodedata
from collections import Counter

from pipeline.work.ocr.pages.hyphens import BROKEN, SOFT_HYPHEN, without_soft_hyphens

MOJIBAKE_SHARE = 0.02
MIN_LETTERS = 60
LONG_WORD = 24
# How often each letter stands in running text, averaged over English, Spanish, French, German and Portuguese.
LETTERS = {
    "e": 13.6, "a": 9.4, "i": 7.4, "s": 7.2, "n": 7.2, "r": 6.6, "o": 6.9, "t": 6.7, "l": 4.6, "d": 4.6,
    "u": 4.2, "c": 3.5, "m": 2.9, "p": 2.3, "h": 2.6, "g": 1.7, "f": 1.4, "b": 1.4, "v": 1.2, "y": 0.9,
    "q": 0.7, "w": 0.9, "z": 0.5, "j": 0.4, "x": 0.3, "k": 0.5,
}  # fmt: skip
MIN_LIKENESS = 0.70
# Measured: up to 0.11 on pages of minutes and agendas, 0.12 to 0.22 on half a page of cipher.
UNSPEAKABLE_SHARE = 0.13
_LONGER = re.compile(r"[^\W\d_]{3,}")
# Letters beyond ASCII count as vowels: in many languages they are.
_VOWEL = re.compile(r"[aeiouy]|[^\x00-\x7f]")
_NORM = math.sqrt(sum(weight * weight for weight in LETTERS.values()))
_JUNK = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\uffff]")
_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)


def tidy(text: str) -> str:
    """Line ends as \\n, no soft hyphens, no characters that cannot be stored or shown."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    text = without_soft_hyphens(text) if SOFT_HYPHEN in text else text
    text = _JUNK.sub("", BROKEN.sub("-", text))
    return _TRAILING.sub("", text.encode("utf-8", "replace").decode()).strip("\n")


def visible(text: str) -> int:
    return len("".join(text.split()))


def mojibake_share(raw: str) -> float:
    """The share of characters that no real text has, of a text that has not been tidied yet."""
    counts = Counter("".join(BROKEN.sub("-", raw).split()))
    if not counts:
        return 0.0
    return sum(count for character, count in counts.items() if _is_mojibake(character)) / counts.total()


def _is_mojibake(character: str) -> bool:
    return character == "\ufffd" or unicodedata.category(character) in ("Cc", "Co", "Cn", "Cs")


def likeness(text: str) -> float | None:
    """How much the letters are those of running text (cosine, 0 to 1); None: too little to tell."""
    alphabetic = {letter: count for letter, count in Counter(text.lower()).items() if letter.isalpha()}
    counts = {letter: count for letter, count in alphabetic.items() if letter in LETTERS}
    total = sum(counts.values())
    if total < MIN_LETTERS or sum(alphabetic.values()) - total > total:
        return None
    product = sum(LETTERS[letter] * count for letter, count in counts.items())
    return product / (_NORM * math.sqrt(sum(count * count for count in counts.values())))


def is_word_salad(text: str) -> bool:
    """Text of fonts that lie about their letters reads as a cipher or as single letters, at least in part."""
    alike = likeness(text)
    if alike is None:
        return False
    return (
        alike < MIN_LIKENESS or single_letter_share(text) > 0.6 or unspeakable_share(text) > UNSPEAKABLE_SHARE
    )


def unspeakable_share(text: str) -> float:
    """The share of different words without a vowel: abbreviations have some, a cipher ("WKH") has many."""
    words = {word.lower() for word in _LONGER.findall(text)}
    return sum(not _VOWEL.search(word) for word in words) / len(words) if len(words) >= 20 else 0.0


def single_letter_share(text: str) -> float:
    words = [word for word in text.split() if word.isalpha()]
    return sum(len(word) == 1 for word in words) / len(words) if len(words) >= 20 else 0.0


def glued_share(text: str) -> float:
    """The share of letters inside words too long to be words: the mark of lost spaces."""
    words = [word for word in re.findall(r"[^\W\d_]+", text) if word.isascii()]
    letters = sum(map(len, words))
    return sum(len(word) for word in words if len(word) >= LONG_WORD) / letters if letters else 0.0


def sanity(text: str) -> float:
    """For choosing between two readings of one page: higher is saner, 0 is no text at all."""
    if not visible(text):
        return 0.0
    alike = likeness(text)
    score = 0.8 if alike is None else alike
    return score * (1 - mojibake_share(text)) * (1 - glued_share(text)) * (1 - single_letter_share(text) / 2)
