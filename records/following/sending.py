"""Mails go out: each is claimed, tried again when the server will not take it, and kept on record."""

import smtplib
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import F
from django.utils import timezone

from records.following import mail, saving
from records.models import Alert, SavedSearch

log = structlog.get_logger()
ATTEMPTS = 5
FIRST_WAIT = timedelta(minutes=5)
# A mail whose sender died in the middle is free again after this.
LEASE = timedelta(minutes=10)
Status = Alert.Status


class Unreachable(Exception):
    """The mail server does not answer: that is no mail's fault, and costs none an attempt."""


@dataclass(frozen=True)
class Sent:
    sent: int = 0
    failed: int = 0
    asked: int = 0


def is_possible() -> bool:
    return bool(settings.EMAIL_HOST)


def opened() -> BaseEmailBackend:
    connection: BaseEmailBackend = get_connection()
    try:
        connection.open()
    except (smtplib.SMTPException, OSError) as error:
        raise Unreachable(f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}: {error}") from error
    return connection


def send_due(now: datetime) -> Sent:
    """Every mail that is due. Raises Unreachable where there is something to send and no server takes it."""
    asking = saving.to_ask(now)
    due = list(Alert.objects.filter(status=Status.PENDING, next_attempt_at__lte=now).order_by("pk"))
    if not asking and not due:
        return Sent()
    connection = opened()
    try:
        asked = sum(ask(search, connection) for search in asking)
        outcomes = [deliver(alert.pk, connection) for alert in due]
    finally:
        connection.close()
    return Sent(outcomes.count(Status.SENT), outcomes.count(Status.FAILED), asked)


# ---- The mail that asks -------------------------------------------------------------------------------


def ask(search: SavedSearch, connection: BaseEmailBackend | None = None) -> bool:
    """Send it now, or leave it for the next round."""
    now = timezone.now()
    if not saving.claim_asking(search.pk, now):
        return False
    try:
        (connection or get_connection()).send_messages([mail.to_ask(search)])
    except (smtplib.SMTPException, OSError) as error:
        if refused_for_good(error):
            saving.stop(search.pk)
        else:
            saving.release_asking(search.pk, now)
        log.warning("a mail that asks could not be sent", search=search.pk, error=_in_short(error))
        return False
    return True


# ---- The mail that tells ------------------------------------------------------------------------------


def deliver(alert_id: int, connection: BaseEmailBackend) -> str:
    """One attempt. The guarded update lets one of two senders through."""
    now = timezone.now()
    claimed = Alert.objects.filter(pk=alert_id, status=Status.PENDING, next_attempt_at__lte=now).update(
        attempts=F("attempts") + 1, next_attempt_at=now + LEASE
    )
    if not claimed:
        return ""
    alert = Alert.objects.select_related("search").get(pk=alert_id)
    if alert.search.ended_at:
        return _finish(alert, status=Status.FAILED, answer="the search was ended before")
    message = mail.of_alert(alert)
    if message is None:
        return _finish(alert, status=Status.FAILED, answer="what was found is not in the records any more")
    try:
        connection.send_messages([message])
    except (smtplib.SMTPException, OSError) as error:
        connection.close()  # in whatever state it is
        return _failed(alert, error)
    return _finish(alert, status=Status.SENT, sent_at=timezone.now(), answer="")


def _failed(alert: Alert, error: Exception) -> str:
    answer = _in_short(error)
    log.warning("mail", search=alert.search_id, alert=alert.pk, attempts=alert.attempts, error=answer)
    if refused_for_good(error):
        # There is nobody at that address: whatever came later would be refused, too.
        saving.stop(alert.search_id)
    elif alert.attempts < ATTEMPTS:
        wait = FIRST_WAIT * 4 ** (alert.attempts - 1)
        return _finish(alert, next_attempt_at=timezone.now() + wait, answer=answer)
    return _finish(alert, status=Status.FAILED, answer=answer)


def refused_for_good(error: Exception) -> bool:
    """The server knows the address and says no: by RFC 5321 codes of 500 and above are final."""
    if not isinstance(error, smtplib.SMTPRecipientsRefused):
        return False
    return all(code >= 500 for code, _ in error.recipients.values())


def _in_short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _finish(alert: Alert, **values: object) -> str:
    """Only while it is still this attempt's: one whose lease ran out may be in other hands."""
    changed = Alert.objects.filter(pk=alert.pk, status=Status.PENDING, attempts=alert.attempts)
    changed.update(**values)
    return str(values.get("status", Status.PENDING))
