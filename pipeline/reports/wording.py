"""Counts, times and durations in words: the same in every command and on every page."""

from datetime import datetime, timedelta

from django.utils import timezone

# What people read for each status of the ledger; `skipped` is one of its own.
STATUS_WORDS = {
    "pending": "pending",
    "in_progress": "in progress",
    "processed": "processed",
    "failed_retryable": "waits for a retry",
    "failed_terminal": "failed",
    "skipped": "skipped",
}

# From this many seconds on, the next larger unit says it better.
UNITS = (("s", 1, 120), ("min", 60, 2 * 3600), ("h", 3600, 72 * 3600))
DAY = 86400


def plural(count: int, one: str, many: str) -> str:
    """1 run is, 1,200 runs are."""
    return f"{count:,} {one if count == 1 else many}"


def size_of(count: float) -> str:
    """3.4 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds < 0.1:
        return "<0.1 s"
    if seconds < 10:
        return f"{seconds:.1f} s"
    for unit, size, least in UNITS:
        if seconds < least:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / DAY:.0f} d"


def ago(moment: datetime | None) -> str:
    """3 min ago, in 2 h, never."""
    if moment is None:
        return "never"
    age = timezone.now() - moment
    words = duration(abs(age).total_seconds())
    return f"{words} ago" if age >= timedelta(0) else f"in {words}"


def attempts(status: str, count: int, most: int, retry_at: datetime | None) -> str:
    """How often it was tried and what happens next. What has ended never reads as if it went on."""
    if status == "skipped":
        return "left out: skipped, or replaced by a newer version"
    if status == "failed_retryable":
        due = retry_at is None or retry_at <= timezone.now()
        return f"retry {count}/{most}, {'due now' if due else f'next {ago(retry_at)}'}"
    if status == "failed_terminal":
        return f"failed after {plural(count, 'attempt', 'attempts')}"
    if status == "pending" and not count:
        return "not tried yet"
    return plural(count, "attempt", "attempts")


def clock(moment: datetime | None) -> str:
    """14:05, with the day where it is not today."""
    if moment is None:
        return "-"
    local = timezone.localtime(moment)
    return f"{local:%H:%M}" if local.date() == timezone.localdate() else f"{local:%Y-%m-%d %H:%M}"
