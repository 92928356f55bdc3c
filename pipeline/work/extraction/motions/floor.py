"""One motion after another: which is before the meeting at each place, and which words belong to it."""

from bisect import bisect_right
from dataclasses import dataclass, field

from pipeline.work.extraction.motions.events import Event
from pipeline.work.extraction.motions.tallies import Tally
from pipeline.work.extraction.motions.votes import Answer
from pipeline.work.extraction.people.surnames import Roll

# How far after its last word a motion may still be spoken of.
REACH = 2_500


@dataclass
class Motion:
    start: int
    end: int
    rule: str = ""
    confidence: float = 1.0
    mover: str | None = None
    seconder: str | None = None
    result: str | None = None
    weak: bool = False
    tally: Tally | None = None
    answers: dict[str, Answer] = field(default_factory=dict)
    # What the reader should look at, such as a name that may be longer than the person's.
    doubts: list[str] = field(default_factory=list)
    amends: bool = False

    def reach(self, event: Event | Tally | Answer) -> None:
        self.end = max(self.end, event.end)


class Floor:
    """Which motion is before the meeting at each place of the text."""

    def __init__(self) -> None:
        self.motions: list[Motion] = []
        self._starts: list[int] = []
        self._held: list[Motion] = []

    def take(self, motion: Motion, start: int | None = None) -> None:
        if start is None:
            self.motions.append(motion)
        self._starts.append(motion.start if start is None else start)
        self._held.append(motion)

    def at(self, position: int, reach: int) -> Motion | None:
        index = bisect_right(self._starts, position) - 1
        near = index >= 0 and position - max(self._held[index].end, self._starts[index]) < reach
        return self._held[index] if near else None

    def go_back(self, position: int) -> None:
        """The meeting turns from an amendment to the motion it interrupted."""
        waiting = [motion for motion in self.motions[-4:] if motion.result is None and not motion.amends]
        if waiting and position - waiting[-1].start < 4000:
            self.take(waiting[-1], position)

    def settle(self, told: Motion) -> None:
        """Minutes that tell a motion and then list it in a table tell of one motion."""
        spoken = self._spoken(told)
        if spoken is None:
            self.take(told)
            return
        if told.seconder and spoken.seconder and not _same_person(told.seconder, spoken.seconder):
            spoken.doubts.append(f"seconded by {spoken.seconder}, in the table by {told.seconder}")
        spoken.mover, spoken.seconder = told.mover, spoken.seconder or told.seconder
        spoken.result, spoken.weak = told.result or spoken.result, False
        spoken.tally, spoken.answers = told.tally, told.answers
        if told.start - spoken.end < NEAR:
            spoken.end = told.end
        self.take(spoken, told.start)

    def _spoken(self, told: Motion) -> Motion | None:
        """The motion that the table is about: not voted on yet, and by the same people."""
        before = [
            motion
            for motion in reversed(self.motions[-8:])
            if motion.tally is None and not motion.answers and told.start - motion.end < AWAY
        ]
        same = [motion for motion in before if _same_person(motion.mover, told.mover)]
        agreed = [
            m for m in same if not (m.seconder and told.seconder) or _same_person(m.seconder, told.seconder)
        ]
        return next(iter([*agreed, *(motion for motion in same if motion.result is None)]), None)


# A table this near to the words of its motion is part of the same passage.
NEAR = 600
AWAY = 9_000


def _same_person(one: str | None, other: str | None) -> bool:
    """Whether a name and a surname may be one person's."""
    if not one or not other:
        return False
    ours, theirs = one.lower().split(), other.lower().split()
    return ours[-1] == theirs[-1] and (len(ours) == 1 or len(theirs) == 1 or ours[0][0] == theirs[0][0])


def grouped(events: list[Event], tables: list[Motion], roll: Roll) -> Floor:
    floor = Floor()
    waiting = tables[::-1]
    for position, event in enumerate(events):
        while waiting and waiting[-1].start <= event.start:
            floor.settle(waiting.pop())
        current = floor.at(event.start, REACH)
        if event.kind == "move":
            _move(floor, event, roll)
            if position and _told_before(events[position - 1], event):
                _end(floor.motions[-1], events[position - 1], weak=True)
        elif position + 1 < len(events) and _told_before(event, events[position + 1]):
            continue
        elif event.kind == "return":
            floor.go_back(event.start)
        elif current is not None:
            _continue(current, event, roll)
    for table in reversed(waiting):
        floor.settle(table)
    return floor


def _told_before(event: Event, move: Event) -> bool:
    """`Financials approved - B. Munro (motion), C. Dallas (second)`: the result stands before the names."""
    told = event.kind in ("result", "weak_result") and move.rule == "name_then_role"
    return told and move.start - event.end < 60


def _move(floor: Floor, event: Event, roll: Roll) -> None:
    mover = roll.full(event.value) if event.value else None
    motion = Motion(event.start, event.end, event.rule, event.confidence, mover=mover, amends=event.amends)
    motion.doubts += [event.doubt] if event.doubt else []
    floor.take(motion)


def _continue(current: Motion, event: Event, roll: Roll) -> None:
    since = event.start - current.end
    if event.kind == "second":
        _second(current, event, roll)
    elif event.kind == "adjourned":
        if current.result is None and since < 40:
            _end(current, event, weak=True)
    elif event.kind == "weak_result":
        if current.result is None and since < 700:
            _end(current, event, weak=True)
    elif current.result is None or (current.weak and since < 600):
        _end(current, event)


def _second(current: Motion, event: Event, roll: Roll) -> None:
    name = roll.full(event.value or "")
    waiting = current.result in (None, "passed")
    # Who is printed as both is kept, and flagged.
    other = name != current.mover or event.rule.startswith("seconded_by")
    if current.seconder is None and waiting and event.start - current.end < 1200 and other:
        current.seconder = name
        current.doubts += [event.doubt] if event.doubt else []
        current.reach(event)


def _end(motion: Motion, event: Event, *, weak: bool = False) -> None:
    motion.result, motion.weak = event.value, weak
    motion.confidence = min(motion.confidence, event.confidence)
    motion.reach(event)


def told_once(motions: list[Motion]) -> list[Motion]:
    """First to last; one that is told without an end, and then listed with the same two people, is one."""
    kept: list[Motion] = []
    for motion in sorted(motions, key=lambda motion: motion.start):
        last = kept[-1] if kept else None
        if last and _is_repeated(last, motion):
            motion.start = kept.pop().start
        kept.append(motion)
    return kept


def _is_repeated(first: Motion, again: Motion) -> bool:
    ended = first.result or first.tally or first.answers
    people = (first.mover, first.seconder) == (again.mover, again.seconder)
    listed = again.rule == "moved_by_label"
    return listed and not ended and people and bool(first.seconder) and again.start - first.end < NEAR
