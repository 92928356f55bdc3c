"""Messages: what opened and what was resolved, together, outside quiet hours, and never a storm of them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from pipeline.alarms import delivery
from pipeline.models import Alarm, AlarmKind, Channel, Notice, Notification

HOUR = timedelta(hours=1)
# Lines of one message; the rest is counted.
SHOWN = 30


def compose(now: datetime) -> None:
    """One message for each channel that has something to be told and may be told it now."""
    for channel in Channel.objects.filter(enabled=True):
        waiting = Notice.objects.filter(channel=channel, notification=None, dropped=False)
        notices = list(waiting.select_related("alarm").order_by("pk"))
        if notices and _may_tell(channel, notices, now):
            _write(channel, notices, now)


def _may_tell(channel: Channel, notices: Sequence[Notice], now: datetime) -> bool:
    grouped = now - notices[0].created_at >= timedelta(seconds=settings.ALARM_GROUP_SECONDS)
    if not grouped or is_quiet(channel, now):
        return False
    sent = Notification.objects.filter(
        channel=channel, what=Notification.What.ALARMS, created_at__gt=now - HOUR
    )
    return sent.count() < settings.ALARM_MESSAGES_PER_HOUR


def is_quiet(channel: Channel, now: datetime) -> bool:
    """Quiet hours may reach over midnight: from 22:00 to 7:00."""
    begin, end = channel.quiet_from, channel.quiet_until
    if begin is None or end is None or begin == end:
        return False
    at = timezone.localtime(now).time()
    return begin <= at < end if begin < end else at >= begin or at < end


def _write(channel: Channel, notices: Sequence[Notice], now: datetime) -> None:
    opened = [notice.alarm for notice in notices if notice.phase == Notice.Phase.OPENED]
    resolved = [notice.alarm for notice in notices if notice.phase == Notice.Phase.RESOLVED]
    with transaction.atomic():
        message = Notification.objects.create(
            channel=channel,
            title=title(opened, resolved),
            body=body(opened, resolved),
            bad=bool(opened),
            next_attempt_at=timezone.now(),
            created_at=now,
        )
        ours = Notice.objects.filter(pk__in=[notice.pk for notice in notices], notification=None)
        ours.update(notification=message)
        transaction.on_commit(lambda: delivery.send([message]))


def title(opened: Sequence[Alarm], resolved: Sequence[Alarm]) -> str:
    if not opened:
        return f"Clerk: resolved: {_summary(resolved)}"
    over = f"; {len(resolved)} resolved" if resolved else ""
    return f"Clerk: {_summary(opened)}{over}"


def _summary(alarms: Sequence[Alarm]) -> str:
    if len(alarms) == 1:
        return alarms[0].title
    kinds = {kind: sum(alarm.kind == kind for alarm in alarms) for kind in AlarmKind.values}
    return ", ".join(f'{count} times "{AlarmKind(kind).label}"' for kind, count in kinds.items() if count)


def body(opened: Sequence[Alarm], resolved: Sequence[Alarm]) -> str:
    parts = [_section("Needs a look", opened), _section("Resolved", resolved)]
    end = f"Everything that is open: {settings.PUBLIC_URL}{reverse('admin:pipeline_alarm_changelist')}"
    return "\n\n".join([part for part in parts if part] + [end])


def _section(heading: str, alarms: Sequence[Alarm]) -> str:
    if not alarms:
        return ""
    lines = [_line(alarm) for alarm in alarms[:SHOWN]]
    more = [f"… and {len(alarms) - SHOWN:,} more"] if len(alarms) > SHOWN else []
    return "\n".join([heading, *lines, *more])


def _line(alarm: Alarm) -> str:
    message = f"\n  {alarm.message[:300]}" if alarm.message and alarm.resolved_at is None else ""
    place = f"\n  {address_of(alarm)}" if alarm.site_id and alarm.resolved_at is None else ""
    lasted = ""
    if alarm.resolved_at and alarm.opened_at:
        hours = (alarm.resolved_at - alarm.opened_at) / HOUR
        lasted = f" (lasted {hours:.0f} h)" if hours >= 2 else f" (lasted {hours * 60:.0f} min)"
    return f"- {alarm.title}{lasted}{message}{place}"


def address_of(alarm: Alarm) -> str:
    return f"{settings.PUBLIC_URL}{reverse('admin:sites_site_change', args=[alarm.site_id])}"
