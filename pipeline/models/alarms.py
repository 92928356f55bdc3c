"""What somebody should know of, whom it is told to, and every message that was sent."""

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, validate_email
from django.db import models
from django.db.models import Q

from pipeline.redaction import masked
from sites.models import Site


class AlarmKind(models.TextChoices):
    ATTENTION = "attention", "needs a person"
    FAILED = "failed", "site failing"
    SILENT = "silent", "source silent"
    QUEUE = "queue", "queue without a worker"
    RECONCILE = "reconcile", "reconcile missing"
    DISK = "disk", "disk low"
    SHRINK = "shrink", "deploy stopped: it would publish much less"
    CHANNEL = "channel", "a channel was switched off"


def all_kinds() -> list[str]:
    return [kind.value for kind in AlarmKind]


class Alarm(models.Model):
    """One thing that is wrong, from when it began until it was over. Of one key at most one is open."""

    key = models.CharField(max_length=300)
    kind = models.CharField(max_length=10, choices=AlarmKind)
    site = models.ForeignKey(
        Site, models.CASCADE, null=True, blank=True, related_name="alarms", db_column="subdomain"
    )
    title = models.TextField()
    message = models.TextField(blank=True, default="", db_default="")
    seen_at = models.DateTimeField(db_comment="when it was first seen; it opens once it has lasted a while")
    opened_at = models.DateTimeField(null=True, blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "alarms"
        db_table_comment = "What somebody should know of, from its beginning to its end"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["key"], condition=Q(resolved_at=None), name="uix_alarms_one_open")
        ]
        indexes = [models.Index(fields=["resolved_at", "opened_at"], name="idx_alarms_open")]

    def __str__(self) -> str:
        return self.title


class Channel(models.Model):
    """Where alarms are told: addresses of mail, or any address that Apprise knows."""

    class Way(models.TextChoices):
        MAIL = "mail", "mail"
        APPRISE = "apprise", "chat or push (Apprise)"

    name = models.CharField(max_length=100, unique=True)
    way = models.CharField(max_length=10, choices=Way, default=Way.MAIL, db_default=Way.MAIL)
    address = models.TextField(help_text="mail addresses with commas, or one Apprise address")
    kinds = models.JSONField(default=all_kinds, help_text="what is told here")
    quiet_from = models.TimeField(null=True, blank=True, help_text="nothing is sent from here …")
    quiet_until = models.TimeField(null=True, blank=True, help_text="… to here, on the installation's clock")
    digest_hour = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MaxValueValidator(23)],
        help_text="hour of the daily digest; empty: no digest",
    )
    enabled = models.BooleanField(default=True, db_default=True)
    failures = models.IntegerField(
        default=0, db_default=0, editable=False, db_comment="messages in a row that could not be delivered"
    )
    off_reason = models.TextField(blank=True, default="", db_default="", editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "channels"
        db_table_comment = "Where alarms are told"
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name

    @property
    def recipients(self) -> list[str]:
        return [address.strip() for address in self.address.split(",") if address.strip()]

    @property
    def shown_address(self) -> str:
        """Addresses of chats are keys: who has one can write there."""
        return self.address if self.way == self.Way.MAIL else masked(self.address)

    def clean(self) -> None:
        if self.way == self.Way.MAIL:
            if not self.recipients:
                raise ValidationError({"address": "expected at least one mail address"})
            for address in self.recipients:
                validate_email(address)
        if not isinstance(self.kinds, list) or not set(map(str, self.kinds)) <= set(AlarmKind.values):
            raise ValidationError({"kinds": f"expected a list of {', '.join(AlarmKind.values)}"})
        if (self.quiet_from is None) != (self.quiet_until is None):
            raise ValidationError({"quiet_until": "quiet hours have a beginning and an end"})

    def wants(self, kind: str) -> bool:
        return isinstance(self.kinds, list) and kind in self.kinds


class Notification(models.Model):
    """One message to one channel: what it said, how often it was tried, and what became of it."""

    class What(models.TextChoices):
        ALARMS = "alarms", "alarms"
        DIGEST = "digest", "daily digest"
        TEST = "test", "test"

    class Status(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"

    channel = models.ForeignKey(Channel, models.CASCADE, related_name="notifications")
    what = models.CharField(max_length=10, choices=What, default=What.ALARMS, db_default=What.ALARMS)
    day = models.DateField(null=True, blank=True, db_comment="of a digest: one a day")
    title = models.TextField()
    body = models.TextField()
    bad = models.BooleanField(default=False, db_default=False, db_comment="it tells of something new wrong")
    status = models.CharField(
        max_length=10, choices=Status, default=Status.PENDING, db_default=Status.PENDING
    )
    attempts = models.IntegerField(default=0, db_default=0)
    answer = models.TextField(blank=True, default="", db_default="", db_comment="what the last attempt got")
    next_attempt_at = models.DateTimeField(db_comment="not before; also the end of a running attempt's lease")
    last_attempt_at = models.DateTimeField(null=True, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "notifications"
        db_table_comment = "Every message that was sent about alarms, and whether it arrived"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["channel", "day"], condition=Q(what="digest"), name="uix_notifications_one_digest"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "delivered", "failed"]), name="ck_notifications_status"
            ),
        ]
        indexes = [models.Index(fields=["status", "next_attempt_at"], name="idx_notifications_due")]

    def __str__(self) -> str:
        return self.title


class Notice(models.Model):
    """That an alarm opened, or was resolved, is told to one channel once."""

    class Phase(models.TextChoices):
        OPENED = "opened"
        RESOLVED = "resolved"

    alarm = models.ForeignKey(Alarm, models.CASCADE, related_name="notices")
    channel = models.ForeignKey(Channel, models.CASCADE, related_name="notices")
    phase = models.CharField(max_length=10, choices=Phase)
    notification = models.ForeignKey(
        Notification, models.SET_NULL, null=True, blank=True, related_name="notices"
    )
    created_at = models.DateTimeField()
    dropped = models.BooleanField(
        default=False, db_default=False, db_comment="over before it could be told: nobody was"
    )

    class Meta:
        db_table = "notices"
        db_table_comment = "which alarm was told to which channel, in which message"
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["alarm", "channel", "phase"], name="uix_notices_once")]

    def __str__(self) -> str:
        return f"{self.alarm_id} {self.phase}"
