"""One motion after another: which is before the meeting at each place, and which words belong to it."""

from bisect import bisect_right
from dataclasses import dataclass, field, replace

from pipeline.work.extraction.motions.events import Event
from pipeline.work.extraction.motions.votes import Answer, Tally
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
        waiting = [motion for motion in self.motions[-4:] if motion.result is None]
        if waiting and position - waiting[0].start < 4000:
            self.take(waiting[0], position)


def grouped(events: list[Event], roll: Roll) -> Floor:
    floor = Floor()
    for position, event in enumerate(events):
        current = floor.at(event.start, REACH)
        if event.kind == "label_result" and _leads_a_block(events, position):
            floor.take(Motion(event.start, event.end, event.rule, event.confidence, result=event.value))
        elif event.kind == "move":
            _move(floor, current, event, roll)
            if position and _told_before(events[position - 1], event):
                _end(floor.motions[-1], events[position - 1], weak=True)
        elif position + 1 < len(events) and _told_before(event, events[position + 1]):
            continue
        elif event.kind == "return":
            floor.go_back(event.start)
        elif current is not None:
            _continue(current, event, roll)
    return floor


def _told_before(event: Event, move: Event) -> bool:
    """`Financials approved - B. Munro (motion), C. Dallas (second)`: the result stands before the names."""
    told = event.kind in ("result", "weak_result") and move.rule == "name_then_role"
    return told and move.start - event.end < 60


def _leads_a_block(events: list[Event], position: int) -> bool:
    """In a block of labels the result stands above the mover."""
    following = events[position + 1 : position + 4]
    return any(event.kind == "move" and event.start - events[position].end < 200 for event in following)


def _move(floor: Floor, current: Motion | None, event: Event, roll: Roll) -> None:
    mover = roll.full(event.value) if event.value else None
    if (
        current
        and current.rule == "result_label"
        and current.mover is None
        and event.start - current.start < 300
    ):
        current.mover = mover
        current.reach(event)
    else:
        floor.take(Motion(event.start, event.end, event.rule, event.confidence, mover=mover))


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
    waiting = current.result in (None, "passed") or current.rule == "result_label"
    if current.seconder is None and waiting and event.start - current.end < 1200 and name != current.mover:
        current.seconder = name
        current.reach(event)


def _end(motion: Motion, event: Event, *, weak: bool = False) -> None:
    motion.result, motion.weak = event.value, weak
    motion.confidence = min(motion.confidence, event.confidence)
    motion.reach(event)


def merged(motions: list[Motion]) -> list[Motion]:
    """Minutes that tell a motion and then list it tell of one motion."""
    kept: list[Motion] = []
    for motion in motions:
        last = kept[-1] if kept else None
        again = last and motion.rule == "result_label" and motion.start - last.end < 400
        if (
            last
            and again
            and last.rule != "result_label"
            and (last.mover, last.seconder) == (motion.mover, motion.seconder)
        ):
            kept[-1] = replace(motion, start=last.start)
        else:
            kept.append(motion)
    return kept
