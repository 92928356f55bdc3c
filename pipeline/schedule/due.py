"""Starts the checks whose time has come: each once, over all machines, no more at once than is allowed."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from pipeline import flow
from pipeline.flow import Refused
from pipeline.models import Rhythm, Run, Schedule
from pipeline.reconcile import lock
from pipeline.schedule import plan
from sites.models import STUCK_AFTER, Site, Source

log = structlog.get_logger()
BY = "schedule"
SCHEDULE_LOCK = lock.Lock(5_310_002, "schedule")
# After so many failed runs in a row the schedule leaves the site to a person; until then it comes ever rarer.
GIVE_UP_AFTER = 6
LONGEST_BACKOFF = timedelta(days=7)
NO_SOURCE = "it has no source that is switched on"
PAUSED = "it is paused"
NEEDS_A_PERSON = "it needs a person"
GIVEN_UP = f"its last {GIVE_UP_AFTER} runs failed: start it yourself when it is mended"
LOOK = 500


@dataclass(frozen=True)
class Started:
    """What one look at the clock did. `waiting` sites are due and find no room."""

    sites: tuple[str, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    waiting: int = 0


def start_due(now: datetime) -> Started:
    """Start what is due, the oldest first. Who finds another machine at it leaves it to that one."""
    with lock.only_one(SCHEDULE_LOCK) as alone:
        if not alone:
            return Started()
        plan.add_missing(now)
        plan.plan_unplanned(now)
        return _start_due(now)


def _start_due(now: datetime) -> Started:
    room = settings.SCHEDULE_AT_ONCE - running_now(now)
    started: list[str] = []
    passed: list[tuple[str, str]] = []
    due = list(due_now(now).select_related("site")[:LOOK])
    for number, schedule in enumerate(due):
        if len(started) >= room:
            return Started(tuple(started), tuple(passed), len(due) - number)
        why_not = _check(schedule, now)
        if why_not is None:
            started.append(schedule.site_id)
        elif why_not:
            passed.append((schedule.site_id, why_not))
    return Started(tuple(started), tuple(passed))


def due_now(now: datetime) -> QuerySet[Schedule]:
    """Whose time has come, the oldest first. A paused site waits until it is resumed."""
    return Schedule.objects.filter(next_check_at__lte=now, site__paused_at=None).order_by(
        "next_check_at", "site_id"
    )


def running_now(now: datetime) -> int:
    """Sites that are at work. One that stands still takes no other's place."""
    moving = Run.objects.filter(status=Run.Status.RUNNING, site__paused_at=None, site__attention_reason="")
    return moving.filter(site__updated_at__gte=now - STUCK_AFTER).count()


def _check(schedule: Schedule, now: datetime) -> str | None:
    """None: it was started. Empty: another had it already. Else why it was passed over this time."""
    site = schedule.site
    never = plan.rhythm_of(schedule.rhythm) == Rhythm.NEVER
    why_not = "its rhythm is never" if never else reason_to_pass_over(site)
    planned = _planned_after(schedule, now)
    with transaction.atomic():
        # One UPDATE, guarded on the moment that was read: of all machines that saw it due one goes on.
        claimed = Schedule.objects.filter(
            pk=schedule.pk, next_check_at=schedule.next_check_at, rhythm=schedule.rhythm
        ).update(next_check_at=planned, last_check_at=now, note=why_not)
        if not claimed or why_not:
            return why_not if claimed else ""
        try:
            flow.start(site.pk, by=BY)
        except Refused as refusal:
            why_not = str(refusal)
            Schedule.objects.filter(pk=schedule.pk).update(note=why_not[:500])
    log.info("scheduled check", site=site.pk, next=planned and planned.isoformat(), refused=why_not)
    return why_not or None


def reason_to_pass_over(site: Site) -> str:
    """Why a site is not started by itself; empty when it is."""
    if site.paused_at:
        return PAUSED
    if site.attention_reason:
        return NEEDS_A_PERSON
    if Run.objects.running().filter(site=site).exists():
        return "it runs already"
    if not Source.objects.filter(site=site, enabled=True).exists():
        return NO_SOURCE
    return GIVEN_UP if failed_in_a_row(site) >= GIVE_UP_AFTER else ""


def failed_in_a_row(site: Site) -> int:
    """Runs that failed since the last one that did not, up to as many as matter."""
    ended = Run.objects.filter(site=site, status__in=(Run.Status.FAILED, Run.Status.COMPLETED))
    count = 0
    for status in ended.order_by("-pk").values_list("status", flat=True)[:GIVE_UP_AFTER]:
        if status != Run.Status.FAILED:
            break
        count += 1
    return count


def _planned_after(schedule: Schedule, now: datetime) -> datetime | None:
    """The next slot. What was missed meanwhile is not made up for; a site that keeps failing comes rarer."""
    planned = plan.upcoming(schedule.site, schedule.rhythm, now)
    failed = failed_in_a_row(schedule.site)
    if planned is None or failed < 2:
        return planned
    wait = min((planned - now) * 2 ** (failed - 1), LONGEST_BACKOFF)
    return max(planned, plan.upcoming(schedule.site, schedule.rhythm, now + wait) or planned)


def overdue(now: datetime, by: timedelta) -> QuerySet[Schedule]:
    """Sites whose check should have begun so long ago and that are not at work."""
    running = Run.objects.filter(site=OuterRef("pk"), status=Run.Status.RUNNING)
    return due_now(now - by).filter(~Exists(running)).exclude(rhythm=Rhythm.NEVER)
