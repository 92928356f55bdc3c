"""How a motion ended: the words for it, and the words that only sound like it."""

from collections.abc import Iterator

from pipeline.work.extraction.motions.events import Event
from pipeline.work.extraction.patterns import pattern

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
SUCCEEDED = pattern(
    r"(?i)\b(?:adopt|approv|pass|carr|accept|confirm|grant|enact|unanim|tabled|refer|continu|postpone|received|filed|ordered|"
    r"introduced|concur|\d{1,2}\s?(?:-|–|to)\s?\d)"
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
# The meeting turns from an amendment back to the motion that it interrupted.
MAIN_MOTION = pattern(
    r"(?i)\b(?:main|original|underlying|amended|first) motion\b|"
    r"\bmotion,? as (?:amended|substituted|corrected)\b|\b(?:matter|question) (?:then )?recurred\b|"
    r"\b(?:maker|seconder|mover)s?(?: and (?:the )?seconder)? of the (?:main |original )?motion\b|"
    r"\bfriendly amendment was (?:not )?accepted\b"
)
VOTED_ON = pattern(
    r"(?i)\b(?:vote|carr|pass|fail|approv|adopt|die[sd]|roll call|defeat|recurred|accept|agree|concur)|:"
)
SPOKEN_OF = pattern(
    r"(?i)\b(?:amend|substitute for|table|reconsider|question on|motion to \w+|postpone)\b[^.;]{0,25}$"
)


def labelled_result(told: str) -> str | None:
    """What stands behind `RESULT:`; nothing where it is no outcome."""
    told = told.lower()
    if "withdraw" in told:
        return "withdrawn"
    if "second" in told:
        return "no_second"
    if any(word in told for word in ("fail", "defeat", "reject", "denied", "lost", "died")):
        return "failed"
    return "passed" if SUCCEEDED.search(told) else None


def results(text: str) -> Iterator[Event]:
    for match in NO_SECOND.finditer(text):
        yield Event("result", match.start(), match.end(), "no_second", "no_second", 0.95)
    for match in WITHDRAWN.finditer(text):
        yield Event("result", match.start(), match.end(), "withdrawn", "withdrawn", 0.9)
    for match in LABELLED.finditer(text):
        value = labelled_result(match.group(1))
        if value:
            yield Event("result", match.start(), match.end(), value, "result_label", 0.97)
    for match in OUTCOME.finditer(text):
        event = _outcome(text, match.start(), match.end(), " ".join(match.group(1).lower().split()))
        if event:
            yield event
    for match in MAIN_MOTION.finditer(text):
        following = text[match.end() : match.end() + 120].partition(".")[0]
        spoken_of = SPOKEN_OF.search(text[max(0, match.start() - 60) : match.start()])
        if VOTED_ON.search(match.group() + following) and not spoken_of:
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
