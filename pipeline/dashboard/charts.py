"""Where the lines of a chart go: plain geometry, drawn as SVG by the templates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.reports.dashboard import Hour
from pipeline.reports.steps import StageFigures, Timing

# The hour chart is drawn in these units and scaled by the browser.
WIDTH, HEIGHT, LEFT, BOTTOM = 640, 200, 44, 24
RING = 2 * math.pi * 42


@dataclass(frozen=True)
class Bar:
    x: float
    width: float
    done_y: float
    done_height: float
    failed_y: float
    failed_height: float
    label: str
    words: str


@dataclass(frozen=True)
class Line:
    y: float
    label: str


@dataclass(frozen=True)
class HourChart:
    width: int
    height: int
    left: int
    base: int
    bars: list[Bar]
    lines: list[Line]
    words: str


def hour_chart(hours: Sequence[Hour]) -> HourChart:
    top = _round_up(max((hour.processed + hour.failed for hour in hours), default=0))
    room = HEIGHT - BOTTOM - 8
    step = (WIDTH - LEFT) / max(len(hours), 1)
    bars = [_bar(hour, LEFT + number * step, step, room / top) for number, hour in enumerate(hours)]
    lines = [Line(HEIGHT - BOTTOM - room * part, f"{top * part:,.0f}") for part in (0.5, 1.0)]
    processed, failed = sum(hour.processed for hour in hours), sum(hour.failed for hour in hours)
    words = f"{processed:,} jobs completed and {failed:,} failed in the last {len(hours)} hours"
    return HourChart(WIDTH, HEIGHT, LEFT, HEIGHT - BOTTOM, bars, lines, words)


def _bar(hour: Hour, x: float, step: float, scale: float) -> Bar:
    base = HEIGHT - BOTTOM
    done, failed = hour.processed * scale, hour.failed * scale
    words = f"{hour.at:%H:%M}: {hour.processed:,} completed, {hour.failed:,} failed"
    label = f"{hour.at:%H}" if hour.at.hour % 6 == 0 else ""
    return Bar(x + step * 0.15, step * 0.7, base - done, done, base - done - failed, failed, label, words)


def _round_up(value: float) -> float:
    """The next 1, 2 or 5 of its size, so that the lines have readable numbers; at least 2."""
    size = 10 ** math.floor(math.log10(max(value, 1)))
    return max(2.0, next(size * part for part in (1, 2, 5, 10) if size * part >= value))


@dataclass(frozen=True)
class Ring:
    """The score as an arc."""

    length: float
    gap: float
    words: str


def ring(score: float | None) -> Ring:
    share = (score or 0.0) / 100
    words = "no site yet" if score is None else f"{score:.1f} %" if score < 100 else "100 %"
    return Ring(RING * share, RING * (1 - share), words)


@dataclass(frozen=True)
class StageSpan:
    """From the median to the 95th percentile, on a scale on which each decade is as wide as the next."""

    stage: str
    timing: Timing
    x: float
    width: float


def spans(steps: Sequence[StageFigures]) -> list[StageSpan]:
    longest = max((step.stage_seconds.p95 or 0 for step in steps), default=0)
    decades = max(math.log10(max(longest, 10)), 1)

    def place(seconds: float) -> float:
        return 100 * math.log10(max(seconds, 1)) / decades

    found = []
    for step in steps:
        median, p95 = step.stage_seconds.median, step.stage_seconds.p95
        x = place(median) if median is not None else 0.0
        end = place(p95) if p95 is not None else 0.0
        found.append(
            StageSpan(step.stage, step.stage_seconds, x, max(end - x, 1.5) if median is not None else 0.0)
        )
    return found
