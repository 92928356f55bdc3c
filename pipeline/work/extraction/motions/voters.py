"""Where the names under an answer stand: after its label, in brackets, or above it."""

from dataclasses import dataclass
from itertools import pairwise, takewhile

from pipeline.work.extraction.patterns import Match, pattern
from pipeline.work.extraction.people import name_lists, names

REACH = 900
LABEL = pattern(
    r"(?i)\b(ayes?|yeas?|yes|in favor|for|affirmative|nays?|noes|no|against|opposed|negative|"
    r"abstain(?:ed|ing|s)?|abstentions?|recused|absent|excused|not voting|not present(?: at (?:the )?vote)?)"
    r"[*_]{0,3}[ \t]*(?:\((\d{1,2})\))?[ \t]*[*_]{0,3}[:;,–—-][*_]{0,3}[ \t]*"
)
OLD = frozenset(("ayes", "yeas", "nays", "noes"))
BEFORE_LABEL = frozenset('([{.;,:*_|"“>/ \n\f')
LEADING_COUNT = pattern(r"^\s*\(?(\d{1,2})\)?(?:\s*[-–—:.]|\s*$|\s+)")
ONLY_COUNT = pattern(r"^[ \t]*(?:\(?(\d{1,2})\)?[ \t]*[-–—:]?[ \t]*)?\n")
# `5 (Ruiz, Lee)`: the names stand in parentheses.
IN_BRACKETS = pattern(r"^\s*(\d{1,2})?\s*[-–—:]?\s*\(\s*(?:\p{Lu}|[a-z]+ \p{Lu})")
MAX_LINES = 12


@dataclass(frozen=True)
class Stretch:
    start: int
    end: int


def labels(text: str) -> list[Match]:
    return [match for match in LABEL.finditer(text) if _is_label(text, match)]


def _is_label(text: str, match: Match) -> bool:
    start = match.start()
    if start and text[start - 1] not in BEFORE_LABEL:
        return False
    told = match.group().rstrip(" \t*_")
    if told.endswith((":", ";")):
        return True
    following = text[match.end() : match.end() + 4]
    if told.endswith(","):
        # `Ayes, Messrs. Lee and Ng; nays, none`: as old minutes have it, and not `5 ayes, 0 nays`.
        counted = text[max(0, start - 4) : start].strip()[-1:].isdigit()
        return match.group(1).lower() in OLD and not counted and _begins_a_list(following)
    return following[:1].isdigit() or following.startswith(("(", "\n")) or _begins_a_list(following)


def _begins_a_list(following: str) -> bool:
    return following[:1].isupper() or following.lower() == "none"


def rest_of_line(text: str, position: int) -> str:
    return text[position : position + REACH].partition("\n")[0]


def after(text: str, start: int, until: int) -> Stretch:
    """A list of voters ends with its sentence, at the next answer (`until`), or with its line."""
    window = text[start : min(start + REACH, until)]
    opened = IN_BRACKETS.match(window) if "(" in window[:12] else None
    if opened:
        begin = window.index("(", opened.end(1) if opened.group(1) else 0) + 1
        closed = window.find(")", begin)
        return Stretch(start + begin, start + (closed if closed > 0 else len(window)))
    ends = [end for end in (window.find("]"), window.find("\f")) if end >= 0]
    window = window[: min(ends, default=len(window))]
    return Stretch(start, start + (_column_end(window) or _end(window)))


def _end(window: str) -> int:
    position, lines = 0, window.splitlines(keepends=True)
    for line, below in pairwise([*lines, ""]):
        end = _list_end(line)
        if end is not None:
            return position + end
        position += len(line)
        if not _goes_on(window[:position], line, below):
            break
    return position


def _column_end(window: str) -> int | None:
    """A name a line below the label, as many as were counted, or down to the next label or a blank line."""
    beside, *below = window.splitlines(keepends=True) or [""]
    counted = ONLY_COUNT.match(beside)
    if not below or not counted:
        return None
    column = list(takewhile(is_names, below))
    if counted.group(1):
        column = column[: int(counted.group(1))]
    elif len(column) < len(below) and below[len(column)].strip():
        return None
    several = len(column) > 1 and "," not in "".join(column)
    return len(beside) + sum(map(len, column)) if several or (column and counted.group(1)) else None


def _list_end(line: str) -> int | None:
    """Where a sentence, or what can be a list, ends on the line."""
    tokens = list(names.TOKEN.finditer(line))
    followers = [match.group() for match in tokens[1:]]
    for match, following in zip(tokens, [*followers, ""], strict=False):
        token = match.group()
        if names.bare(token) == "motion" or (token.endswith(":") and not names.is_title(token)):
            return match.start()
        if names.ends_sentence(token) and len(token) > 2:
            return match.end() - 1
        if token.endswith(";") and following and not name_lists.belongs(following):
            return match.end() - 1
    return None


def _goes_on(so_far: str, line: str, below: str) -> bool:
    if not so_far.strip():
        return (not below.strip() and so_far.count("\n") < 3) or is_names(below)
    told = line.rstrip()
    if told.endswith((",", " and", "&", ";")):
        return True
    if not told or not below.strip() or ":" in below:
        return False
    if below.startswith(" " * 8):
        return True
    last = told.rpartition(" ")[2]
    if names.is_title(last):
        return is_names(below)
    full = len(told) >= name_lists.FULL_LINE and "," in told and " and " not in told[-30:]
    return full and is_names(below) and ("," in below or below.rstrip().endswith("."))


def is_names(line: str) -> bool:
    """Nothing but names and their titles."""
    words = line.strip().rstrip(".;").split()
    return any(map(names.is_name_token, words)) and all(
        name_lists.belongs(word) or word in ("and", "&") for word in words
    )


def above(text: str, position: int, since: int) -> Stretch | None:
    """The lines of names that end above a label: the text of a page is not always in the order it is read."""
    line_start = text.rfind("\n", 0, position) + 1
    start = line_start
    for _ in range(MAX_LINES):
        begin = text.rfind("\n", 0, max(0, start - 1)) + 1
        if begin < since or begin >= start or not is_names(text[begin:start]):
            break
        start = begin
    return Stretch(start, line_start) if start < line_start else None
