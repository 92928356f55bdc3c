"""Is it well? Each check answers in a sentence and names the command that helps."""

import shutil
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from typing import Any

from django.conf import settings
from django.utils import timezone

from pipeline.models import Channel, ReconcileRun, Silence, SourceState
from pipeline.queue import pauses
from pipeline.queue.inspection import QueueFacts, Workforce
from pipeline.reports.schedule import schedule_figures
from pipeline.reports.sites import SiteTotals
from pipeline.reports.wording import plural
from pipeline.work.ocr.process import sandbox
from sites.models import Source

DEGRADED_BELOW, UNHEALTHY_BELOW = 95, 80
# Cron runs it every 15 minutes; three in a row must be missing before it is worth a word.
RECONCILE_EVERY = timedelta(minutes=45)
LOW_DISK, FULL_DISK = 0.05, 0.01


class Level(IntEnum):
    """How bad a check is, the worst last. A note is worth reading and costs nothing."""

    OK = 0
    NOTE = 1
    DEGRADED = 2
    UNHEALTHY = 3

    @property
    def exit_code(self) -> int:
        """Of `health`: 0 healthy, 1 degraded, 2 unhealthy."""
        return max(self - Level.NOTE, 0)


@dataclass(frozen=True)
class Check:
    name: str
    level: Level
    message: str
    command: str = ""


# However well the sites stand, the score says that something is wrong: it stays below these.
CAPS = {Level.DEGRADED: DEGRADED_BELOW - 1.0, Level.UNHEALTHY: UNHEALTHY_BELOW - 1.0}


@dataclass(frozen=True)
class Score:
    """In percent, as every page, command and JSON shows it; `because` where a check holds it down."""

    percent: float | None
    because: str = ""


def score(share: float | None, found: list[Check]) -> Score:
    """The share of the sites that are well, capped by the worst check."""
    cap = CAPS.get(worst(found))
    if share is None or cap is None or share <= cap:
        return Score(share)
    return Score(cap, next(check.message for check in found if check.level == worst(found)))


def checks(totals: SiteTotals, force: Workforce) -> list[Check]:
    return [
        _queue(force),
        *_workers(force),
        _score(totals),
        _count("stuck", totals.stuck, STUCK, "reconcile"),
        _count("attention", totals.attention, ATTENTION, "pipeline_status"),
        _count("failed", totals.failed, FAILED, "retry_failed --dry-run"),
        _reconcile(totals),
        _pauses(),
        _disk(),
        _sources(),
        _paused(totals),
        _schedule(),
        _silent(),
        _channels(),
        _sandbox(),
    ]


LEVELS = {
    Level.OK: "healthy",
    Level.NOTE: "healthy",
    Level.DEGRADED: "degraded",
    Level.UNHEALTHY: "unhealthy",
}


def as_json(found: list[Check], moving: float | None) -> dict[str, Any]:
    """The stable shape of `health --json` and `/health.json`, described in docs/commands.md."""
    level, said = worst(found), score(moving, found)
    return {
        "ok": not level.exit_code,
        "level": LEVELS[level],
        "health_percent": said.percent,
        "health_because": said.because,
        "checks": [
            {
                "name": check.name,
                "level": check.level.name.lower(),
                "message": check.message,
                "command": check.command,
            }
            for check in found
        ],
    }


def worst(found: list[Check]) -> Level:
    return max((check.level for check in found), default=Level.OK)


def _queue(force: Workforce) -> Check:
    if not force.reachable:
        return Check("queue", Level.UNHEALTHY, f"{force.error}; nothing can be started")
    return Check("queue", Level.OK, "Redis answers")


def _workers(force: Workforce) -> list[Check]:
    if not force.reachable:
        return []
    unserved = [queue for queue in force.queues if not queue.workers]
    waiting = [queue for queue in unserved if queue.waiting]
    late = [queue.name for queue in force.queues if queue.scheduled and not queue.scheduler]
    found = [_unserved(unserved, waiting, len(force.queues))]
    if late:
        message = f"retries wait on {', '.join(late)}, and no scheduler runs to send them"
        found.append(Check("scheduler", Level.DEGRADED, message, "workers"))
    return found


def _unserved(unserved: list[QueueFacts], waiting: list[QueueFacts], queues: int) -> Check:
    if waiting:
        jobs = ", ".join(f"{queue.name} ({queue.waiting:,} wait)" for queue in waiting)
        return Check("workers", Level.UNHEALTHY, f"no worker on queue {jobs}", "workers")
    if len(unserved) == queues:
        return Check("workers", Level.DEGRADED, "no worker runs", "workers")
    if unserved:
        names = ", ".join(queue.name for queue in unserved)
        return Check("workers", Level.DEGRADED, f"no worker on queue {names}", "workers")
    return Check("workers", Level.OK, "every queue has a worker")


