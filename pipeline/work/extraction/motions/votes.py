"""How each member voted: the names under each answer."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.work.extraction.motions import voters
from pipeline.work.extraction.motions.tallies import ADVISORY, NUMBER, Tally, number
from pipeline.work.extraction.patterns import Match, pattern
from pipeline.work.extraction.people import name_lists, names
from pipeline.work.extraction.people.surnames import Roll

AYE, NO, ABSTAIN, ABSENT = "aye", "no", "abstain", "absent"


@dataclass(frozen=True)
class Answer:
    """One answer and who gave it; `count` is the number that the text gives; `listed`: it names them all."""

    start: int
    end: int
    vote: str
    names: tuple[str, ...]
    count: int | None
    listed: bool = False
    # With a dash or a colon between name and answer.
    marked: bool = False


def size(answer: Answer) -> int:
    return answer.count if answer.count is not None else len(answer.names)


KINDS = {
    AYE: ("aye", "ayes", "yea", "yeas", "yes", "in favor", "for", "affirmative"),
    NO: ("nay", "nays", "noes", "no", "against", "opposed", "negative"),
    ABSTAIN: ("abstain", "abstained", "abstaining", "abstains", "abstention", "abstentions", "recused"),
    ABSENT: (
        "absent",
        "excused",
        "not voting",
        "not present",
        "not present at vote",
        "not present at the vote",
    ),
}
KIND_OF = {word: kind for kind, words in KINDS.items() for word in words}
# These words lead other lists, too: who spoke in favor, what a permit is for.
WEAK = frozenset(("in favor", "for", "affirmative", "against", "opposed", "negative"))
OF_A_VOTE = pattern(r"(?i)\b(?:vote|voted|voting|roll call|motion|seconded|carried|passed|failed)\b")
NONE = pattern(r"(?i)^\s*(?:none|0|zero|nil|n/a|-{1,3})\b")
EACH = pattern(
    r"(?i)(?:,|:|\s*[-–—~=]+|\.{2,}|\s)\s*[(\"“]?(aye|yea|yes|nay|no|abstain(?:ed|s|ing)?|absent)\b"
)
VOTED = pattern(
    r"(?i)\s(?:(?:all voted|voted|voting|votes|was|were)\s{1,3})?[(\"“]?(aye|yea|yes|nay|no|in favor|against|"
    r"opposed|dissenting|dissented|abstaining|abstained|in opposition|in the negative)\b"
)
VERBLESS = pattern(r"(?i)^\s+[(\"“]?(?:aye|yea|yes|nay|no|in favor|against)$")
ANSWERS = {"dissenting": NO, "dissented": NO, "in opposition": NO, "in the negative": NO} | KIND_OF
COUNTED_NAMES = pattern(
    rf"(?i)\b(?:{NUMBER}\s+)?(ayes?|yeas?|yes|in favor|nays?|noes|no|against|opposed|abstentions?|abstaining|"
    r"abstained|absent)\s*[:–-]?\s*\("
)
# After an answer a sentence or a list goes on; after `Ms. Fox no longer`, something else was meant.
ANSWERED = pattern(r"^[\"”)]?(?:\s*[,;.)\]/|]|\s*$|\s*\n|\s+\p{Lu}|\s+(?i:and)\b)")
# So many answers one after another are a roll call, whether or not a roll was read.
ROLL_CALL = 3
NEXT_TO = 30


def answers(text: str, roll: Roll, told: Iterable[Tally]) -> Iterator[Answer]:
    """Every answer; words inside a labelled list are read as part of that list only."""
    listed = sorted((*_labelled(text, roll), *_in_brackets(text, roll)), key=lambda answer: answer.start)
    yield from listed
    starts = [answer.start for answer in listed]
    for answer in (*_each(text, roll), *_voted(text, roll), *_against(text, roll, told)):
        index = bisect_right(starts, answer.start) - 1
        if index < 0 or answer.start >= listed[index].end:
            yield answer


def _labelled(text: str, roll: Roll) -> Iterator[Answer]:
    """`AYES: Delgado, Okafor`, `[Aye: 6 - Bell, Carvalho`, `**Noes:** None`; or the names above the label."""
    claimed, labels = 0, voters.labels(text)
    for match, following in zip(labels, [*labels[1:], None], strict=False):
        if match.start() < claimed or _is_aside(text, match):
            continue
        room = voters.Stretch(claimed, following.start() if following else len(text))
        answer = _answer(text, match, roll, room)
        if answer is not None:
            claimed = answer.end
            yield answer


def _is_aside(text: str, match: Match) -> bool:
    lead = text[max(0, match.start() - 80) : match.start()]
    if ADVISORY.search(lead):
        return True
    # `Mr. Amico, yes; Mr. Ruddy, no` is an answer of one.
    return ";" in match.group() and match.group(2) is None and not lead[-3:].rstrip().endswith(".")


def _answer(text: str, match: Match, roll: Roll, room: voters.Stretch) -> Answer | None:
    """The answer at a label; its names stand in the room between the answers before and after it."""
    word = " ".join(match.group(1).lower().split())
    told = number(match.group(2))
    if ";" in match.group() and told is not None:  # `No (0); Abstain (1): Allen`
        return Answer(match.start(), match.end(), KIND_OF[word], (), told, listed=True)
    span = _span(text, match, room)
    found = _people(text, span, roll)
    sure = ":" in match.group() and word not in WEAK
    if found and not sure and not _is_vote(text, match.start(), found, roll):
        return None
    count = told if told is not None else _leading_count(text[match.end() : span.end])
    if not found and (count is None or ":" not in match.group()):
        return None
    start, end = min(match.start(), span.start), max(span.end, match.end())
    return Answer(start, end, KIND_OF[word], found, count, listed=True)


def _leading_count(content: str) -> int | None:
    """`6 - Bell, Carvalho`, `None`."""
    if NONE.search(content):
        return 0
    leading = voters.LEADING_COUNT.search(content)
    return int(leading.group(1)) if leading else None


def _span(text: str, match: Match, room: voters.Stretch) -> voters.Stretch:
    """Below or beside the label; above it where nothing follows it and those names are nobody else's."""
    forward = voters.after(text, match.end(), room.end)
    if voters.rest_of_line(text, match.end()).strip():
        return forward
    backward = voters.above(text, match.start(), room.start)
    if backward is None:
        return forward
    several = "," in text[backward.start : backward.end]
    below = name_lists.listed(text, forward.start, forward.end)
    return backward if several or (not below and backward.start - room.start < 3) else forward


