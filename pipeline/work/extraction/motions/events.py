"""The words of a motion in the order they stand: who moved, who seconded, how it ended."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pipeline.work.extraction.patterns import Pattern, pattern
from pipeline.work.extraction.people import names
from pipeline.work.extraction.people.names import Name
from pipeline.work.extraction.people.surnames import Roll


@dataclass(frozen=True)
class Event:
    kind: str
    start: int
    end: int
    value: str | None = None
    rule: str = ""
    confidence: float = 0.9
    doubt: str = ""
    # Whether what is moved changes another motion.
    amends: bool = False


# ---- Moved --------------------------------------------------------------------------------------------

MOVED_AFTER = pattern(
    r"(?i)\b(?:(?:it was |was )?(?:duly )?moved(?: for \w+)?|"
    r"motion(?: was| is)?(?: duly)?(?: made| offered| moved)?|(?:was|were|duly) (?:made|offered)|"
    r"mover|motioned|(?:on|upon)(?: a| the)? motions? (?:duly )?(?:made )?)"
    r"\s*(?:(?:by|of|from)\b\s*:?|:)\s*"
)
# The mover may stand far behind: `A motion was made to buy a plow for $113,686.91 by Trustee Lee`.
MOTION = pattern(r"(?i)\bmotion\b(?: was| is)?(?: duly)?(?: made)?(?: to| for| that| \p{Ll}+)\b")
NOT_ITS_START = pattern(
    r"(?i)\b(?:second\w*|support\w*|amend\w*|withdr\w+|on|of|which|whose|discuss\w*)\s+(?:the\s+|this\s+|that\s+|his\s+|her\s+|a\s+)?$"
)
_ENDED = "carried carries passed passes failed fails approved adopted died was seconded and by of"
ENDED = frozenset(_ENDED.split())
SECONDED = pattern(r"(?i)^(?:second|2nd|support|sec-?onded)")
BY_REACH = 320
OFFERED = ("was ", "were ", "duly ")
# A prayer is offered and remarks are made, too.
MOVABLE = pattern(
    r"(?i)\b(?:motion|motions|resolution|ordinance|amendment|substitute|following|nomination|bill|it|which)\b[^.;]{0,160}$"
)
VOTE_ON = ("on the ", "on this ", "on that ")
SECOND_NAMED = pattern(r"^[\s,;]{0,8}(?i:second|seconded|2nd|support)(?i:ed)?(?:\s+(?i:by))?\s*:?\s*\p{Lu}")
SECOND_FOLLOWS = pattern(r"(?i)^[\s,;]{0,3}(?:and |with a )?(?:was )?(?:duly )?(?:second|2nd|support)")
MOVED_BEFORE = pattern(
    r"(?i)\s+(?:then |also |so |again |further |now )?(?:moved|moves|motioned|"
    r"(?:made|makes|offered|put forth|introduced|presented)(?: a| the| an)? (?:\w+ )?(?:motion|amendment)|"
    r"(?:offered|introduced) the following (?:resolution|ordinance|local law))\b"
)
SAID_AND_MOVED = pattern(
    r"(?i)\b(?:said|stated|noted|felt|asked|explained|commented|thanked|offered|introduced|presented|proposed|read)\b"
    r"[^.;]{1,160}?\b(?:and|then) moved\b"
)
# `Council Member Bailey, seconded by Council Member Stitzer, moved`
SECONDED_AND_MOVED = pattern(
    r"(?i),?\s+(?:and\s+)?(?:seconded|second|supported)\s+by\s+[^.;:]{3,80}?,?\s+"
    r"(?:moved|moves|motioned|made (?:a|the) motion)\b"
)
AGAIN = pattern(
    r"(?i)\s+(?:amended|restated|modified|revised)\s+(?:his|her|their|its)\s+(?:original\s+)?motion\b"
)
PREVIOUS_QUESTION = pattern(
    r"(?i)\s+(?:called\s+for|called|moved)\s+the\s+(?:previous\s+)?question\b"
    r"[^.;]{0,60}?\b(?:which motion|motion was|seconded)\b"
)
PAIR = pattern(
    r"(?i)\b(?:M/S/C|M/S/P|M/S/F|M/S|MSC|MSP|MSF|motion/second(?:ed)?|moved/seconded|mover/seconder|m/s/carried)\b[\s:.(\[-]*"
)
MOVED_PAIR = pattern(r"(\p{Lu}[\p{L}'’-]+)\s?/\s?(\p{Lu}[\p{L}'’-]+)\s+(?:moved|motioned|made a motion)\b")
MOTION_PAIR = pattern(r"\b(?i:motion)\s?\(\s?(\p{Lu}[\p{L}'’-]+)\s?[,/]\s?(\p{Lu}[\p{L}'’-]+)[,)]")
CARRIED_PAIR = pattern(r"(?i)^(?:M/S/C|M/S/P|MSC|MSP|m/s/carried)\b")
BARE_MOTION = pattern(r"\b(?:Motion|MOTION)\b(?:\s*[:(-])?\s+")
NOBODY = pattern(
    r"(?i)\b(?:it was (?:duly )?moved(?:,| and) (?:duly )?seconded|motion was (?:duly )?made and seconded)\b"
)
NAME_MOTION = pattern(r"(?i)\s*\((motion|moved|second|seconded)\)")
# `Jones moved to Ohio` is no motion; `was moved to the consent calendar` neither.
PASSIVE = pattern(r"(?i)(?:\b(?:was|is|be|been|being|were|are|who|which|not)\s*)$")


AMENDS = ("to amend", "amendment")


def moves(text: str, roll: Roll) -> Iterator[Event]:
    for event in _moves(text, roll):
        words = text[event.start : event.end + 30].lower()
        yield replace(event, amends=True) if any(word in words for word in AMENDS) else event


def _moves(text: str, roll: Roll) -> Iterator[Event]:
    yield from _named_after(text, roll, MOVED_AFTER, "move", "moved_by")
    yield from _named_before(text, roll, MOVED_BEFORE, "move", "moved")
    yield from _moved_far_behind(text, roll)
    for words, rule in (
        (SAID_AND_MOVED, "said_and_moved"),
        (SECONDED_AND_MOVED, "seconded_and_moved"),
        (AGAIN, "moved_again"),
        (PREVIOUS_QUESTION, "previous_question"),
    ):
        for match in words.finditer(text):
            name = names.before(text, match.start())
            if name and _believable(name, roll):
                yield Event("move", name.start, match.start(), name.text, rule, 0.85)
    for match in BARE_MOTION.finditer(text):
        name = names.after(text, match.end(), reach=50)
        if name and (roll.knows(name.text) or (not roll and _second_named(text, name))):
            yield Event("move", match.start(), name.end, name.text, "motion_name", 0.85)
    for match in NOBODY.finditer(text):
        if not text[match.end() : match.end() + 4].lstrip().lower().startswith(("by", "fro")):
            yield Event("move", match.start(), match.end(), None, "nobody_named", 0.7)


def _moved_far_behind(text: str, roll: Roll) -> Iterator[Event]:
    """`A motion to … by Trustee Elton`: the first `by` with a member behind it, in the same sentence."""
    for match in MOTION.finditer(text):
        ended = match.group().lower().rpartition(" ")[2] in ENDED
        if ended or NOT_ITS_START.search(text[max(0, match.start() - 40) : match.start()]):
            continue
        name = _named_by(text, match.end(), roll)
        if name:
            yield Event("move", match.start(), name.end, name.text, "motion_by", 0.9)


def _named_by(text: str, position: int, roll: Roll) -> Name | None:
    before = ""
    for match in names.TOKEN.finditer(text[position : position + BY_REACH]):
        token = match.group()
        if token.lower() == "by" and SECONDED.match(before):
            return None
        if token.lower() == "by":
            name = names.after(text, position + match.end())
            if name and (name.titled or roll.knows(name.text)) and _moved_it(text, name, before):
                return name
        if names.ends_sentence(token) or token.endswith(";"):
            return None
        before = token
    return None


def _moved_it(text: str, name: Name, before: str) -> bool:
    """Chairs `recommended by Mr. Ruff` were not moved by him, unless a second follows."""
    done = before.lower().endswith("ed") and before.lower() not in ("moved", "offered", "introduced")
    return not done or bool(SECOND_FOLLOWS.match(text[name.end : name.end + 40]))


def pairs(text: str, roll: Roll) -> Iterator[Event]:
    """`M/S/C (Eide/Barrett)`, and `B. Munro (motion), C. Dallas (second)`."""
    for match in PAIR.finditer(text):
        window = text[match.end() : match.end() + 80]
        mover, slash, _ = window.partition("/")
        first = names.after(text, match.end(), reach=len(mover)) if slash else None
        second = names.after(text, match.end() + len(mover) + 1) if first else None
        if first and second:
            yield Event("move", match.start(), first.end, first.text, "pair", 0.95)
            yield Event("second", second.start, second.end, second.text, "pair", 0.95)
            if CARRIED_PAIR.search(match.group()):
                yield Event("result", second.end, second.end, "passed", "pair", 0.8)
        elif not slash or not first:
            yield from _comma_pair(text, match.end())
    for match in (*MOVED_PAIR.finditer(text), *MOTION_PAIR.finditer(text)):
        if roll.knows(match.group(1)) and roll.knows(match.group(2)):
            yield Event("move", match.start(), match.end(1), match.group(1), "pair", 0.9)
            yield Event("second", match.start(2), match.end(2), match.group(2), "pair", 0.9)
    for match in NAME_MOTION.finditer(text):
        name = names.before(text, match.start())
        if name:
            kind = "move" if match.group(1).lower().startswith("mo") else "second"
            yield Event(kind, name.start, match.end(), name.text, "name_then_role", 0.9)


def _comma_pair(text: str, position: int) -> Iterator[Event]:
    first = names.after(text, position, reach=50)
    second = names.after(text, first.end, reach=50) if first else None
    if first and second:
        yield Event("move", position, first.end, first.text, "pair", 0.85)
        yield Event("second", second.start, second.end, second.text, "pair", 0.85)


# After these a name must follow; after `Motion:` it may be what was moved.
NAMES_A_PERSON = pattern(r"(?i)(?:\b(?:by|of|from)\s*:?|\b(?:mover|seconder|second|seconded|2nd)\s*:)\s*$")


def _named_after(text: str, roll: Roll, words: Pattern, kind: str, rule: str) -> Iterator[Event]:
    for match in words.finditer(text):
        lead = text[max(0, match.start() - 160) : match.start()]
        if match.group().lower().startswith(OFFERED) and not MOVABLE.search(lead):
            continue
        if match.group().rstrip().endswith(":") and lead.lower().endswith(VOTE_ON):
            continue
        name = names.after(text, match.end())
        named = bool(NAMES_A_PERSON.search(match.group()))
        if name and (
            named or name.titled or roll.knows(name.text) or (not roll and _second_named(text, name))
        ):
            listed = f"{rule}_label" if match.group().rstrip().endswith(":") else rule
            confidence = 0.95 if roll.knows(name.text) else 0.85
            yield Event(kind, match.start(), name.end, name.text, listed, confidence)


def _second_named(text: str, name: Name) -> bool:
    """`Motion: Lee   Second: Ng`: where no roll tells who Lee is, the second does."""
    return bool(SECOND_NAMED.match(text[name.end : name.end + 40]))


def _named_before(text: str, roll: Roll, words: Pattern, kind: str, rule: str) -> Iterator[Event]:
    for match in words.finditer(text):
        following = text[match.end() : match.end() + 8].lower().lstrip()
        if following.startswith(("by ", "by:", "from ", ":")) or PASSIVE.search(
            text[max(0, match.start() - 12) : match.start()]
        ):
            continue
        name = names.before(text, match.start())
        if name and _believable(name, roll):
            yield Event(
                kind, name.start, match.end(), name.text, rule, 0.95 if roll.knows(name.text) else 0.85
            )


def _believable(name: Name, roll: Roll) -> bool:
    """Somebody with a title, or on the roll; without a roll, anybody."""
    return name.titled or roll.knows(name.text) or not roll


# ---- Seconded -----------------------------------------------------------------------------------------

SECONDED_AFTER = pattern(
    r"(?i)\b(?:sec-?\s?onded|second|2nd(?:ed)?|supported|support|seconder)\b"
    r"(?: was| made| given| offered| provided)*\s*(?:(?:by|from)\b\s*:?|:)\s*"
)
SECONDED_BEFORE = pattern(
    r"(?i)\s+(?:then |also |duly )?(?:seconded|seconds|supported|"
    r"(?:provided|gave|offered) (?:the|a) second|second)\b"
)
AFTER_A_MOTION = pattern(r"\b(?i:motion)(?i: by| of|:)?\s+\p{Lu}[^.;]{1,40}[,;]\s*$")
BARE_SECOND = pattern(r"(?i)\b(?:second|seconded|2nd)\b[\s,]+")


def seconds(text: str, roll: Roll) -> Iterator[Event]:
    yield from _named_after(text, roll, SECONDED_AFTER, "second", "seconded_by")
    yield from _named_before(text, roll, SECONDED_BEFORE, "second", "seconded")
    for match in BARE_SECOND.finditer(text):
        name = names.after(text, match.end(), reach=50)
        moved = not roll and AFTER_A_MOTION.search(text[max(0, match.start() - 60) : match.start()])
        if name and (roll.knows(name.text) or moved):
            yield Event("second", match.start(), name.end, name.text, "second_name", 0.85)