def _score(totals: SiteTotals) -> Check:
    score = totals.health
    if score is None:
        return Check("score", Level.OK, "no site has been started yet", "run_pipeline --stale 10")
    level = (
        Level.UNHEALTHY if score < UNHEALTHY_BELOW else Level.DEGRADED if score < DEGRADED_BELOW else Level.OK
    )
    message = f"{score:.1f} % of {totals.in_pipeline:,} sites are completed or moved in the last two hours"
    return Check("score", level, message, "reconcile" if level else "")


# What is said of no site, of one, and of several.
STUCK = ("no site stands still", "has not moved for two hours", "have not moved for two hours")
ATTENTION = ("no site needs a person", "needs a person", "need a person")
FAILED = ("every site can pass its stage", "cannot pass its stage", "cannot pass their stage")


def _count(name: str, count: int, words: tuple[str, str, str], command: str) -> Check:
    none, one, many = words
    if not count:
        return Check(name, Level.OK, none)
    return Check(name, Level.DEGRADED, f"1 site {one}" if count == 1 else f"{count:,} sites {many}", command)


def _reconcile(totals: SiteTotals) -> Check:
    last = ReconcileRun.objects.filter(finished_at__isnull=False).first()
    if last is None or last.finished_at is None:
        level = Level.DEGRADED if totals.in_pipeline > totals.completed else Level.OK
        return Check("reconcile", level, "reconcile has never run; cron should call it", "reconcile")
    age = timezone.now() - last.finished_at
    minutes = f"{int(age.total_seconds() // 60)} minutes ago"
    if last.error:
        return Check("reconcile", Level.DEGRADED, f"reconcile failed {minutes}: {last.error}", "reconcile")
    if age > RECONCILE_EVERY:
        return Check(
            "reconcile", Level.DEGRADED, f"reconcile last ran {minutes}; is cron alive?", "reconcile"
        )
    return Check("reconcile", Level.OK, f"reconcile ran {minutes} and found {last.found}")


def _pauses() -> Check:
    found = pauses.current()
    if not found:
        return Check("pauses", Level.OK, "no queue waits for a machine or a target")
    first = found[0]
    where = "everywhere" if first.where == pauses.EVERYWHERE else f"on {first.where}"
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Check("pauses", Level.DEGRADED, f"{first.queue} waits {where}: {first.reason}{more}")


def _disk() -> Check:
    folder = next(path for path in (settings.STORAGE_DIR, *settings.STORAGE_DIR.parents) if path.exists())
    usage = shutil.disk_usage(folder)
    free = usage.free / usage.total if usage.total else 1.0
    level = Level.UNHEALTHY if free < FULL_DISK else Level.DEGRADED if free < LOW_DISK else Level.OK
    return Check("disk", level, f"{usage.free / 1e9:.1f} GB ({free:.0%}) free for documents")


def _sources() -> Check:
    count = Source.objects.filter(enabled=True).exclude(warning="").count()
    if not count:
        return Check("sources", Level.OK, "no source has a warning")
    return Check("sources", Level.NOTE, plural(count, "source has", "sources have") + " a warning")


def _schedule() -> Check:
    figures = schedule_figures()
    if not figures.late:
        return Check("schedule", Level.OK, "no check is late")
    late = f"{plural(figures.late, 'site is', 'sites are')} late for a check"
    if figures.running >= figures.at_once:
        return Check("schedule", Level.NOTE, f"{late}: {figures.running} are at work, no more may be")
    return Check("schedule", Level.DEGRADED, f"{late}; the schedule runs beside the workers", "workers")


def _silent() -> Check:
    silent = SourceState.objects.filter(state__in=Silence.amber(), source__enabled=True)
    count = silent.filter(source__site__paused_at=None).count()
    if not count:
        return Check("silent", Level.OK, "no source is silent")
    return Check("silent", Level.DEGRADED, f"{plural(count, 'source', 'sources')} may be missing documents")


def _channels() -> Check:
    off = Channel.objects.filter(enabled=False).exclude(off_reason="").values_list("name", flat=True)
    if not off:
        return Check("channels", Level.OK, "every channel of alarms takes its messages")
    names = ", ".join(off)
    return Check("channels", Level.DEGRADED, f"switched off after failures: {names}", "notify --test")


def _paused(totals: SiteTotals) -> Check:
    if not totals.paused:
        return Check("paused", Level.OK, "no site is paused")
    message = plural(totals.paused, "site is", "sites are") + " paused"
    # So many that the installation as a whole does not do what it is for.
    most = totals.paused * 2 >= totals.total and totals.paused > 1
    return Check("paused", Level.DEGRADED if most else Level.NOTE, message)


def _sandbox() -> Check:
    """What shuts the readers of foreign files in, on the machine where this is asked."""
    if not settings.OCR_SANDBOX:
        return Check("sandbox", Level.NOTE, "readers of documents are not shut in: OCR_SANDBOX is off")
    found = sandbox.available()
    lacking = [wall for wall in sandbox.WALLS if wall not in found]
    if lacking:
        message = f"readers of documents are shut in by less than all: no {', no '.join(lacking)} here"
        return Check("sandbox", Level.NOTE, message)
    return Check("sandbox", Level.OK, f"readers of documents are shut in: {', '.join(found)}")
