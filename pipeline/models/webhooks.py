"""Servers that are told when a run ends, and what they were told."""

from django.core.exceptions import ValidationError
from django.core.management.utils import get_random_secret_key
from django.db import models
from django.db.models import Q

from pipeline.models.runs import Run
from sites.models import Site


def list_of_events() -> list[str]:
    return ["completed", "failed"]


class Webhook(models.Model):
    """A server that is told when a run ends."""

    class Event(models.TextChoices):
        COMPLETED = "completed"
        FAILED = "failed"

    site = models.ForeignKey(
        Site,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="webhooks",
        db_column="subdomain",
        help_text="empty: every site",
    )
    url = models.URLField(max_length=500)
    secret = models.CharField(max_length=200, default=get_random_secret_key, help_text="signs what is sent")
    events = models.JSONField(default=list_of_events, help_text='of "completed" and "failed"')
    enabled = models.BooleanField(default=True, db_default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "webhooks"
        db_table_comment = "Servers that are told when a run ends"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.url} for {self.site_id or 'every site'}"

    def clean(self) -> None:
        known = set(self.Event.values)
        if not isinstance(self.events, list) or not self.events or not set(map(str, self.events)) <= known:
            raise ValidationError({"events": 'expected a list of "completed", "failed" or both'})

    def wants(self, event: str) -> bool:
        """A row that was written past every check wants nothing."""
        return isinstance(self.events, list) and event in self.events


class WebhookDelivery(models.Model):
    """One thing told to one server: what, how often it was tried, and what was answered."""

    class Status(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    run = models.ForeignKey(Run, models.CASCADE, related_name="webhook_deliveries")
    event = models.CharField(max_length=10, choices=Webhook.Event)
    payload = models.JSONField()
    status = models.CharField(
        max_length=10, choices=Status, default=Status.PENDING, db_default=Status.PENDING
    )
    attempts = models.IntegerField(default=0, db_default=0)
    answer = models.TextField(blank=True, default="", db_default="", db_comment="what the last attempt got")
    next_attempt_at = models.DateTimeField(db_comment="not before; also the end of a running attempt's lease")
    last_attempt_at = models.DateTimeField(null=True, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "webhook_deliveries"
        db_table_comment = "What was told to whom, and whether it arrived"
        verbose_name_plural = "webhook deliveries"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["webhook", "run", "event"], name="uix_webhook_deliveries_once"),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "delivered", "failed"]),
                name="ck_webhook_deliveries_status",
            ),
        ]
        indexes = [models.Index(fields=["status", "next_attempt_at"], name="idx_webhook_deliveries_due")]

    def __str__(self) -> str:
        return f"{self.event} of run {self.run_id}: {self.status}"
