"""The words of a motion in the order they stand: who moved, who seconded, how it ended."""

from collections.abc import Iterator
from dataclasses import dataclass

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


# ---- Moved --------------------------------------------------------------------------------------------

MOVED_AFTER = pattern(
    r"(?i)\b(?:(?:it was |was )?(?:duly )?moved(?: for \w+)?|"
    r"motion(?: was| is)?(?: duly)?(?: made| offered| moved)?|(?:was|were|duly) (?:made|offered)|"
    r"mover|motioned|(?:on|upon)(?: a| the)? motions? (?:duly )?(?:made )?)"
    r"\s*(?:(?:by|of|from)\b\s*:?|:)\s*"
)
MOTION_BY = pattern(r"(?i)\bmotion\b(?: to | for | that )[^.;:\n]{1,160}?\bby\b\s*")
MOVED_BEFORE = pattern(
    r"(?i)\s+(?:then |also |so |again |further |now )?(?:moved|moves|motioned|"
    r"(?:made|makes|offered|put forth|introduced|presented)(?: a| the| an)? (?:\w+ )?(?:motion|amendment)|"
    r"(?:offered|introduced) the following (?:resolution|ordinance|local law))\b"
)
SAID_AND_MOVED = pattern(
    r"(?i)\b(?:said|stated|noted|felt|asked|explained|commented|thanked)\b[^.;]{1,160}?\b(?:and|then) moved\b"
)
PAIR = pattern(
    r"(?i)\b(?:M/S/C|M/S/P|M/S/F|M/S|MSC|MSP|MSF|motion/second(?:ed)?|moved/seconded|mover/seconder|m/s/carried)\b[\s:.(\[-]*"
)
CARRIED_PAIR = pattern(r"(?i)^(?:M/S/C|M/S/P|MSC|MSP|m/s/carried)\b")
BARE_MOTION = pattern(r"\b(?:Motion|MOTION)\b(?:\s*[:(-])?\s+")
NOBODY = pattern(
    r"(?i)\b(?:it was (?:duly )?moved(?:,| and) (?:duly )?seconded|motion was (?:duly )?made and seconded)\b"
)
NAME_MOTION = pattern(r"(?i)\s*\((motion|moved|second|seconded)\)")
# `Jones moved to Ohio` is no motion; `was moved to the consent calendar` neither.
PASSIVE = pattern(r"(?i)(?:\b(?:was|is|be|been|being|were|are|who|which|not)\s*)$")


def moves(text: str, roll: Roll) -> Iterator[Event]:
    yield from _named_after(text, roll, MOVED_AFTER, "move", "moved_by")
    yield from _named_before(text, roll, MOVED_BEFORE, "move", "moved")
    for match in MOTION_BY.finditer(text):
        name = names.after(text, match.end())
        if name and (name.titled or roll.knows(name.text)):
            yield Event("move", match.start(), name.end, name.text, "motion_by", 0.9)
    for match in SAID_AND_MOVED.finditer(text):
        name = names.before(text, match.start())
        if name and _believable(name, roll):
            yield Event("move", match.start(), match.end(), name.text, "said_and_moved", 0.8)
    for match in BARE_MOTION.finditer(text):
        name = names.after(text, match.end(), reach=50)
        if name and roll.knows(name.text):
            yield Event("move", match.start(), name.end, name.text, "motion_name", 0.85)
    for match in NOBODY.finditer(text):
        if not text[match.end() : match.end() + 4].lstrip().lower().startswith(("by", "fro")):
            yield Event("move", match.start(), match.end(), None, "nobody_named", 0.7)


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
        name = names.after(text, match.end())
        if name and (name.titled or roll.knows(name.text) or NAMES_A_PERSON.search(match.group())):
            yield Event(
                kind, match.start(), name.end, name.text, rule, 0.95 if roll.knows(name.text) else 0.85
            )


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
    r"(?i)\b(?:seconded|second|2nd(?:ed)?|supported|support|seconder)\b"
    r"(?: was| made| given| offered| provided)*\s*(?:(?:by|from)\b\s*:?|:)\s*"
)
SECONDED_BEFORE = pattern(
    r"(?i)\s+(?:then |also |duly )?(?:seconded|seconds|supported|"
    r"(?:provided|gave|offered) (?:the|a) second|second)\b"
)
BARE_SECOND = pattern(r"(?i)\b(?:second|seconded|2nd)\b[\s,]+")


def seconds(text: str, roll: Roll) -> Iterator[Event]:
    yield from _named_after(text, roll, SECONDED_AFTER, "second", "seconded_by")
    yield from _named_before(text, roll, SECONDED_BEFORE, "second", "seconded")
    for match in BARE_SECOND.finditer(text):
        name = names.after(text, match.end(), reach=50)
        if name and roll.knows(name.text):
            yield Event("second", match.start(), name.end, name.text, "second_name", 0.85)


