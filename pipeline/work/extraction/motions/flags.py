"""What does not add up in a vote is said, not hidden."""

from collections import Counter
from collections.abc import Iterator

from pipeline.work.extraction.facts import Fact
from pipeline.work.extraction.motions.floor import Motion
from pipeline.work.extraction.motions.tallies import Tally
from pipeline.work.extraction.motions.votes import ABSENT, ABSTAIN, AYE, NO, Answer, size

# Fewer than these are not all who can vote.
FEWEST = 3


def flags_of(motion: Motion, named: dict[str, list[str]], members: list[Fact]) -> Iterator[str]:
    """What does not add up is said, not hidden."""
    yield from motion.doubts
    for answer in motion.answers.values():
        yield from _answer_flags(answer)
    if motion.tally:
        yield from _tally_flags(motion, motion.tally, len(members))
    everyone = [name for vote, people in named.items() if vote != ABSENT for name in people]
    twice = {name for name, times in Counter(everyone).items() if times > 1}
    if twice:
        yield f"voted twice: {', '.join(sorted(twice))}"
    away = {fact.values["name"] for fact in members if fact.values["presence"] in ("absent", "excused")}
    if away & set(everyone):
        yield f"voted while absent: {', '.join(sorted(away & set(everyone)))}"
    if motion.mover and motion.mover == motion.seconder:
        yield "moved and seconded by the same person"


def _answer_flags(answer: Answer) -> Iterator[str]:
    if answer.names and answer.count is not None and answer.count != len(answer.names):
        yield f"{answer.vote}: {len(answer.names)} named, {answer.count} counted"


def _tally_flags(motion: Motion, tally: Tally, members: int) -> Iterator[str]:
    noes, abstentions = tally.noes or 0, tally.abstentions or 0
    for vote, count in ((AYE, tally.ayes), (NO, noes), (ABSTAIN, abstentions)):
        told = motion.answers.get(vote)
        # A sentence may name some of the dissenters; a list names them all, and so does who names the ayes.
        if told and (size(told) > count or (size(told) < count and (told.listed or vote == AYE))):
            yield f"{vote}: {size(told)} named, {count} counted"
    if members >= FEWEST and tally.ayes + noes + abstentions > members:
        yield f"{tally.ayes + noes + abstentions} votes, {members} members"
    if motion.result == "passed" and tally.ayes <= noes:
        yield f"passed with {tally.ayes} to {noes}"
    if motion.result == "failed" and tally.ayes > noes:
        yield f"failed with {tally.ayes} to {noes}"
