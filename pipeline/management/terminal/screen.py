"""How the commands draw: with colour and bars on a terminal, plain lines where there is none."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import OutputWrapper
from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

PLAIN_WIDTH = 120


def console(stdout: OutputWrapper) -> Console:
    # Rich writes in pieces; Django would end each with a newline.
    stdout.ending = ""
    terminal = stdout.isatty()
    return Console(
        file=stdout,  # type: ignore[arg-type]
        force_terminal=terminal,
        color_system="auto" if terminal else None,
        width=None if terminal else PLAIN_WIDTH,
        highlight=False,
        emoji=False,
        markup=False,
    )


def show(screen: Console, picture: RenderableType) -> None:
    """Print; without a terminal, lines end where their text ends."""
    if screen.is_terminal:
        return screen.print(picture)
    with screen.capture() as captured:
        screen.print(picture)
    screen.file.write("\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n")


def watch(screen: Console, seconds: float, draw: Callable[[], RenderableType]) -> None:
    """Draw again and again until Ctrl-C or a polite signal, which end it quietly."""
    if not screen.is_terminal:
        return repeat(seconds, lambda: show(screen, draw()))
    # Nothing is drawn on entering: an interruption there would leave the terminal in the other screen.
    with polite_stop(), Live(console=screen, screen=True, auto_refresh=False) as live:
        while True:
            live.update(draw(), refresh=True)
            time.sleep(seconds)


def repeat(seconds: float, act: Callable[[], object]) -> None:
    with polite_stop():
        while True:
            act()
            sys.stdout.flush()
            time.sleep(seconds)


@contextmanager
def polite_stop() -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


def bar(screen: Console, share: float, width: int = 20, failed: float = 0.0, style: str = "green") -> Text:
    """A share of 1 as a bar; what failed is its last part, told by its mark too and not by colour alone."""
    full, bad, empty = "█▒░" if screen.encoding.lower().startswith("utf") else "#x."
    done = max(round(width * min(share, 1.0)), 1 if share > 0 else 0)
    broken = min(done, max(round(width * failed), 1 if failed else 0))
    return Text.assemble(
        (full * (done - broken), style), (bad * broken, "red"), (empty * (width - done), "dim")
    )


def grid(*columns: dict[str, Any], title: str = "") -> Table:
    table = Table(
        box=None,
        show_header=False,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        title=title,
        title_justify="left",
        title_style="bold",
    )
    for column in columns:
        table.add_column(**column)
    return table


def percent(part: float, whole: float) -> str:
    """Never 100 % while something is missing, never 0 % of something."""
    if not whole:
        return "-"
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "<0.1 %"
    return "99.9 %" if 99.9 < share < 100 else f"{share:.1f} %"
