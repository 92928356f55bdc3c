"""The picture that `pipeline_status` prints: everything in one terminal page, the next command last."""

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.management.terminal.screen import bar, grid, percent
from pipeline.reports.documents import DOCUMENT_STATUSES
from pipeline.reports.health import LEVELS, Level
from pipeline.reports.overview import Overview
from pipeline.reports.steps import Ages, StageFigures, Timing
from pipeline.reports.wording import ago, clock, duration

STYLES = {Level.OK: "green", Level.NOTE: "cyan", Level.DEGRADED: "yellow", Level.UNHEALTHY: "bold red"}
STATUS_STYLES = {
    "completed": "green",
    "failed": "red",
    "processing": "cyan",
    "pending": "blue",
    "skipped": "dim",
}


def draw(screen: Console, overview: Overview) -> RenderableType:
    return Group(*(part for parts in _sections(screen, overview) for part in (parts, Text(""))))


def _sections(screen: Console, overview: Overview) -> Iterator[RenderableType]:
    yield _headline(overview)
    yield _totals(overview)
    yield _statuses(screen, overview)
    yield _steps(screen, overview)
    if any(step.waiting for step in overview.steps):
        yield _waiting(overview)
    if overview.failures:
        yield _failures(screen, overview)
    if overview.standstills:
        yield _standstills(overview)
    yield _checks(overview)
    yield Text.assemble(("Next: ", "bold"), f"manage.py {overview.next_command}")


def _headline(overview: Overview) -> Text:
    level = overview.level
    health = overview.score.percent
    score = "no site started yet" if health is None else f"health {health:.1f} %"
    return Text.assemble(
        ("Clerk", "bold"), f"  {clock(overview.at)}  ", (f"{score}, {LEVELS[level]}", STYLES[level])
    )


def _totals(overview: Overview) -> Table:
    sites, documents = overview.sites, overview.documents
    parts = {
        "completed": sites.completed,
        "running": sites.running,
        "stuck": sites.stuck,
        "failed": sites.failed,
        "need a person": sites.attention,
        "paused": sites.paused,
        "never run": sites.never_run,
    }
    table = grid({"style": "bold"}, {"justify": "right"}, {"overflow": "fold"})
    table.add_row("Sites", f"{sites.total:,}", _listed(parts))
    table.add_row("Documents", f"{documents.total:,}", _listed(documents.by_kind))
    schedule = overview.schedule
    checks = {"due now": schedule.due, "late": schedule.late}
    next_at = f"next {ago(schedule.next_at)}" if schedule.next_at else "none planned"
    said = ", ".join(part for part in (next_at, _listed(checks)) if part)
    table.add_row("Checks", f"{schedule.planned:,}", said)
    if overview.dates:
        table.add_row("Meetings", "", str(overview.dates))
    return table


def _listed(parts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in parts.items() if count)


def _statuses(screen: Console, overview: Overview) -> Table:
    table = grid(
        {"min_width": 11}, {}, {"justify": "right"}, {"justify": "right"}, title="Documents by status"
    )
    documents = overview.documents
    for status in DOCUMENT_STATUSES:
        count = getattr(documents, status)
        share = count / documents.total if documents.total else 0.0
        table.add_row(
            status,
            bar(screen, share, style=STATUS_STYLES[status]),
            percent(count, documents.total),
            f"{count:,}",
        )
    return table


NARROW = 100
# Columns of the steps that a narrow terminal does without, the least missed first.
SPARED = (("stage p50/p95", 112), ("job p50/p95", 94), ("no text", 74))


def _steps(screen: Console, overview: Overview) -> Table:
    """As many columns as there is room for; none is cut in the middle."""
    names = ["Step", "", "%", "done/total", "failed", "no text", "job p50/p95", "stage p50/p95"]
    kept = [name for name in names if screen.width >= dict(SPARED).get(name, 0)]
    table = _columns(*("" if name == "%" else name for name in kept))
    for step in overview.steps:
        cells = dict(zip(names, _step(screen, step), strict=True))
        table.add_row(*(cells[name] for name in kept))
    return table


def _columns(*names: str) -> Table:
    """Words to the left, numbers to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, name in enumerate(names):
        table.add_column(name, justify="right" if number and name else "left", no_wrap=True)
    return table


def _step(screen: Console, step: StageFigures) -> tuple[RenderableType, ...]:
    return (
        step.stage,
        bar(screen, step.share, width=14 if screen.width >= 80 else 8, failed=step.failed_share),
        percent(step.processed, step.total),
        f"{step.processed:,}/{step.total:,}",
        Text(f"{step.failed_terminal:,}", "red" if step.failed_terminal else "dim"),
        "-" if step.without_text is None else f"{step.without_text:,}",
        _spread(step.job_seconds),
        _spread(step.stage_seconds),
    )


def _spread(timing: Timing | Ages) -> str:
    return f"{duration(timing.median)} / {duration(timing.p95)}"


def _waiting(overview: Overview) -> Table:
    """Only of the steps in which something waits."""
    table = _columns(
        "Waiting", "pending", "for p50/p95", "in progress", "to retry", "failed p50/p95 ago", "next retry"
    )
    for step in overview.steps:
        if step.waiting:
            table.add_row(
                step.stage,
                f"{step.pending:,}",
                _spread(step.pending_age) if step.pending else "",
                f"{step.in_progress:,}",
                f"{step.failed_retryable:,}",
                _spread(step.retry_age) if step.failed_retryable else "",
                clock(step.next_retry_at) if step.next_retry_at else "",
            )
    return table


def _failures(screen: Console, overview: Overview) -> Table:
    # On a terminal a line each, cut at its edge; in a file whole, for whoever searches it.
    one_line = {"no_wrap": True, "overflow": "ellipsis"}
    message = one_line if screen.is_terminal and screen.width < NARROW else {"overflow": "fold"}
    times, codes = (
        {"no_wrap": True, "min_width": max(map(len, words))}
        for words in zip(*((clock(one.at), one.code) for one in overview.failures), strict=True)
    )
    shown, total = len(overview.failures), max(overview.failure_count, len(overview.failures))
    title = f"Recent failures (showing {shown:,} of {total:,})"
    table = grid(times, {**codes, "style": "red"}, message, title=title)
    for failure in overview.failures:
        number = f" (document {failure.document_id})" if failure.document_id else ""
        table.add_row(
            clock(failure.at),
            failure.code,
            f"{failure.site_id} {failure.document}{number} @ {failure.stage}: {failure.message} "
            f"({failure.attempts_words})",
        )
    return table


def _standstills(overview: Overview) -> Table:
    total = max(overview.sites.stuck, len(overview.standstills))
    shown = f", {len(overview.standstills)} shown" if total > len(overview.standstills) else ""
    table = grid(
        {"no_wrap": True, "style": "bold"},
        {"no_wrap": True},
        {"no_wrap": True, "justify": "right"},
        {"overflow": "fold"},
        title=f"Standing still ({total:,}{shown})",
    )
    for standstill in overview.standstills:
        table.add_row(standstill.site_id, standstill.stage, ago(standstill.since), standstill.reason)
    return table


def _checks(overview: Overview) -> RenderableType:
    found = [check for check in overview.checks if check.level]
    if not found:
        return Text("All is well: nothing needs you.", "green")
    table = grid({"no_wrap": True}, {"overflow": "fold"}, title="What needs you")
    for check in sorted(found, key=lambda check: -check.level):
        hint = f"  (manage.py {check.command})" if check.command else ""
        table.add_row(Text(check.level.name.lower(), STYLES[check.level]), f"{check.message}{hint}")
    return table
