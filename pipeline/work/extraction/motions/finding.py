"""Motions: the words of each brought together, with its votes."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.extraction.motions import events as motion_events
from pipeline.work.extraction.motions import outcomes, votes
from pipeline.work.extraction.motions.events import Event
from pipeline.work.extraction.motions.flags import flags_of
from pipeline.work.extraction.motions.floor import Floor, Motion, grouped, told_once
from pipeline.work.extraction.motions.headings import without_heading
from pipeline.work.extraction.motions.tables import Table, motion_of, tables
from pipeline.work.extraction.motions.tallies import Tally, tallies
from pipeline.work.extraction.motions.votes import ABSTAIN, AYE, NO, Answer, size
from pipeline.work.extraction.people.surnames import Roll

SAME_PLACE = 12
# The answers of one vote stand together.
SAME_VOTE = 150
SAME_BREATH = 60
NO_VOTE = ("no_second", "withdrawn")
LINE_ENDS = str.maketrans("\r\n", "  ")


def find(paged: PagedText, context: MeetingContext, people: Iterable[Fact]) -> list[Fact]:
    members = [fact for fact in people if fact.values["role"] == "member"]
    roll = Roll([fact.values["name"] for fact in members])
    told = list(tables(paged.text))
    text = _without(told, paged.text)
    # Lines run on, paragraphs do not: nobody's name begins in one and ends in the next.
    flat = text.replace("\n\n", "; ").translate(LINE_ENDS)
    floor = grouped(_events(text, flat, roll), [motion_of(table, roll) for table in told], roll)
    _add_votes(floor, text, flat, roll)
    return [_fact(motion, members) for motion in told_once(floor.motions)]


def _without(told: list[Table], text: str) -> str:
    """The text with its tables blank: what they say is not said again."""
    pieces, position = [], 0
    for table in told:
        pieces += [text[position : table.start], " " * (table.end - table.start)]
        position = table.end
    return "".join([*pieces, text[position:]])


def _events(text: str, flat: str, roll: Roll) -> list[Event]:
    """Every word of a motion, first to last; of two readings of the same words the surer one."""
    found = [
        *motion_events.moves(flat, roll),
        *motion_events.pairs(flat, roll),
        *motion_events.seconds(flat, roll),
        *outcomes.results(text),
    ]
    found = [without_heading(event, text, roll) for event in found]
    kept: list[Event] = []
    for event in sorted(found, key=lambda event: (event.start, -event.confidence)):
        if not any(_same(event, other) for other in kept[-4:]):
            kept.append(event)
    return kept


def _same(event: Event, other: Event) -> bool:
    if event.kind != other.kind or event.kind in ("result", "weak_result"):
        return False
    return event.start < other.end + SAME_PLACE and (event.value == other.value or event.start < other.end)


def _add_votes(floor: Floor, text: str, flat: str, roll: Roll) -> None:
    told = sorted(tallies(flat), key=lambda tally: tally.start)
    for tally in told:
        motion = floor.at(tally.start, reach=400)
        if motion and motion.tally is None and motion.result not in NO_VOTE:
            motion.tally = tally
            motion.reach(tally)
    for answer in sorted(votes.answers(text, roll, told), key=lambda answer: answer.start):
        motion = floor.at(answer.start, reach=500)
        if motion and motion.result not in NO_VOTE and (answer.listed or _is_told(motion, answer)):
            _add_answer(motion, answer)
    for motion in floor.motions:
        _conclude(motion)


def _is_told(motion: Motion, answer: Answer) -> bool:
    """What a sentence says long after the motion was decided may be of another vote."""
    return motion.result is None or answer.start - motion.end < SAME_BREATH


def _add_answer(motion: Motion, answer: Answer) -> None:
    known = motion.answers.get(answer.vote)
    if known and answer.start - max(each.end for each in motion.answers.values()) > SAME_VOTE:
        return  # another vote, whose motion was not found
    if known:
        named = tuple(dict.fromkeys(known.names + answer.names))
        count = known.count if known.count is not None else answer.count
        listed = known.listed or answer.listed
        answer = replace(answer, start=known.start, names=named, count=count, listed=listed)
    motion.answers[answer.vote] = answer
    motion.reach(answer)


def _conclude(motion: Motion) -> None:
    """Where the minutes give names and no numbers, count; where they give numbers and no word, compare."""
    sizes = {vote: size(answer) for vote, answer in motion.answers.items()}
    ayes = motion.answers.get(AYE)
    if motion.tally is None and ayes and (ayes.names or ayes.count is not None):
        motion.tally = Tally(ayes.start, ayes.end, sizes[AYE], sizes.get(NO, 0), sizes.get(ABSTAIN))
    elif motion.tally:
        noes = sizes.get(NO, 0) if motion.tally.noes is None else motion.tally.noes
        abstentions = sizes.get(ABSTAIN) if motion.tally.abstentions is None else motion.tally.abstentions
        motion.tally = replace(motion.tally, noes=noes, abstentions=abstentions)
    if motion.result is None and motion.tally:
        motion.result = "passed" if motion.tally.ayes > (motion.tally.noes or 0) else "failed"
        motion.confidence = min(motion.confidence, 0.8)


def _fact(motion: Motion, members: list[Fact]) -> Fact:
    named = {vote: list(answer.names) for vote, answer in motion.answers.items() if answer.names}
    tally = motion.tally
    values: dict[str, Any] = {
        "mover": motion.mover,
        "seconder": motion.seconder,
        "result": motion.result,
        "ayes": tally.ayes if tally else None,
        "noes": tally.noes if tally else None,
        "abstentions": tally.abstentions if tally else None,
        "absent": tally.absent if tally else None,
        "votes": named,
    }
    flags = tuple(flags_of(motion, named, members))
    confidence = round(motion.confidence * (0.7 if flags else 1), 2)
    return Fact("motion", motion.start, motion.end, motion.rule, confidence, values, flags)