# ---- Ended --------------------------------------------------------------------------------------------

NO_SECOND = pattern(
    r"(?i)\b(?:(?:died|dies|failed|fails|lost)\s+(?:due to |because of )?(?:for |from )?(?:a )?(?:the )?"
    r"(?:lack|want)\s+of\s+(?:a\s+)?second|(?:there was|there being|there were|with|hearing)\s+no\s+seconds?|"
    r"no\s+second(?:\.|,|;| was| to)|(?:was|is) not seconded|did not receive (?:a second|one\b))"
)
WITHDRAWN = pattern(
    r"(?i)\b(?:withdrew|withdrawn|rescinded)\b[^.;]{0,30}\bmotion\b|"
    r"\bmotion\b[^.;]{0,40}\b(?:was|were)? ?(?:withdrawn|rescinded)\b"
)
OUTCOME = pattern(
    r"(?i)\b(carried|carries|passed|passes|prevailed|prevails|failed|fails|defeated|lost|rejected|"
    r"did not (?:pass|carry)|adopted|approved|accepted|unanimously|unanimous|so voted|so ordered|"
    r"all (?:members )?(?:present )?(?:voted|voting) (?:aye|yes|yea|in favor|for)|all (?:were )?in favor|"
    r"all ayes?|all yes|(?:ayes|yes|aye|yeas|yea)\s*[-–:]\s*all|voted (?:unanimously )?(?:to|in favor)|"
    r"concurred)\b"
)
LABELLED = pattern(
    r"(?im)^[ \t]*(?:result|disposition|outcome|action taken|vote result|status)[ \t]*:[ \t]*([^\n]{3,60})"
)
SUBJECT = pattern(
    r"(?i)\b(?:motion|amendment|vote|question|resolution|ordinance|it|item|measure|and|which|minutes|"
    r"agenda|calendar)\b[^.;]{0,70}$"
)
SENTENCE_START = pattern(r"(?:^|[.;:!?)\]\n–—-])\s*$")
ADJOURNED = pattern(
    r"(?i)\b(?:meeting|session|hearing|board|council|commission)(?: was| were)?(?: duly)? "
    r"(?:adjourned|closed|ended)\b"
)
HYPOTHETICAL = pattern(
    r"(?i)\b(?:be|been|being|to be|if|as|not|previously|have|has|had|recently|last|would|until|and)\s*$"
)
ADVERB = pattern(r"(?i)\b(?:unanimously|duly|hereby|then|all)\s*$")
FAILED = frozenset(("failed", "fails", "defeated", "lost", "rejected", "did not pass", "did not carry"))
STRONG = frozenset(("carried", "carries", "passed", "passes", "prevailed", "prevails", *FAILED))
MAIN_MOTION = pattern(r"(?i)\b(?:main|original|underlying) motion\b|\bmotion,? as amended\b")


def results(text: str) -> Iterator[Event]:
    for match in NO_SECOND.finditer(text):
        yield Event("result", match.start(), match.end(), "no_second", "no_second", 0.95)
    for match in WITHDRAWN.finditer(text):
        yield Event("result", match.start(), match.end(), "withdrawn", "withdrawn", 0.9)
    for match in LABELLED.finditer(text):
        failed = any(
            word in match.group(1).lower() for word in ("fail", "defeat", "reject", "denied", "lost")
        )
        died = "second" in match.group(1).lower()
        value = "no_second" if died else "failed" if failed else "passed"
        yield Event("label_result", match.start(), match.end(), value, "result_label", 0.97)
    for match in OUTCOME.finditer(text):
        event = _outcome(text, match.start(), match.end(), " ".join(match.group(1).lower().split()))
        if event:
            yield event
    for match in MAIN_MOTION.finditer(text):
        yield Event("return", match.start(), match.end())
    for match in ADJOURNED.finditer(text):
        yield Event("adjourned", match.start(), match.end(), "passed", "adjourned", 0.85)


def _outcome(text: str, start: int, end: int, word: str) -> Event | None:
    lead = text[max(0, start - 90) : start]
    plain = ADVERB.sub("", lead)
    subject, opening = bool(SUBJECT.search(plain)), bool(SENTENCE_START.search(plain[-6:]))
    if word in STRONG:
        if (HYPOTHETICAL.search(plain) and not plain.rstrip().lower().endswith("and")) or not (
            subject or opening
        ):
            return None
        value = "failed" if word in FAILED else "passed"
        return Event("result", start, end, value, "outcome", 0.95)
    if word in ("adopted", "approved", "accepted"):
        if HYPOTHETICAL.search(plain) and not plain.rstrip().lower().endswith("and"):
            return None
        return Event("weak_result", start, end, "passed", "weak_outcome", 0.85 if subject else 0.75)
    return Event("weak_result", start, end, "passed", "unanimous", 0.85)
