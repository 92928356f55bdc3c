"""The numbers of a vote: `5-0`, `four to one`, `3 ayes, 2 nays`."""

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.work.extraction.patterns import Match, pattern


@dataclass(frozen=True)
class Tally:
    start: int
    end: int
    ayes: int
    noes: int | None
    abstentions: int | None
    absent: int | None = None


_WORDS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
WORDS = _WORDS.split()
NUMBER = rf"(\d{{1,2}}|(?i:{'|'.join(WORDS)}))"
ABSTENTIONS = rf"{NUMBER}\s+(?i:abstentions?|abstaining|abstained|abstain)\b"
DASHED = pattern(
    rf"{NUMBER}\s?(?:-|–|—|to|TO|To)\s?{NUMBER}(?:\s?[-–—]\s?(\d{{1,2}}))?(?:\s?[-–—]\s?(\d{{1,2}}))?"
    rf"(?:,?\s+(?:(?i:with|and)\s+){{0,2}}{ABSTENTIONS})?"
)
VOTE_BEFORE = pattern(
    r"(?i)(?:\b(?:vote|votes|voted|carried|carries|passed|passes|failed|fails|approved|adopted|defeated|unanimously|motion|accepted|amendment|tally|result)\b"
    r"[^.;\n\d]{0,40}|[(\[]\s*|[.;)]\s+|/[^\s,]{2,30},\s)$"
)
NOT_A_TALLY = pattern(
    r"(?i)(?:[\d$#/.,A-Z]|no\.?\s*|number\s*|resolution\s*|ordinance\s*|items?\s*|pages?\s*|sections?\s*|lots?\s*)$"
)
COUNTED = pattern(
    rf"(?i)\b{NUMBER}\s+(?:ayes?|yeas?|yes(?: votes)?|in favor|for)\b\s*(?:,|and|;|-|to|/|with)*\s*"
    rf"{NUMBER}\s+(?:nays?|noes|no(?: votes)?|opposed|against)\b"
    rf"(?:\s*(?:,|and|;|with|/)*\s*{ABSTENTIONS})?"
)
NUMBERED = pattern(
    rf"(?i)\b(?:ayes?|yeas?|yes|for)\s*[:=-]?\s*{NUMBER}\b\s*[,;.]?\s*(?:nays?|noes|no|against|opposed)\s*[:=-]?\s*{NUMBER}\b"
    rf"(?:\s*[,;.]?\s*(?:abstain\w*|abstentions?)\s*[:=-]?\s*{NUMBER}\b)?"
)
ONLY_AYES = pattern(rf"(?i)\b{NUMBER}\s+(?:ayes|yeas|yes votes)\b")
# The vote of a pupil on a school board is told beside the vote, and is not counted.
ADVISORY = pattern(r"(?i)\b(?:preferential|advisory|student|youth|non-?voting)\b[^\n.;]{0,40}$")


def number(text: str | None) -> int | None:
    if text is None:
        return None
    return int(text) if text.isdigit() else WORDS.index(text.lower())


def tallies(text: str) -> Iterator[Tally]:
    for match in DASHED.finditer(text):
        lead, tail = text[max(0, match.start() - 60) : match.start()], text[match.end() : match.end() + 2]
        if _is_vote(lead) and not tail[:1].isalnum() and not tail.startswith(("-", "–", "/", "%")):
            yield _dashed(match)
    counted = [*COUNTED.finditer(text), *NUMBERED.finditer(text)]
    yield from map(_counted, counted)
    told = {match.start() for match in counted}
    for match in ONLY_AYES.finditer(text):
        if match.start() not in told:
            yield Tally(match.start(), match.end(), number(match.group(1)) or 0, None, None)


def _is_vote(lead: str) -> bool:
    return bool(VOTE_BEFORE.search(lead)) and not NOT_A_TALLY.search(lead[-12:]) and not ADVISORY.search(lead)


def _dashed(match: Match) -> Tally:
    ayes, noes, third, absent, abstaining = (number(group) for group in match.groups())
    abstentions = third if third is not None else abstaining
    return Tally(match.start(), match.end(), ayes or 0, noes or 0, abstentions, absent)


def _counted(match: Match) -> Tally:
    ayes, noes, abstentions = (number(group) for group in match.groups())
    return Tally(match.start(), match.end(), ayes or 0, noes or 0, abstentions)
