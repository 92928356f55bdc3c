"""Whether a source that was listed without a failure is well: by what is usual for it, robustly reckoned."""

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

# Of so many listings, or gaps between meetings, one knows what is usual. Fewer prove nothing.
ENOUGH_LISTINGS, ENOUGH_GAPS = 5, 5
# A listing of so few documents is never "far fewer": it may be a short month.
FEW = 4
# The median absolute deviation times this is what a standard deviation would be; four of them are unusual.
SCALE, UNUSUAL = 1.4826, 4
SHORTEST_SILENCE = 21
LATEST_GAPS = 40
_CHANGED = re.compile(r"cannot be read|now looks like|nested too deeply")
_BY_CODE = {
    "http_403": "blocked",
    "http_429": "blocked",
    "wrong_page": "changed",
    "bad_json": "changed",
    "http_404": "changed",
    "http_410": "changed",
}
_BY_DIAGNOSIS = {"bot_wall": "blocked", "needs_javascript": "scripted"}


@dataclass(frozen=True)
class Verdict:
    """A state of the source, and the rule that says so with its figures."""

    state: str = "fine"
    reason: str = ""


@dataclass(frozen=True)
class Seen:
    """What is known of a source: its listings so far, the latest first, and the days of its meetings."""

    today: date
    listed: int
    earlier: Sequence[int] = ()
    known: int = 0
    meetings: Sequence[date] = ()
    last_new: date | None = None
    warning: str = ""
    # What the page turned out to be where nothing was listed.
    diagnosis: str = ""


def judge(seen: Seen) -> Verdict:
    """The first rule that speaks; the surest comes first."""
    rules = (_walled, _nothing, _changed, _fewer, _quiet)
    return next((verdict for rule in rules if (verdict := rule(seen))), Verdict())


def of_failure(code: str, message: str) -> Verdict | None:
    """None where the failure says nothing about the source yet: a server that is away comes back."""
    state = _BY_CODE.get(code)
    return Verdict(state, f"The last listing failed: {message}") if state else None


def _walled(seen: Seen) -> Verdict | None:
    state = None if seen.listed else _BY_DIAGNOSIS.get(seen.diagnosis)
    if state == "blocked":
        return Verdict(state, "It lists nothing, and its page is a check that a program cannot pass.")
    if state == "scripted":
        return Verdict(state, "It lists nothing, and its page is empty until a browser runs its scripts.")
    return None


def _nothing(seen: Seen) -> Verdict | None:
    if seen.listed:
        return None
    before = f"; {seen.known:,} documents of it are known" if seen.known else ", and never did"
    return Verdict("nothing", f"It lists no document{before}.")


def _changed(seen: Seen) -> Verdict | None:
    return Verdict("changed", seen.warning) if _CHANGED.search(seen.warning) else None


def _fewer(seen: Seen) -> Verdict | None:
    if len(seen.earlier) < ENOUGH_LISTINGS:
        return None
    usual = statistics.median(seen.earlier)
    spread = UNUSUAL * SCALE * statistics.median(abs(count - usual) for count in seen.earlier)
    least = usual - max(spread, usual / 2)
    if usual <= FEW or seen.listed >= least:
        return None
    return Verdict(
        "fewer",
        f"It lists {seen.listed:,} documents; usual are {usual:,.0f} (the median of its last "
        f"{len(seen.earlier)} listings), and fewer than {least:,.0f} is unusual for it.",
    )


def _quiet(seen: Seen) -> Verdict | None:
    days = sorted({day for day in seen.meetings if day <= seen.today})[-LATEST_GAPS - 1 :]
    gaps = [(later - earlier).days for earlier, later in pairwise(days)]
    ahead = any(day > seen.today for day in seen.meetings)
    if len(gaps) < ENOUGH_GAPS or ahead:
        return None
    usual = statistics.median(gaps)
    spread = UNUSUAL * SCALE * statistics.median(abs(gap - usual) for gap in gaps)
    # A council on holiday is no silence: what it once paused for is usual, too.
    most = max(usual + spread, 3 * usual, 1.5 * max(gaps), SHORTEST_SILENCE)
    last = max(day for day in (days[-1], seen.last_new) if day)
    silent = seen.today - last
    if silent <= timedelta(days=most):
        return None
    return Verdict(
        "quiet",
        f"Nothing new since {last}, {silent.days} days ago; usual are {usual:.0f} days between its meetings "
        f"(the median of the last {len(gaps)}), and more than {most:.0f} is unusual for it.",
    )
