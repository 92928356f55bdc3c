"""The order in which a page's words are read: the file's, unless the places of the words contradict it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median
from typing import NamedTuple

from pipeline.work.ocr.model import SCALE, Word

# In heights of a line: a gap this wide parts two cells or columns, one this high two blocks.
CELL_GAP = 1.5
BLOCK_GAP = 0.8
# Columns of prose: as many lines on both sides, as many words in most of them, as much of the column's width
# filled, as close together.
COLUMN_LINES = 4
PROSE_WORDS = 3
FILLED = 0.75
PITCH, SPARSE = 1.9, 3.0
# The share of lines that may run across the gap between two columns, and the share that may stand beside a
# line of the other column by chance.
ACROSS = 0.25
BESIDE = 0.7
# Lines whose middles are so near are in one row.
NEAR = 0.3
BINS = 200
# What nobody made for reading is not worth the time.
MAX_PIECES, MAX_DEPTH = 6000, 40


class Piece(NamedTuple):
    """A word, or a half of one, and what follows it in the file: a space, a line end, or its other half."""

    word: Word
    ending: str


@dataclass(frozen=True)
class Run:
    """Words beside each other without a wide gap, `start` to `stop` of the file's order."""

    start: int
    stop: int
    left: int
    top: int
    right: int
    bottom: int

    @property
    def is_on_page(self) -> bool:
        """Boxes end at the page's edges: what lies beyond them has none."""
        return self.right > self.left and self.bottom > self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> int:
        return max(self.bottom - self.top, 1)


Group = list[Run]


def reordered(pieces: Sequence[Piece], aspect: float) -> list[Piece] | None:
    """The pieces in the order a reader takes them; None where the file has it already.

    `aspect` is the page's height in its widths: boxes are measured in shares of both.
    """
    if not 1 < len(pieces) <= MAX_PIECES or _is_plain(pieces, aspect):
        return None
    everything = list(_runs(pieces, aspect))
    runs = [run for run in everything if run.is_on_page]
    columns = _columns(runs)
    found = contradictions(runs)
    if not found and not columns:
        return None
    ordered = list(_in_order(runs))
    if contradictions(ordered) + _switches(ordered, columns) >= found + _switches(runs, columns):
        return None
    return list(_pieces_of(ordered + [run for run in everything if not run.is_on_page], pieces))


def _is_plain(pieces: Sequence[Piece], aspect: float) -> bool:
    """A quick look at every page: it never steps up but to the right, nor across a wide gap in many lines."""
    gaps = 0
    for (one, _), (other, _) in pairwise(pieces):
        if other[1] < one[3]:
            if other[2] + other[4] < 2 * one[2]:
                return False
        elif other[1] - one[3] > CELL_GAP * (one[4] - one[2]) * aspect:
            gaps += 1
    return gaps < COLUMN_LINES


def _runs(pieces: Sequence[Piece], aspect: float) -> Iterator[Run]:
    start = 0
    for at in range(1, len(pieces) + 1):
        if at == len(pieces) or _parts(pieces[at - 1], pieces[at], aspect):
            boxes = [piece.word for piece in pieces[start:at]]
            yield Run(
                start,
                at,
                min(box[1] for box in boxes),
                min(box[2] for box in boxes),
                max(box[3] for box in boxes),
                max(box[4] for box in boxes),
            )
            start = at


def _parts(one: Piece, other: Piece, aspect: float) -> bool:
    if one.ending != " ":
        return True
    _, left, top, right, bottom, _ = one.word
    _, next_left, next_top, _, next_bottom, _ = other.word
    height = max(bottom - top, 1)
    beside = min(bottom, next_bottom) - max(top, next_top) > min(height, next_bottom - next_top) / 2
    return not beside or next_left < left or next_left - right > CELL_GAP * height * aspect


def contradictions(runs: Iterable[Run]) -> int:
    """Steps up the page that do not lead to the right: no reader takes them."""
    return sum(after.middle < before.top and after.left < before.right for before, after in pairwise(runs))


def _switches(runs: Sequence[Run], gutter: int | None) -> int:
    """How often the order goes from one column to the other."""
    if gutter is None:
        return 0
    sides = [run.left >= gutter for run in runs if run.right <= gutter or run.left >= gutter]
    return sum(one != other for one, other in pairwise(sides))


def _in_order(runs: Group, depth: int = 0) -> Iterator[Run]:
    """Columns first, then what stands above, then what stands left; the file decides the rest."""
    parts = _parted(runs) if len(runs) > 1 and depth < MAX_DEPTH else [runs]
    for part in parts:
        if len(part) == len(runs):
            yield from part
        else:
            yield from _in_order(part, depth + 1)


def _parted(runs: Group) -> list[Group]:
    gutter = _columns(runs)
    if gutter is not None:
        return _by_column(runs, gutter)
    blocks = _blocks(runs)
    for low, high in (("top", "bottom"), ("left", "right")):
        parts = _cut(blocks, low, high)
        if len(parts) > 1:
            return parts
    return [runs]


def _blocks(runs: Group) -> list[Group]:
    """What the file writes line under line belongs together."""
    blocks = [[runs[0]]]
    rows = sorted((run.middle, run.start, run) for run in runs)
    for before, run in pairwise(runs):
        if _is_under(before, run) and not _is_torn(run, rows):
            blocks[-1].append(run)
        else:
            blocks.append([run])
    return blocks


