"""Names of people as minutes write them: with titles, before and after the words that matter."""

import re
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import combining

from pipeline.work.extraction.patterns import pattern
from pipeline.work.extraction.people.title_words import ABBREVIATIONS, NOT_NAMES, PARTICLES, SUFFIXES, TITLES

# No choice in it, so the standard engine cannot backtrack, and it is the faster one on short matches.
TOKEN = re.compile(r"\S+")
IN_NAMES = "'’`.-"
CLOSING = ",;:)]"
# `Kel-ley` was broken at the end of a line; `Abe-Koga` was not.
BROKEN = pattern(r"(\p{Ll})-(\p{Ll})")
# `MayorAmezcua`: a scan that lost the space.
_GLUED = "Mayor Councilmember Councilman Councilwoman Trustee Commissioner Director Supervisor Alderman Chair"
GLUED_TITLES = tuple(_GLUED.split())


@dataclass(frozen=True)
class Name:
    text: str
    titled: bool
    start: int
    end: int


# The same few words are asked for over and over.
@lru_cache(maxsize=8192)
def bare(token: str) -> str:
    return token.strip("()[]{}.,;:*•").lower()


def is_title(token: str) -> bool:
    return bare(token) in TITLES


@lru_cache(maxsize=8192)
def is_name_token(token: str) -> bool:
    """`O'Dea`, `McAllister,`, `J.T.`, `"Bud"`: a capital, then nothing a name does not have."""
    core = token.strip('()[],;:*•"“”')
    if not core[:1].isupper() or len(core) > 40:
        return False
    if len(core) == 2 and core[1] == ".":
        return core[0].isalpha()
    spelled = all(character.isalpha() or character in IN_NAMES or combining(character) for character in core)
    return spelled and bare(token) not in NOT_NAMES and not is_title(token)


def ends_sentence(token: str) -> bool:
    """`motion.` ends one; `J.`, `J.T.` and `St.` do not."""
    if not token.endswith("."):
        return False
    core = token.rstrip(".")
    return (
        (len(core) > 2 or core[1:].islower())
        and "." not in core
        and core.lower() not in ABBREVIATIONS | TITLES
    )


def after(text: str, position: int, reach: int = 90) -> Name | None:
    """The name that begins at `position`, titles skipped: `by Vice Mayor Ana de la Cruz, to …`."""
    taken: list[tuple[str, int, int]] = []
    titled = False
    for match in TOKEN.finditer(text[position : position + reach]):
        token, start, end = match.group(), position + match.start(), position + match.end()
        if not taken and is_title(token):
            titled = True
        elif is_name_token(token) or (taken and token in PARTICLES):
            taken.append((token, start, end))
        elif not taken and bare(token) in ("", "the"):
            continue
        else:
            break
        if taken and (token[-1] in CLOSING or ends_sentence(token) or len(taken) == 5):
            break
    return _named(text, taken, titled)


def before(text: str, position: int, reach: int = 90) -> Name | None:
    """The name that ends at `position`: `… seconded. Councilman Mark O'Dea moved`."""
    start = max(0, position - reach)
    tokens = [(m.group(), start + m.start(), start + m.end()) for m in TOKEN.finditer(text[start:position])]
    if start and tokens and not text[start - 1].isspace():
        tokens = tokens[1:]
    taken: list[tuple[str, int, int]] = []
    titled = False
    for token, begin, end in reversed(tokens):
        if (token[-1] in CLOSING or ends_sentence(token)) and bare(token) not in SUFFIXES:
            break
        if is_name_token(token) or (taken and token in PARTICLES):
            taken.insert(0, (token, begin, end))
        else:
            titled = bool(taken) and is_title(token)
            break
    while taken and taken[0][0] in PARTICLES:
        taken.pop(0)
    return _named(text, taken[-5:], titled)


def _named(text: str, taken: list[tuple[str, int, int]], titled: bool) -> Name | None:
    while taken and taken[-1][0] in PARTICLES:
        taken.pop()
    if not taken:
        return None
    name = tidy(text[taken[0][1] : taken[-1][2]])
    letters = sum(character.isalpha() for character in name)
    return Name(name, titled, taken[0][1], taken[-1][2]) if letters > 1 else None


def tidy(name: str) -> str:
    name = " ".join(name.split()).lstrip("([*•").partition("(")[0].rstrip(" ,;:)]*").replace("- ", "-")
    last = name.rpartition(" ")[2].rstrip(".")
    if name.endswith(".") and len(last) > 1 and "." not in last and last.lower() not in SUFFIXES:
        name = name[:-1]
    name = BROKEN.sub(r"\1\2", name) if "-" in name else name
    return _without_glued_title(name).replace("’", "'")


def _without_glued_title(name: str) -> str:
    if not name.startswith(GLUED_TITLES):
        return name
    rest = next(name.removeprefix(title) for title in GLUED_TITLES if name.startswith(title))
    return rest if rest[:1].isupper() and rest[1:2].islower() else name
