"""Each site's schedule as a row: made where it is missing, planned anew when the rhythm changes."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db.models import Max

from pipeline.models import Rhythm, Run, Schedule, SourceListing
from pipeline.schedule.slots import AFTER_MEETING, Facts, next_slot, offset
from sites.models import Document, Site

# A site that never ran has this long to be looked at, or started by hand, before it is checked by itself.
FIRST_CHECK = timedelta(minutes=5)
BATCH = 1000
AHEAD = timedelta(days=14)
FOLLOWING = (Rhythm.MEETINGS, Rhythm.ADAPTIVE)


def add_missing(now: datetime) -> int:
    """A row for every site that has none yet; how many."""
    missing = list(Site.objects.filter(schedule=None).order_by("pk")[:BATCH])
    ran = dict(
        Run.objects.filter(site__in=missing)
        .values_list("site_id")
        .annotate(last=Max("started_at"))
        .order_by()
    )
    rows = [Schedule(site=site, next_check_at=_first(site, ran.get(site.pk), now)) for site in missing]
    Schedule.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def _first(site: Site, ran_at: datetime | None, now: datetime) -> datetime | None:
    if settings.SCHEDULE_RHYTHM == Rhythm.NEVER:
        return None
    if ran_at is None:
        # Spread a little, so that 500 imported sites do not come in the same second.
        return now + FIRST_CHECK + offset(site.pk) * FIRST_CHECK
    return upcoming(site, "", now)


def rhythm_of(rhythm: str) -> str:
    return rhythm or settings.SCHEDULE_RHYTHM


def zone_of(site: Site) -> ZoneInfo:
    """The city's own clock, or the installation's."""
    try:
        return ZoneInfo(site.time_zone or settings.TIME_ZONE)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def upcoming(site: Site, rhythm: str, after: datetime) -> datetime | None:
    """The first slot behind this moment."""
    rhythm = rhythm_of(rhythm)
    facts = facts_of(site, after) if rhythm in FOLLOWING else None
    return next_slot(rhythm, site.pk, after, zone_of(site), facts)


def facts_of(site: Site, now: datetime) -> Facts:
    today = now.astimezone(zone_of(site)).date()
    days = (today - AFTER_MEETING, today + AHEAD)
    meetings = Document.objects.filter(
        site=site, meeting_date__range=days, superseded_at=None, cancelled=False
    )
    listings = SourceListing.objects.filter(source__site=site)
    found = Document.objects.filter(site=site).aggregate(last=Max("created_at"))["last"]
    first = listings.order_by("at").values_list("at", flat=True).first()
    days_known = {day for day in meetings.values_list("meeting_date", flat=True) if day is not None}
    return Facts(tuple(sorted(days_known)), found, first)


def set_rhythm(site: Site, rhythm: str, now: datetime) -> None:
    """Give the site a rhythm and plan its next check by it."""
    values = {"rhythm": rhythm, "next_check_at": upcoming(site, rhythm, now), "note": ""}
    Schedule.objects.update_or_create(site=site, defaults=values)


def plan_unplanned(now: datetime) -> None:
    """Where the installation's rhythm was "never" until now: sites without one of their own follow it."""
    if settings.SCHEDULE_RHYTHM == Rhythm.NEVER:
        return
    waiting = Schedule.objects.filter(rhythm=Rhythm.DEFAULT, next_check_at=None).select_related("site")
    for schedule in waiting.order_by("pk")[:BATCH]:
        planned = upcoming(schedule.site, schedule.rhythm, now)
        Schedule.objects.filter(pk=schedule.pk, next_check_at=None, rhythm=Rhythm.DEFAULT).update(
            next_check_at=planned
        )
