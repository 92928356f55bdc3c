"""Votes told as a table: RESULT, MOVER, SECONDER, AYES, beside their values or in a stack above them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pipeline.work.extraction.motions.floor import Motion
from pipeline.work.extraction.motions.outcomes import labelled_result
from pipeline.work.extraction.motions.tallies import Tally, tallies
from pipeline.work.extraction.motions.votes import ABSENT, ABSTAIN, AYE, KIND_OF, NO, Answer, people_of
from pipeline.work.extraction.patterns import Match, pattern
from pipeline.work.extraction.people import name_lists, names
from pipeline.work.extraction.people.surnames import Roll

LABEL = pattern(
    r"(?m)(?:(?:^|[ \t])(?i:(result|mover|moved by|seconder|seconded by|ayes?|yeas?|nays?|noes|"
    r"abstain(?:ed)?|abstentions?|recused|absent|excused))[ \t]*:|"
    r"^[ \t]*(RESULT|MOVER|SECONDER|AYES|NAYS|NOES|ABSTAIN|ABSENT)[ \t]*$|"
    r"^[ \t]*(?i:(motion by|motion made by|second|second by))[ \t]*:)[ \t]*"
)
SAME = {"moved by": "mover", "motion by": "mover", "motion made by": "mover"} | dict.fromkeys(
    ("seconded by", "second", "second by"), "seconder"
)
# A value is this near to its label, and this long.
REACH = 350
LINES = 12
OUTCOME = pattern(
    r"(?i)^\s*(?:motion |item |vote )?"
    r"(?:adopted|approved|passed|carried|accepted|failed|defeated|denied|tabled|referred|unanimous|"
    r"withdrawn|continued|lost|died|none)\b"
)
PLACE = pattern(r"(?i)^(?:district|ward|seat|place|position|at-large|division|area|zone|[a-z]|\d{1,2})$")


@dataclass
class Table:
    start: int
    end: int
    values: dict[str, list[str]] = field(default_factory=dict)

    def text(self, label: str) -> str:
        return " ".join(self.values.get(label, ()))


def tables(text: str) -> Iterator[Table]:
    words = text.lower()
    if "result" not in words and "mover" not in words:
        return
    for labels in _blocks(text):
        kinds = [kind for kind, _ in labels]
        if "mover" in kinds and len(kinds) > 1 and ("result" in kinds or "seconder" in kinds):
            table = _read(text, labels)
            if table.values.get("mover"):
                yield table


Labels = list[tuple[str, Match]]


def _blocks(text: str) -> Iterator[Labels]:
    """Labels that follow one another, none of them twice."""
    block: Labels = []
    for match in LABEL.finditer(text):
        word = " ".join((match.group(1) or match.group(2) or match.group(3)).lower().split())
        kind = SAME.get(word) or KIND_OF.get(word, word)
        apart = bool(block) and match.start() - block[-1][1].end() > REACH
        if apart or kind == "result" or kind in [known for known, _ in block]:
            yield block
            block = []
        if block or word in ("result", "mover"):
            block.append((kind, match))
    yield block


def _read(text: str, labels: Labels) -> Table:
    """Give each label its lines; labels without any wait for those that come after the next ones."""
    table = Table(labels[0][1].start(), labels[-1][1].end())
    waiting: list[str] = []
    for number, (kind, match) in enumerate(labels):
        last = number + 1 == len(labels)
        end = match.end() + REACH if last else labels[number + 1][1].start()
        lines, length = _value_lines(text[match.end() : end])
        waiting.append(kind)
        if lines:
            open_kind = labels[number - 1][0] if number and _is_open(table, labels[number - 1][0]) else None
            if open_kind and len(lines) > len(waiting):
                table.values[open_kind].append(lines.pop(0))
            _give(table, waiting, lines)
            table.end = max(table.end, match.end() + length)
    return table


def _is_open(table: Table, kind: str) -> bool:
    return table.text(kind).rstrip().endswith(",")


def _give(table: Table, waiting: list[str], lines: list[str]) -> None:
    while waiting and lines:
        table.values[waiting.pop(0)] = [lines.pop(0)]
        last = list(table.values)[-1]
    if lines:
        table.values[last] += lines


def _value_lines(chunk: str) -> tuple[list[str], int]:
    """The lines that can be values, a list that is broken over two of them as one; and where they end."""
    found: list[str] = []
    position = end = 0
    for line in chunk.splitlines(keepends=True)[:LINES]:
        beside = position == 0
        position += len(line)
        if not line.strip():
            continue
        if not (beside or _is_value(line)):
            break
        if found and found[-1].endswith((",", " and")):
            found[-1] += f" {line.strip()}"
        else:
            found.append(line.strip())
        end = position
    return found, end


def _is_value(line: str) -> bool:
    if len(line) > 140 or "\f" in line:
        return False
    words = line.strip().rstrip(".;").split()
    people = all(
        name_lists.belongs(word) or PLACE.match(names.bare(word)) or word in ("and", "&") for word in words
    )
    return (people and any(map(names.is_name_token, words))) or (len(words) < 9 and bool(OUTCOME.match(line)))


def motion_of(table: Table, roll: Roll) -> Motion:
    result = table.text("result")
    mover, seconder = (_person(table.text(kind), roll) for kind in ("mover", "seconder"))
    told = next(iter(tallies(result)), None)
    motion = Motion(table.start, table.end, "result_label", 0.97, mover=mover, seconder=seconder)
    motion.result = labelled_result(result) if result else None
    motion.tally = replace(told, start=table.start, end=table.end) if told else None
    _add_leftovers(table, motion.tally)
    for vote in (AYE, NO, ABSTAIN, ABSENT):
        if vote in table.values:
            people = people_of(table.text(vote), roll)
            motion.answers[vote] = Answer(
                table.start, table.end, vote, people, None if people else 0, listed=True
            )
    return motion


def _person(value: str, roll: Roll) -> str | None:
    name = names.after(value, 0)
    return roll.full(name.text) if name else None


def _add_leftovers(table: Table, tally: Tally | None) -> None:
    """Where the noes have more lines than names were counted, the last lines are the abstentions'."""
    lines = table.values.get(NO, [])
    if tally and tally.abstentions and ABSTAIN not in table.values and len(lines) > 1:
        kept, rest = [lines[0]], lines[1:]
        while rest and sum(len(line.split(",")) for line in kept) < (tally.noes or 0):
            kept.append(rest.pop(0))
        table.values[NO], table.values[ABSTAIN] = kept, rest
