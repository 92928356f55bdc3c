"""Where every site is, live: a table that renews itself in a terminal, a line for each step elsewhere."""

from collections.abc import Iterable

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from sites.models import Site
from sites.stages import WORK_STAGES, Progress


class Screen:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = (
            Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        )
        self._said: dict[str, str] = {}

    def __enter__(self) -> "Screen":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._live.stop()

    def show(self, sites: Iterable[Site]) -> None:
        if self._live:
            self._live.update(table(sites))
        else:
            self._say_what_changed(sites)

    def _say_what_changed(self, sites: Iterable[Site]) -> None:
        for site in sites:
            line = f"{site.pk}: {site.current_stage or 'not started'}"
            if self._said.get(site.pk) != line:
                self._said[site.pk] = line
                done = [
                    f"{stage} {_count(site.progress(stage))}"
                    for stage in WORK_STAGES
                    if site.progress(stage).total
                ]
                self._console.print(f"{line}  ({', '.join(done) or 'nothing yet'})")


def table(sites: Iterable[Site]) -> Table:
    grid = Table("site", "stage", *WORK_STAGES, expand=False)
    for site in sites:
        cells = [_cell(site.progress(stage)) for stage in WORK_STAGES]
        grid.add_row(site.name or site.pk, site.current_stage or "", *cells)
    return grid


def _cell(progress: Progress) -> Table | Text:
    if not progress.total:
        return Text("·", style="dim")
    cell = Table.grid(padding=(0, 1))
    style = "red" if progress.failed else ""
    cell.add_row(ProgressBar(progress.total, progress.done, width=8), Text(_count(progress), style=style))
    return cell


def _count(progress: Progress) -> str:
    failed = f" ({progress.failed} failed)" if progress.failed else ""
    return f"{progress.done}/{progress.total}{failed}"
