"""Channels that people add and try: what is told there, and whether it arrives."""

from django.utils import timezone

from pipeline.alarms import delivery
from pipeline.models import Channel, Notification


def send_test(channel: Channel, by: str) -> Notification:
    """Now, from here, so that whoever asked sees what was answered. A channel that takes it is on again."""
    now = timezone.now()
    message = Notification.objects.create(
        channel=channel,
        what=Notification.What.TEST,
        title="Clerk: a test",
        body=f"{by or 'Somebody'} asked for this message. Alarms of Clerk arrive here.",
        next_attempt_at=now,
        created_at=now,
    )
    delivery.deliver(message.pk)
    message.refresh_from_db()
    if message.status == Notification.Status.DELIVERED:
        Channel.objects.filter(pk=channel.pk).exclude(off_reason="").update(enabled=True, off_reason="")
    else:  # a test is not tried again behind one's back
        failed = Notification.objects.filter(pk=message.pk, status=Notification.Status.PENDING)
        failed.update(status=Notification.Status.FAILED)
        message.refresh_from_db()
    return message