def people_of(told: str, roll: Roll) -> tuple[str, ...]:
    """The voters of a list that stands by itself."""
    return _people(told, voters.Stretch(0, len(told)), roll)


def _people(text: str, span: voters.Stretch, roll: Roll) -> tuple[str, ...]:
    found: list[str] = []
    for person in name_lists.listed(text, span.start, span.end):
        found += _parted(person.name, roll)
    return tuple(dict.fromkeys(map(roll.full, found)))


def _parted(name: str, roll: Roll) -> list[str]:
    """`Folska Hoy`, where a comma was lost, are two of the roll."""
    words = name.split()
    two = len(words) > 1 and not roll.knows(name) and all(map(roll.has_surname, words))
    return words if two else [name]


def _is_vote(text: str, position: int, people: Iterable[str], roll: Roll) -> bool:
    """Who speaks in favor is no voter: the roll knows its own, and without one the text speaks of a vote."""
    if roll:
        return any(map(roll.knows, people))
    return bool(OF_A_VOTE.search(text[max(0, position - 250) : position]))


def _in_brackets(text: str, roll: Roll) -> Iterator[Answer]:
    """`4 ayes (Ruiz, Lee, Ng, Paz), 1 nay (Fox)`, `Ayes (Ruiz and Lee)`."""
    for match in COUNTED_NAMES.finditer(text):
        end = text.find(")", match.end(), match.end() + 400)
        found = _people(text, voters.Stretch(match.end(), max(end, match.end())), roll)
        count = number(match.group(1))
        if found and (count == len(found) or any(map(roll.knows, found))):
            kind = ANSWERS[" ".join(match.group(2).lower().split())]
            yield Answer(match.start(), end, kind, found, count, listed=True)


def _against(text: str, roll: Roll, told: Iterable[Tally]) -> Iterator[Answer]:
    """`carried 4-1 (Fox)`: as many names as votes against."""
    for tally in told:
        following = text[tally.end : tally.end + 120].lstrip()
        if following.startswith("(") and ")" in following:
            start = text.index("(", tally.end) + 1
            found = _people(text, voters.Stretch(start, text.index(")", start)), roll)
            if found and len(found) == tally.noes and all(map(roll.knows, found)):
                yield Answer(start, text.index(")", start), NO, found, None)


def _each(text: str, roll: Roll) -> Iterator[Answer]:
    """`Abbott-aye, Costello-aye`, `Mr. Amico, yes; Mr. Ruddy, no`, `Avila, Drummond, Greeley - aye`."""
    run: list[Answer] = []
    for match in EACH.finditer(text):
        name = names.before(text, match.start())
        if name is None or not ANSWERED.match(text[match.end() : match.end() + 12]):
            continue
        if run and name.start - run[-1].end > NEXT_TO:
            yield from _believed(run, roll)
            run = []
        people = tuple(map(roll.full, [name.text, *_shared(text, name.start, roll)]))
        marked = match.group()[:1] not in ", \n"
        vote = ANSWERS[match.group(1).lower()]
        run.append(Answer(name.start, match.end(), vote, people, None, marked=marked))
    yield from _believed(run, roll)


def _believed(run: list[Answer], roll: Roll) -> Iterator[Answer]:
    """`Fox - no` may stand alone; `Mr. Fox, no` is a word in a talk until others answer as well."""
    called = len({answer.names[0] for answer in run}) >= ROLL_CALL
    talk = len({name for answer in run for name in answer.names}) == 1 and not run[0].marked
    yield from (answer for answer in run if called or (roll.knows(answer.names[0]) and not talk))


def _voted(text: str, roll: Roll) -> Iterator[Answer]:
    """`Lund and Stahl voted nay`, `with Mayor Delgado voting no`, `(Petrie opposed)`."""
    for match in VOTED.finditer(text):
        vote = ANSWERS.get(" ".join(match.group(1).lower().split()), AYE)
        name = names.before(text, match.start())
        said = not VERBLESS.match(match.group()) or ANSWERED.match(text[match.end() : match.end() + 12])
        if name and said and (roll.knows(name.text) or (name.titled and not roll)):
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
