"""How a vote went: its numbers, and the names under each answer."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.work.extraction.patterns import Match, pattern
from pipeline.work.extraction.people import name_lists, names
from pipeline.work.extraction.people.surnames import Roll

AYE, NO, ABSTAIN, ABSENT = "aye", "no", "abstain", "absent"


@dataclass(frozen=True)
class Tally:
    start: int
    end: int
    ayes: int
    noes: int | None
    abstentions: int | None
    absent: int | None = None


@dataclass(frozen=True)
class Answer:
    """One answer and who gave it; `count` is what the text says their number is."""

    start: int
    end: int
    vote: str
    names: tuple[str, ...]
    count: int | None


def size(answer: Answer) -> int:
    return answer.count if answer.count is not None else len(answer.names)


WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
]
NUMBER = rf"(\d{{1,2}}|(?i:{'|'.join(WORDS)}))"
DASHED = pattern(
    rf"{NUMBER}\s?(?:-|–|—|to|TO|To)\s?{NUMBER}(?:\s?[-–—]\s?(\d{{1,2}}))?(?:\s?[-–—]\s?(\d{{1,2}}))?"
)
VOTE_BEFORE = pattern(
    r"(?i)(?:\b(?:vote|votes|voted|carried|carries|passed|passes|failed|fails|approved|adopted|defeated|unanimously|motion|accepted|amendment|tally|result)\b"
    r"[^.;\n\d]{0,40}|[(\[]\s*|[.;)]\s+)$"
)
NOT_A_TALLY = pattern(
    r"(?i)(?:[\d$#/.,A-Z]|no\.?\s*|number\s*|resolution\s*|ordinance\s*|items?\s*|pages?\s*|sections?\s*|lots?\s*)$"
)
COUNTED = pattern(
    rf"(?i)\b{NUMBER}\s+(?:ayes?|yeas?|yes(?: votes)?|in favor|for)\b\s*(?:,|and|;|-|to)*\s*"
    rf"{NUMBER}\s+(?:nays?|noes|no(?: votes)?|opposed|against)\b"
    rf"(?:\s*(?:,|and|;|with)*\s*{NUMBER}\s+(?:abstentions?|abstaining|abstained|abstain))?"
)
NUMBERED = pattern(
    rf"(?i)\b(?:ayes?|yeas?|yes|for)\s*[:=-]?\s*{NUMBER}\b\s*[,;.]?\s*(?:nays?|noes|no|against|opposed)\s*[:=-]?\s*{NUMBER}\b"
    rf"(?:\s*[,;.]?\s*(?:abstain\w*|abstentions?)\s*[:=-]?\s*{NUMBER}\b)?"
)


ONLY_AYES = pattern(rf"(?i)\b{NUMBER}\s+(?:ayes|yeas|yes votes)\b")


def number(text: str | None) -> int | None:
    if text is None:
        return None
    return int(text) if text.isdigit() else WORDS.index(text.lower())


def tallies(text: str) -> Iterator[Tally]:
    for match in DASHED.finditer(text):
        lead, tail = text[max(0, match.start() - 60) : match.start()], text[match.end() : match.end() + 2]
        if (
            VOTE_BEFORE.search(lead)
            and not NOT_A_TALLY.search(lead[-12:])
            and not tail[:1].isalnum()
            and not tail.startswith(("-", "–", "/", "%"))
        ):
            yield _tally(match)
    counted = [*COUNTED.finditer(text), *NUMBERED.finditer(text)]
    yield from map(_tally, counted)
    told = {match.start() for match in counted}
    for match in ONLY_AYES.finditer(text):
        if match.start() not in told:
            yield Tally(match.start(), match.end(), number(match.group(1)) or 0, None, None)


def _tally(match: Match) -> Tally:
    ayes, noes, *rest = (number(group) for group in match.groups())
    return Tally(match.start(), match.end(), ayes or 0, noes or 0, *rest)


# ---- Names under each answer --------------------------------------------------------------------------

ANSWER_LABEL = pattern(
    r"(?i)(?:^|[\s(.;])(ayes?|yeas?|yes|in favor|for|affirmative|nays?|noes|no|against|opposed|"
    r"negative|abstain(?:ed|ing|s)?|abstentions?|recused|"
    r"absent|excused|not voting)[ \t]*(?:\((\d{1,2})\))?[ \t]*[:;–—-][ \t]*"
)
KINDS = {
    AYE: ("aye", "ayes", "yea", "yeas", "yes", "in favor", "for", "affirmative"),
    NO: ("nay", "nays", "noes", "no", "against", "opposed", "negative"),
    ABSTAIN: ("abstain", "abstained", "abstaining", "abstains", "abstention", "abstentions", "recused"),
    ABSENT: ("absent", "excused", "not voting"),
}
KIND_OF = {word: kind for kind, words in KINDS.items() for word in words}
NONE = pattern(r"(?i)^\s*(?:none|0|zero|nil|n/a|-{1,3})\b")
LEADING_COUNT = pattern(r"^\s*\(?(\d{1,2})\)?(?:\s*[-–—:.]|\s*$|\s+)")
EACH = pattern(r"(?i)(?:,|:|\s*[-–—]|\s)\s*\(?(aye|yea|yes|nay|no|abstain(?:ed|s|ing)?|absent)\b")
VOTED = pattern(
    r"(?i)\s+(?:voted|voting|votes|was|were|all voted)?\s*\(?\b(aye|yea|yes|nay|no|in favor|against|opposed|"
    r"dissenting|dissented|abstaining|abstained|in opposition)\b"
)
ANSWERS = {"dissenting": NO, "dissented": NO, "in opposition": NO} | KIND_OF


def answers(text: str, roll: Roll) -> Iterator[Answer]:
    """Every answer; words inside a labelled list are read as part of that list only."""
    labelled = list(_labelled(text, roll))
    yield from labelled
    starts = [answer.start for answer in labelled]
    for answer in (*_each(text, roll), *_voted(text, roll)):
        index = bisect_right(starts, answer.start) - 1
        if index < 0 or answer.start >= labelled[index].end:
            yield answer


def _labelled(text: str, roll: Roll) -> Iterator[Answer]:
    """`AYES: Delgado, Okafor`, `Aye: 6 - Bell, Carvalho`, `Noes: None`."""
    for match in ANSWER_LABEL.finditer(text):
        if ";" in match.group() and not text[max(0, match.start(1) - 3) : match.start(1)].rstrip().endswith(
            "."
        ):
            continue  # `Mr. Amico, yes; Mr. Ruddy, no` is an answer of one
        vote = KIND_OF[" ".join(match.group(1).lower().split())]
        end = _answers_end(text, match.end())
        content = text[match.end() : end]
        found = [person.name for person in name_lists.listed(text, match.end(), end)]
        if ":" not in match.group() and not found and not NONE.search(content):
            continue
        leading = LEADING_COUNT.search(content)
        count = int(leading.group(1)) if leading else number(match.group(2))
        count = 0 if NONE.search(content) and not found else count
        if found or count is not None:
            yield Answer(match.start(1), end, vote, tuple(dict.fromkeys(map(roll.full, found))), count)


def _answers_end(text: str, start: int) -> int:
    """A list of voters ends with its sentence, at the next answer, or with its line."""
    window = text[start : start + 600]
    label = ANSWER_LABEL.search(window)
    stop = label.start() if label else len(window)
    position = 0
    for line in window.splitlines(keepends=True):
        for match in names.TOKEN.finditer(line):
            token = match.group()
            if position + match.start() >= stop:
                return start + stop
            if (
                (names.ends_sentence(token) and len(token) > 2)
                or token.endswith(";")
                or names.bare(token) == "motion"
            ):
                return (
                    start
                    + position
                    + match.start()
                    + (len(token) - 1 if names.bare(token) != "motion" else 0)
                )
        position += len(line)
        if not line.rstrip().endswith((",", " and", "&", ";")) and line.strip() and line.endswith("\n"):
            below = window[position : position + 80].split("\n")[0]
            if not below.startswith(" " * 8) or ":" in below:
                break
    return start + min(position, stop)


def _each(text: str, roll: Roll) -> Iterator[Answer]:
    """`Abbott-aye, Costello-aye`, `Mr. Amico, yes; Mr. Ruddy, no`, `Avila, Drummond, Greeley - aye`."""
    for match in EACH.finditer(text):
        tail = text[match.end() : match.end() + 1]
        name = names.before(text, match.start())
        if name and roll.knows(name.text) and not tail.isalpha() and tail != ":":
            people = [name.text, *_shared(text, name.start, roll)]
            vote = ANSWERS[match.group(1).lower()]
            yield Answer(name.start, match.end(), vote, tuple(map(roll.full, people)), None)


def _voted(text: str, roll: Roll) -> Iterator[Answer]:
    """`Lund and Stahl voted nay`, `with Mayor Delgado voting no`, `(Petrie opposed)`."""
    for match in VOTED.finditer(text):
        vote = ANSWERS.get(" ".join(match.group(1).lower().split()), AYE)
        name = names.before(text, match.start())
        if name and roll.knows(name.text):
            people = [name.text, *_shared(text, name.start, roll)]
            yield Answer(name.start, match.end(), vote, tuple(map(roll.full, people)), None)


JOINED = pattern(r"(?i)(?:,\s*and|,|\band|&)\s*(?:(?:council|board)?\s*(?:\p{L}+\.?)\s+)?$")


def _shared(text: str, position: int, roll: Roll) -> Iterator[str]:
    """The names before this one that share its answer: `Brandvold, Hersch and` Lund."""
    for _ in range(15):
        joined = JOINED.search(text[max(0, position - 40) : position])
        if not joined:
            return
        name = names.before(text, position - len(joined.group()))
        if name is None or not roll.knows(name.text):
            return
        yield name.text
        position = name.start
