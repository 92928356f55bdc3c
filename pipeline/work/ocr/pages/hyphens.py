"""Words broken at the end of a line become one word again; compounds keep their hyphen."""

import re
from collections.abc import Callable, Set

# pdfium puts one of these for a hyphen at the end of a line, and leaves the line end out.
BROKEN = re.compile("[\x02\ufffe]")
# After marking: the word goes on without a hyphen, or with one.
JOINED, KEPT = "\x02", "\ufffe"
_AROUND = re.compile(f"([^\\s{JOINED}{KEPT}]*)([{JOINED}{KEPT}])([^\\s{JOINED}{KEPT}]*)")
# An engine may take the line after it for a paragraph of its own.
_LINE_END = re.compile(r"(\S*\w)-\n\n?(\w\S*)[ ]?")
SOFT_HYPHEN = "\u00ad"
_SOFT = re.compile("\u00ad+[ \t]*\n?")
_EDGES = re.compile(r"^\W+|\W+$")
# First halves of compounds that minutes have; "self-evident" would be "selfevident" without them.
COMPOUND = {
    "all", "anti", "co", "cross", "ex", "full", "half", "high", "long", "low", "mid", "multi", "non", "off",
    "part", "post", "pre", "pro", "self", "semi", "short", "state", "two", "three", "four", "five", "six",
    "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "well", "year",
}  # fmt: skip


def without_soft_hyphens(text: str) -> str:
    """A soft hyphen is where a word may be broken: it is no part of it, nor is the line end after it."""
    return _SOFT.sub("", text)


def marked(raw: str) -> str:
    """The text with each of pdfium's hyphens told apart: JOINED or KEPT. No character moves."""
    if not BROKEN.search(raw):
        return raw
    stays = _judge_of(raw)
    return _AROUND.sub(
        lambda found: found[1] + (KEPT if stays(found[1], found[3]) else JOINED) + found[3], raw
    )


def unmarked(text: str) -> str:
    """Marked text as people write it, the line ending behind the word that was broken."""
    text = re.sub(f"{JOINED}(\\S*)[ ]?", "\\1\n", text)
    return re.sub(f"{KEPT}(\\S*)[ ]?", "-\\1\n", text)


def rejoined(text: str) -> str:
    """Recognised text, whose lines end in real hyphens."""
    if "-\n" not in text:
        return text
    stays = _judge_of(text)
    return _LINE_END.sub(
        lambda found: f"{found[1]}{'-' if stays(found[1], found[2]) else ''}{found[2]}\n", text
    )


def _judge_of(text: str) -> Callable[[str, str], bool]:
    known = {_EDGES.sub("", word) for word in text.lower().split()}
    return lambda before, after: _stays(_EDGES.sub("", before), _EDGES.sub("", after), known)


def _stays(before: str, after: str, known: Set[str]) -> bool:
    """The page itself knows best how it writes the word; then what kinds of halves these are."""
    first, second = before.lower(), after.lower()
    if first + second in known:
        return False
    if f"{first}-{second}" in known:
        return True
    if not before.isalpha() or len(before) < 2 or not after[:1].isalpha() or "-" in after:
        return True
    if not after[0].islower():
        return not (before.isupper() and after.isupper())
    return first in COMPOUND
