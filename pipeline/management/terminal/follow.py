"""Watching runs until they end: bars on a terminal, a line for each change elsewhere."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from pipeline.management.terminal.screen import bar, grid, polite_stop
from pipeline.models import Run
from pipeline.queue import inspection
from pipeline.reports.standstill import explain
from pipeline.reports.wording import duration
from sites.models import Site
from sites.stages import WORK_STAGES, Progress, wave_of

SHOWN = 15
LOOK_SECONDS = 1.0
LOOKS, WAITING_SHOWN = 300, 3


@dataclass(frozen=True)
class Follow:
    """One run as it is now."""

    run: Run
    site: Site

    @property
    def ended(self) -> bool:
        return not self.run.is_running

    @property
    def progress(self) -> Progress:
        stages = wave_of(self.site.current_stage) if self.site.current_stage and not self.ended else ()
        parts = [self.site.progress(stage) for stage in stages]
        return Progress(
            sum(part.total for part in parts),
            sum(part.completed for part in parts),
            sum(part.failed for part in parts),
        )

    @property
    def done(self) -> int:
        """Jobs of this run that have ended, of every stage."""
        return sum(self.site.progress(stage).done for stage in WORK_STAGES)

    @property
    def words(self) -> str:
        if self.ended:
            return f"{self.run.status}: {self.run.message}" if self.run.message else self.run.status
        done = self.progress
        failed = f", {done.failed} failed" if done.failed else ""
        return f"{self.site.current_stage} {done.done}/{done.total}{failed}"


def progress_of(run_ids: Sequence[int]) -> list[Follow]:
    runs = Run.objects.filter(pk__in=run_ids).select_related("site").order_by("pk")
    return [Follow(run, run.site) for run in runs]


def follow(run_ids: Sequence[int], screen: Console | None) -> list[Follow]:
    """Until all have ended, or Ctrl-C; how they stand then. Without a screen it only waits."""
    with polite_stop():
        if screen is None:
            _until_ended(run_ids, lambda found: None)
        elif screen.is_terminal:
            _on_terminal(screen, run_ids)
        else:
            _in_lines(screen, run_ids)
    return progress_of(run_ids)


def _on_terminal(screen: Console, run_ids: Sequence[int]) -> None:
    pace = Pace()
    with Live(console=screen, auto_refresh=False) as live:
        _until_ended(run_ids, lambda found: live.update(picture(screen, found, pace), refresh=True))


@dataclass
class Pace:
    """How fast it goes: from the first look on, or, on long runs, over the last minutes."""

    looks: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=LOOKS))
    began: float = field(default_factory=time.monotonic)

    def look(self, found: Sequence[Follow]) -> str:
        """Elapsed, rate, and the time left in the stages that are open."""
        now, done = time.monotonic(), sum(one.done for one in found)
        self.looks.append((now, done))
        then, before = self.looks[0]
        rate = (done - before) / (now - then) if now > then else 0.0
        left = sum(one.progress.total - one.progress.done for one in found if not one.ended)
        parts = [f"{duration(now - self.began)} elapsed"]
        if rate > 0:
            parts.append(f"{60 * rate:,.0f} a minute" if rate < 10 else f"{rate:,.0f} a second")
            if left:
                parts.append(f"about {duration(left / rate)} left in the open stages")
        return ", ".join(parts)


def _in_lines(screen: Console, run_ids: Sequence[int]) -> None:
    last: dict[int, str] = {}

    def say(found: list[Follow]) -> None:
        for one in found:
            words = one.words if one.ended else str(one.site.current_stage)
            if last.get(one.run.pk) != words:
                last[one.run.pk] = words
                screen.file.write(f"{one.site.pk}: {words}\n")
        screen.file.flush()

    _until_ended(run_ids, say)


def _until_ended(run_ids: Sequence[int], show: Callable[[list[Follow]], object]) -> None:
    while True:
        found = progress_of(run_ids)
        show(found)
        if all(one.ended for one in found):
            return
        time.sleep(LOOK_SECONDS)


def picture(screen: Console, found: list[Follow], pace: Pace | None = None) -> RenderableType:
    ended = sum(one.ended for one in found)
    going = [one for one in found if not one.ended]
    # The bars leave room for the lines below them, on a small terminal too.
    room = min(SHOWN, max(3, screen.height - 8))
    shown = (going + [one for one in found if one.ended])[:room]
    table = grid({"no_wrap": True, "style": "bold"}, {}, {"overflow": "ellipsis", "no_wrap": True})
    for one in shown:
        done = one.progress
        share = 1.0 if one.ended else done.done / done.total if done.total else 0.0
        style = "red" if one.run.status == Run.Status.FAILED else "green"
        failed = done.failed / done.total if done.total else 0.0
        table.add_row(one.site.pk, bar(screen, share, failed=failed, style=style), one.words)
    parts: list[RenderableType] = [table]
    if len(found) > len(shown):
        parts.append(Text(f"… and {len(found) - len(shown)} more"))
    if pace is not None:
        parts.append(Text(pace.look(found)))
    parts.append(
        Text(f"{ended:,} of {len(found):,} runs have ended. Ctrl-C stops watching, not the runs.", "dim")
    )
    return Group(*parts, *_why_slow(going))


def _why_slow(going: list[Follow]) -> list[Text]:
    """Why the first few wait; in yellow where it takes a person or reconcile to go on."""
    explained = explain([one.site for one in going[:WAITING_SHOWN]], inspection.read_workforce())
    lines = []
    for standstill in explained:
        hint = f" (manage.py {standstill.command})" if standstill.command else ""
        style = "yellow" if standstill.command else "dim"
        told = Text(
            f"{standstill.site_id}: {standstill.reason}{hint}", style, no_wrap=True, overflow="ellipsis"
        )
        lines.append(told)
    return lines