def _is_under(before: Run, run: Run) -> bool:
    shared = min(before.right, run.right) - max(before.left, run.left)
    close = -0.3 * run.height < run.top - before.bottom < BLOCK_GAP * run.height
    return close and shared > min(before.right - before.left, run.right - run.left) / 2


def _is_torn(run: Run, rows: list[tuple[float, int, Run]]) -> bool:
    """Does the file write the row of this run from right to left, as a label after its names?"""
    first = bisect_left(rows, (run.middle - NEAR * run.height,))
    last = bisect_right(rows, (run.middle + NEAR * run.height,))
    return any(
        (start > run.start and other.right <= run.left) or (start < run.start and other.left >= run.right)
        for _, start, other in rows[first:last]
    )


def _cut(blocks: list[Group], low: str, high: str) -> list[Group]:
    """Groups of blocks with nothing but paper between them, in one direction."""
    extents = sorted(
        (
            (min(getattr(run, low) for run in block), max(getattr(run, high) for run in block), at)
            for at, block in enumerate(blocks)
        )
    )
    parts: list[list[int]] = []
    reach = -1
    for begins, ends, at in extents:
        # Loose boxes of neighbouring lines overlap a little.
        if not parts or begins < reach - (ends - begins) * 0.3:
            parts = parts or [[]]
            parts[-1].append(at)
        else:
            parts.append([at])
        reach = max(reach, ends)
    return [[run for at in sorted(part) for run in blocks[at]] for part in parts]


def _columns(runs: Sequence[Run]) -> int | None:
    """Where the gap between two columns of prose is, if there are two."""
    if len(runs) < 2 * COLUMN_LINES:
        return None
    gutter = _gap(runs)
    if gutter is None:
        return None
    left = [run for run in runs if run.right <= gutter]
    right = [run for run in runs if run.left >= gutter]
    if min(len(left), len(right)) < COLUMN_LINES:
        return None
    apart = _beside(left, right) < BESIDE and _beside(right, left) < BESIDE
    dense = max(_pitch(left), _pitch(right)) < SPARSE
    return gutter if (apart and dense) or (_is_prose(left) and _is_prose(right)) else None


def _gap(runs: Sequence[Run]) -> int | None:
    """The middle of the widest stretch that the fewest lines run across, if they are few."""
    crossing = _crossing(runs)
    first = min(run.left for run in runs) * BINS // SCALE
    last = max(run.right for run in runs) * BINS // SCALE
    inner = range(first + (last - first) // 8 + 1, last - (last - first) // 8)
    least = min((crossing[at] for at in inner), default=len(runs))
    if least > ACROSS * len(runs):
        return None
    best, begins = (0, 0), None
    for at in inner:
        begins = (at if begins is None else begins) if crossing[at] == least else None
        if begins is not None:
            best = max(best, (at - begins + 1, (at + begins + 1) * SCALE // BINS // 2))
    return best[1]


def _crossing(runs: Sequence[Run]) -> list[int]:
    """How many runs each stretch of the page's width has on it."""
    changes = [0] * (BINS + 2)
    for run in runs:
        changes[run.left * BINS // SCALE] += 1
        changes[run.right * BINS // SCALE + 1] -= 1
    return list(accumulate(changes))


def _beside(runs: Sequence[Run], others: Sequence[Run]) -> float:
    """The share of runs that stand in a row with one of the others."""
    middles = sorted(other.middle for other in others)
    rows = sum(
        bisect_left(middles, run.middle - NEAR * run.height)
        < bisect_right(middles, run.middle + NEAR * run.height)
        for run in runs
    )
    return rows / len(runs)


def _is_prose(runs: Sequence[Run]) -> bool:
    """Lines that fill their column, one close under the other; a table's cells do not."""
    wide = max(run.right for run in runs) - min(run.left for run in runs)
    filled = median(run.right - run.left for run in runs) > FILLED * wide
    return filled and median(run.stop - run.start for run in runs) >= PROSE_WORDS and _pitch(runs) < PITCH


def _pitch(runs: Sequence[Run]) -> float:
    """From one line to the next, in heights of a line."""
    middles = sorted(run.middle for run in runs)
    return median(after - before for before, after in pairwise(middles)) / median(run.height for run in runs)


def _by_column(runs: Group, gutter: int) -> list[Group]:
    """Between two lines that run across, the left column comes before the right one."""
    across = sorted((run for run in runs if run.left < gutter < run.right), key=lambda run: run.middle)
    parts: list[Group] = []
    above = -1.0
    for line in [*across, None]:
        below = line.middle if line else float("inf")
        band = [run for run in runs if above <= run.middle < below]
        parts += [[run for run in band if run.right <= gutter], [run for run in band if run.left >= gutter]]
        parts += [[line]] if line else []
        above = below
    return [part for part in parts if part]


def _pieces_of(runs: Sequence[Run], pieces: Sequence[Piece]) -> Iterator[Piece]:
    for run, after in [*pairwise(runs), (runs[-1], None)]:
        *inner, last = pieces[run.start : run.stop]
        yield from inner
        yield Piece(last.word, last.ending if after and after.start == run.stop else _ending(run, after))


def _ending(run: Run, after: Run | None) -> str:
    """A space where the next run stands in the same row, to the right."""
    if after is None:
        return "\n"
    shared = min(run.bottom, after.bottom) - max(run.top, after.top)
    return " " if after.left > run.left and shared > min(run.height, after.height) / 2 else "\n"
