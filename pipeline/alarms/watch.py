"""Opens an alarm for each thing that is wrong and resolves it when it is over; each channel is told once."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from pipeline.alarms.conditions import LASTING, Condition, conditions
from pipeline.models import Alarm, AlarmKind, Channel, Notice, Run

# While such a site is at work nobody knows yet whether it is over.
OF_A_RUN = (AlarmKind.FAILED, AlarmKind.SHRINK, AlarmKind.ATTENTION)


def watch(now: datetime) -> None:
    """Compare what is wrong with what was; the caller holds the lock."""
    found = conditions(now)
    with transaction.atomic():
        before = {alarm.key: alarm for alarm in Alarm.objects.filter(resolved_at=None)}
        new = [_begun(condition, now) for key, condition in found.items() if key not in before]
        Alarm.objects.bulk_create(new, ignore_conflicts=True)
        _open(now)
        _resolve([alarm for key, alarm in before.items() if key not in found], now)


def _begun(condition: Condition, now: datetime) -> Alarm:
    return Alarm(
        key=condition.key,
        kind=condition.kind,
        site_id=condition.site_id,
        title=condition.title,
        message=condition.message,
        seen_at=now,
    )


def _open(now: datetime) -> None:
    """Those that have lasted long enough for their kind."""
    waiting = Alarm.objects.filter(resolved_at=None, opened_at=None)
    due = [alarm for alarm in waiting if now - alarm.seen_at >= LASTING.get(_kind(alarm), timedelta(0))]
    Alarm.objects.filter(pk__in=[alarm.pk for alarm in due], opened_at=None).update(opened_at=now)
    channels = list(Channel.objects.filter(enabled=True))
    _tell(
        [(alarm, channel) for alarm in due for channel in channels if channel.wants(alarm.kind)],
        Notice.Phase.OPENED,
        now,
    )


def _kind(alarm: Alarm) -> AlarmKind:
    return AlarmKind(alarm.kind)


def _resolve(gone: list[Alarm], now: datetime) -> None:
    busy = set(
        Run.objects.running()
        .filter(site__in=[a.site_id for a in gone if a.site_id])
        .values_list("site_id", flat=True)
    )
    over = [alarm for alarm in gone if not (alarm.kind in OF_A_RUN and alarm.site_id in busy)]
    Alarm.objects.filter(pk__in=[alarm.pk for alarm in over if alarm.opened_at is None]).delete()
    over = [alarm for alarm in over if alarm.opened_at is not None]
    Alarm.objects.filter(pk__in=[alarm.pk for alarm in over], resolved_at=None).update(resolved_at=now)
    told = Notice.objects.filter(alarm__in=over, phase=Notice.Phase.OPENED, dropped=False)
    # What nobody was told of before it was over, nobody needs to be told of.
    told.filter(notification=None).update(dropped=True)
    known = told.filter(notification__isnull=False).select_related("alarm", "channel")
    _tell([(notice.alarm, notice.channel) for notice in known], Notice.Phase.RESOLVED, now)


def _tell(pairs: Iterable[tuple[Alarm, Channel]], phase: str, now: datetime) -> None:
    notices = [Notice(alarm=alarm, channel=channel, phase=phase, created_at=now) for alarm, channel in pairs]
    Notice.objects.bulk_create(notices, ignore_conflicts=True)
