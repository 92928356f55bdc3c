"""How far a text is from the truth."""

import re
from collections import Counter


def normalised(text: str) -> str:
    return " ".join(text.split())


def edits(one: str, other: str) -> int:
    """Levenshtein's distance, a column of the table at a time in the bits of one integer (Myers, Hyyrö)."""
    if not one:
        return len(other)
    places: dict[str, int] = {}
    for at, character in enumerate(one):
        places[character] = places.get(character, 0) | 1 << at
    mask, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    more, less, distance = mask, 0, len(one)
    for character in other:
        same = places.get(character, 0)
        vertical = same | less
        horizontal = (((same & more) + more) ^ more) | same
        up, down = less | (~(horizontal | more) & mask), more & horizontal
        distance += bool(up & last) - bool(down & last)
        up = (up << 1 | 1) & mask
        more = (down << 1 & mask) | (~(vertical | up) & mask)
        less = up & vertical
    return distance


def character_error_rate(truth: list[str], read: list[str]) -> float:
    """In points, over all pages."""
    pairs = [(normalised(one), normalised(other)) for one, other in zip(truth, read, strict=False)]
    return 100 * sum(edits(one, other) for one, other in pairs) / sum(len(one) for one, _ in pairs)


def word_f1(truth: list[str], read: list[str]) -> float:
    """In points, over all pages; the order of words does not count."""
    hits = total = 0
    for one, other in zip(truth, read, strict=False):
        wanted, got = Counter(re.findall(r"\w+", one)), Counter(re.findall(r"\w+", other))
        hits += (wanted & got).total()
        total += wanted.total() + got.total()
    return 200 * hits / total
