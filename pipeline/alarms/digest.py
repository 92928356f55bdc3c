"""The daily digest: what the last day brought and what is open, once a day for each channel that wants it."""

from datetime import datetime, timedelta

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from pipeline.alarms import delivery
from pipeline.alarms.telling import is_quiet
from pipeline.models import Alarm, Channel, Notification, Run
from pipeline.reports.schedule import schedule_figures
from pipeline.reports.sites import site_totals
from sites.models import Document

DAY = timedelta(days=1)
SHOWN = 20


def compose(now: datetime) -> None:
    local = timezone.localtime(now)
    for channel in Channel.objects.filter(enabled=True, digest_hour__lte=local.hour):
        day = local.date()
        had = Notification.objects.filter(channel=channel, what=Notification.What.DIGEST, day=day)
        if had.exists() or is_quiet(channel, now):
            continue
        message = Notification(
            channel=channel,
            what=Notification.What.DIGEST,
            day=day,
            title=f"Clerk: the day to {day}",
            body=body(now),
            next_attempt_at=timezone.now(),
            created_at=now,
        )
        # One a channel and day, by the database: whoever wrote it first sends it.
        Notification.objects.bulk_create([message], ignore_conflicts=True)
        delivery.send(list(had.filter(status=Notification.Status.PENDING)))


def body(now: datetime) -> str:
    since = now - DAY
    ended = Run.objects.filter(finished_at__gt=since)
    completed = ended.filter(status=Run.Status.COMPLETED).count()
    failed = ended.filter(status=Run.Status.FAILED).count()
    found = Document.objects.filter(created_at__gt=since).count()
    totals, figures = site_totals(), schedule_figures(now)
    alarms = Alarm.objects.filter(resolved_at=None, opened_at__isnull=False).order_by("opened_at")
    lines = [
        f"Runs in the last day: {completed:,} completed, {failed:,} failed. New documents: {found:,}.",
        f"Sites: {totals.total:,}, of them {totals.running:,} running, {totals.failed:,} failing, "
        f"{totals.attention:,} needing a person, {totals.paused:,} paused.",
        f"Checks: {figures.planned:,} planned, {figures.late:,} late.",
        "",
        "Open:" if alarms else "Nothing is open.",
        *(f"- {alarm.title} (since {alarm.opened_at:%Y-%m-%d})" for alarm in alarms[:SHOWN]),
    ]
    if alarms.count() > SHOWN:
        lines.append(f"… and {alarms.count() - SHOWN:,} more")
    return "\n".join([*lines, "", f"{settings.PUBLIC_URL}{reverse('admin:index')}"])
