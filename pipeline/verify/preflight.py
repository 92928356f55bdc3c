"""May the old table and columns go? Five questions, put to the models of today or of a migration."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, Min, Q

from sites.models import STUCK_AFTER
from sites.stages import Stage

MOST_STUCK_PERCENT = 1
RUNS_ASKED = 10
MOST_FOUND = 4
LEAST_HEALTH_PERCENT = 95
QUIET_DAYS = 7
WATCHED = timedelta(hours=24)
NO_SITES = "no site has ever been started, so there is nothing to judge by"


@dataclass(frozen=True)
class Criterion:
    name: str
    ok: bool
    detail: str


def preflight(Site: Any, ReconcileRun: Any, Intervention: Any, *, now: datetime) -> list[Criterion]:
    """Every criterion, passed or not; the drops may go ahead when all are ok."""
    started = Site._default_manager.filter(current_stage__isnull=False)
    total = started.count()
    stuck = _stuck(started, now).count()
    return [
        _stuck_sites(total, stuck),
        _health(total, stuck),
        _reconcile_runs(ReconcileRun),
        _interventions(Intervention, now),
        _age(ReconcileRun, Intervention, now),
    ]


def _stuck(started: Any, now: datetime) -> Any:
    """Not completed and untouched for two hours. Historical models have no such method of their own."""
    untouched = Q(updated_at__lt=now - STUCK_AFTER) | Q(updated_at__isnull=True)
    return started.exclude(current_stage=Stage.COMPLETED.value).filter(untouched)


def _stuck_sites(total: int, stuck: int) -> Criterion:
    name = f"stuck sites under {MOST_STUCK_PERCENT} %"
    if not total:
        return Criterion(name, False, NO_SITES)
    return Criterion(
        name, 100 * stuck < MOST_STUCK_PERCENT * total, f"{stuck} of {total} ({100 * stuck / total:.2f} %)"
    )


def _health(total: int, stuck: int) -> Criterion:
    name = f"health at least {LEAST_HEALTH_PERCENT} %"
    if not total:
        return Criterion(name, False, NO_SITES)
    well = total - stuck
    detail = f"{100 * well / total:.2f} % ({well} of {total} completed or touched in the last 2 hours)"
    return Criterion(name, 100 * well >= LEAST_HEALTH_PERCENT * total, detail)


def _reconcile_runs(ReconcileRun: Any) -> Criterion:
    """A run that could not look has found nothing, and proves nothing. Neither do ten within a minute."""
    hours = int(WATCHED.total_seconds() // 3600)
    name = (
        f"each of the last {RUNS_ASKED} reconcile runs, over at least {hours} hours,"
        f" found fewer than {MOST_FOUND + 1}"
    )
    ended = ReconcileRun._default_manager.filter(finished_at__isnull=False)
    newest = ended.aggregate(at=Max("started_at"))["at"]
    if newest is None:
        return Criterion(name, False, f"no run so far; {RUNS_ASKED} are needed to judge")
    # Those of a whole day, and the one before it: what lies between two runs was looked at by the later.
    before = ended.filter(started_at__lte=newest - WATCHED).aggregate(at=Max("started_at"))["at"]
    first = ended.aggregate(at=Min("started_at"))["at"]
    count = ended.count()
    if before is None or count < RUNS_ASKED:
        return Criterion(
            name,
            False,
            f"{count} runs since {first:%Y-%m-%d %H:%M} UTC; {RUNS_ASKED} over {hours} hours are needed",
        )
    tenth = ended.order_by("-started_at").values_list("started_at", flat=True)[RUNS_ASKED - 1]
    runs = list(ended.filter(started_at__gte=min(before, tenth)).values_list("found", "error"))
    over = sum(found > MOST_FOUND for found, _ in runs)
    failed = sum(bool(error) for _, error in runs)
    most = max(found for found, _ in runs)
    detail = f"of {len(runs)} runs {over} found more; the most was {most}; {failed} failed themselves"
    return Criterion(name, not over and not failed, detail)


def _age(ReconcileRun: Any, Intervention: Any, now: datetime) -> Criterion:
    """A week without unsticking is only known to somebody who has been there for a week."""
    name = f"Clerk has been at work for {QUIET_DAYS} days"
    first = [
        ReconcileRun._default_manager.aggregate(at=Min("started_at"))["at"],
        Intervention._default_manager.aggregate(at=Min("at"))["at"],
    ]
    since = min((at for at in first if at is not None), default=None)
    if since is None:
        return Criterion(name, False, "nothing was recorded yet")
    detail = f"since {since:%Y-%m-%d %H:%M} UTC, {(now - since).days} days"
    return Criterion(name, now - since >= timedelta(days=QUIET_DAYS), detail)


def _interventions(Intervention: Any, now: datetime) -> Criterion:
    recent = Intervention._default_manager.filter(unstuck=True, at__gte=now - timedelta(days=QUIET_DAYS))
    count = recent.count()
    detail = f"{count} in the last {QUIET_DAYS} days" if count else "none"
    return Criterion(f"no intervention that unstuck a site for {QUIET_DAYS} days", not count, detail)
