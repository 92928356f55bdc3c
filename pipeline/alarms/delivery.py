"""Sends messages: by a job of the webhooks queue, tried again, and on record whatever becomes of them."""

import random
import smtplib
from collections.abc import Iterable
from datetime import timedelta
from email.utils import parseaddr

import django_rq
import structlog
from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import F
from django.utils import timezone
from redis.exceptions import RedisError

from pipeline.errors import PipelineError, SourceError
from pipeline.models import Channel, Notification
from pipeline.queue import inspection
from pipeline.redaction import redact
from pipeline.work import notify

log = structlog.get_logger()
QUEUE = "webhooks"
JOB = "pipeline.jobs.deliver_notification"
# A delivery whose worker died in the middle is free again after this.
LEASE = timedelta(minutes=5)
FIRST_WAIT = 30
# Messages in a row that could not be delivered, before a channel is switched off.
GIVE_UP_AFTER = 3
COMING = ("queued", "started", "scheduled", "deferred")


def send(messages: Iterable[Notification]) -> None:
    """One job each."""
    try:
        for message in messages:
            django_rq.get_queue(QUEUE).enqueue_call(
                JOB,
                args=(message.pk,),
                job_id=_job_id(message),
                timeout=settings.JOB_LIMITS[QUEUE],
                result_ttl=0,
                failure_ttl=86400,
            )
    except RedisError as error:
        log.warning("queue unreachable; the next look at the clock sends it", error=str(error))


def send_due() -> None:
    """What is due and has no job; from here where nobody works on that queue: it may tell of just that."""
    due = Notification.objects.filter(status=Notification.Status.PENDING, next_attempt_at__lte=timezone.now())
    waiting = list(due.order_by("pk")[:100])
    if not waiting:
        return
    force = inspection.read_workforce()
    if not any(queue.name == QUEUE and queue.workers for queue in force.queues):
        for message in waiting:
            deliver(message.pk)
        return
    states = inspection.job_states(_job_id(message) for message in waiting)
    send([message for message in waiting if states.get(_job_id(message)) not in COMING])


def _job_id(message: Notification) -> str:
    return f"notification-{message.pk}-{message.attempts}"


def deliver(message_id: int) -> None:
    """One attempt. The guarded update lets one of two jobs through."""
    now = timezone.now()
    claimed = Notification.objects.filter(
        pk=message_id, status=Notification.Status.PENDING, next_attempt_at__lte=now
    ).update(attempts=F("attempts") + 1, last_attempt_at=now, next_attempt_at=now + LEASE)
    if not claimed:
        return
    message = Notification.objects.select_related("channel").get(pk=message_id)
    try:
        _say(message)
    except PipelineError as error:
        _failed(message, redact(str(error)))
    else:
        _finish(
            message, status=Notification.Status.DELIVERED, delivered_at=timezone.now(), answer="delivered"
        )
        Channel.objects.filter(pk=message.channel_id).update(failures=0)
    log.info("notification", channel=message.channel.name, outcome=message.status, attempts=message.attempts)


def _say(message: Notification) -> None:
    channel = message.channel
    if channel.way == Channel.Way.MAIL:
        _mail(message)
    else:
        notify.push(channel.address, message.title, message.body, bad=message.bad)


def _mail(message: Notification) -> None:
    if not settings.EMAIL_HOST:
        raise SourceError("EMAIL_HOST is not set: no mail can be sent", code="mail_refused")
    mail = EmailMessage(
        # A title of ours has no line break; what a city calls itself might.
        " ".join(message.title.split()),
        message.body,
        to=message.channel.recipients,
        headers={"Message-ID": _mail_id(message), "Auto-Submitted": "auto-generated"},
    )
    try:
        mail.send()
    except (OSError, smtplib.SMTPException) as error:
        raise SourceError(f"{type(error).__name__}: {error}", code="mail_refused") from error


def _mail_id(message: Notification) -> str:
    """The same at every attempt: a mail server that took it twice shows it once."""
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
    return f"<clerk-{message.pk}-{message.created_at:%Y%m%d%H%M%S}@{domain}>"


def _failed(message: Notification, answer: str) -> None:
    if message.attempts < settings.WEBHOOK_ATTEMPTS:
        wait = timedelta(seconds=FIRST_WAIT * 4 ** (message.attempts - 1) * random.uniform(0.9, 1.1))
        _finish(message, next_attempt_at=timezone.now() + wait, answer=answer[:500])
        return
    _finish(message, status=Notification.Status.FAILED, answer=answer[:500])
    channel = Channel.objects.filter(pk=message.channel_id)
    channel.update(failures=F("failures") + 1)
    reason = f"{GIVE_UP_AFTER} messages in a row could not be delivered; the last answer: {answer[:200]}"
    channel.filter(failures__gte=GIVE_UP_AFTER, enabled=True).update(enabled=False, off_reason=reason)


def _finish(message: Notification, **values: object) -> None:
    for name, value in values.items():
        setattr(message, name, value)
    message.save(update_fields=list(values))
