"""What readers leave with us: saved searches and their mails, notes on pages, tokens for the API."""

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from sites.models import Document, Site

TOKEN_PREFIX = "clerk_"


# ---- Tokens -------------------------------------------------------------------------------------------


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def issue(self, name: str, by: str, per_minute: int, owner: Any = None) -> tuple["ApiToken", str]:
        """A new token and its secret, which is kept nowhere: only its digest is."""
        secret = f"{TOKEN_PREFIX}{secrets.token_urlsafe(32)}"
        made = {"name": name, "digest": digest_of(secret), "created_by": by, "per_minute": per_minute}
        return self.create(**made, owner=owner), secret

    def active(self, secret: str) -> "ApiToken | None":
        """A person's token ends with the person's account."""
        valid = self.filter(digest=digest_of(secret), revoked_at=None)
        return valid.exclude(owner__is_active=False).select_related("owner").first()

    def revoke(self, *keys: int) -> list[int]:
        """Those of these that were not revoked before."""
        revoked = list(self.filter(pk__in=keys, revoked_at=None).values_list("pk", flat=True))
        self.filter(pk__in=revoked).update(revoked_at=timezone.now())
        return revoked

    def note_use(self, token: "ApiToken") -> None:
        """To the hour: a busy token must not write at every request."""
        now = timezone.now()
        if token.last_used_at is None or token.last_used_at < now - timedelta(hours=1):
            self.filter(pk=token.pk).update(last_used_at=now)


class ApiToken(models.Model):
    name = models.CharField(max_length=100, help_text="what it is for")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="it ends with this person's account; empty: it is no person's",
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    per_minute = models.PositiveIntegerField(default=600, db_default=600, help_text="requests; 0: no limit")
    created_by = models.CharField(max_length=150, blank=True, default="", db_default="", editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        db_table = "api_tokens"
        db_table_comment = "Who may use the API, and how much"
        verbose_name = "API token"
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


def digest_of(secret: str) -> str:
    """The secret is long and random, so one round is enough."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


# ---- Saved searches -----------------------------------------------------------------------------------


class SeenSite(models.Model):
    """Up to which version the arrivals of a site are written down."""

    site = models.OneToOneField(
        Site, models.CASCADE, primary_key=True, db_column="subdomain", related_name="+"
    )
    version = models.CharField(max_length=200)

    class Meta:
        db_table = "arrivals_seen"
        db_table_comment = "Up to which deployed version the arrivals of a site are written down"

    def __str__(self) -> str:
        return f"{self.site_id} {self.version}"


class Arrival(models.Model):
    """A document appeared in the records. Its id orders what is new."""

    site = models.ForeignKey(Site, models.CASCADE, db_column="subdomain", related_name="+", db_index=False)
    document = models.CharField(max_length=16, db_comment="the published id")
    at = models.DateTimeField()
    baseline = models.BooleanField(
        default=False,
        db_default=False,
        db_comment="it was there when its site was first seen: told to nobody",
    )

    class Meta:
        db_table = "arrivals"
        db_table_comment = "When each document first appeared in the records"
        constraints = [models.UniqueConstraint(fields=["site", "document"], name="uix_arrivals_once")]

    def __str__(self) -> str:
        return f"{self.site_id}/{self.document}"


class SavedSearch(models.Model):
    class Frequency(models.TextChoices):
        AT_ONCE = "at_once", "at once"
        DAILY = "daily", "once a day"
        WEEKLY = "weekly", "once a week"

    email = models.EmailField()
    query = models.TextField(db_comment="the search as it stands in an address")
    frequency = models.CharField(max_length=10, choices=Frequency, default=Frequency.DAILY)
    created_at = models.DateTimeField(auto_now_add=True)
    asked_at = models.DateTimeField(
        null=True, blank=True, db_comment="when the mail that asks for confirmation was last sent"
    )
    confirmed_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    seen = models.BigIntegerField(default=0, db_default=0, db_comment="the last arrival it was matched with")
    due_at = models.DateTimeField(null=True, blank=True, db_comment="not matched before")

    class Meta:
        db_table = "saved_searches"
        db_table_comment = "Searches whose new finds are sent by mail"
        verbose_name_plural = "saved searches"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["email", "query"], condition=Q(ended_at=None), name="uix_saved_searches_once"
            ),
            models.CheckConstraint(
                condition=Q(frequency__in=["at_once", "daily", "weekly"]), name="ck_saved_searches_frequency"
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                name="idx_saved_searches_due",
                condition=Q(ended_at=None, confirmed_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.query} for {self.email}"


class Alert(models.Model):
    """One mail to one reader: what it tells, whether it went out, and what was answered."""

    class Status(models.TextChoices):
        PENDING = "pending"
        SENT = "sent"
        FAILED = "failed"

    search = models.ForeignKey(SavedSearch, models.CASCADE, related_name="alerts")
    after = models.BigIntegerField(db_comment="the arrivals behind this one ...")
    until = models.BigIntegerField(db_comment="... up to this one")
    hits = models.JSONField(default=list, db_comment="site, document and page of each find that is told")
    total = models.IntegerField(default=0, db_default=0)
    status = models.CharField(
        max_length=10, choices=Status, default=Status.PENDING, db_default=Status.PENDING
    )
    attempts = models.IntegerField(default=0, db_default=0)
    answer = models.TextField(blank=True, default="", db_default="", db_comment="what the last attempt got")
    next_attempt_at = models.DateTimeField(db_comment="not before; also the end of a running attempt's lease")
    sent_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "alerts"
        db_table_comment = "Mails of saved searches: what was told to whom, and whether it went out"
        ordering = ["-id"]
        constraints = [
            # An arrival is told to a search once.
            models.UniqueConstraint(fields=["search", "until"], name="uix_alerts_once"),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "sent", "failed"]), name="ck_alerts_status"
            ),
        ]
        indexes = [models.Index(fields=["status", "next_attempt_at"], name="idx_alerts_due")]

    def __str__(self) -> str:
        return f"{self.total} finds for {self.search_id}: {self.status}"


# ---- Notes --------------------------------------------------------------------------------------------


class Note(models.Model):
    """A reader says that something on a page is not right."""

    class About(models.TextChoices):
        TEXT = "text", "The text is not what the page says"
        FACTS = "facts", "A vote, a name or an amount is wrong"
        DATE = "date", "The date, the body or the kind is wrong"
        PRIVATE = "private", "It shows what should not be public"
        OTHER = "other", "Something else"

    site = models.ForeignKey(Site, models.CASCADE, db_column="subdomain", related_name="notes")
    document = models.ForeignKey(Document, models.SET_NULL, null=True, blank=True, related_name="notes")
    published_id = models.CharField(max_length=16)
    page = models.IntegerField()
    about = models.CharField(max_length=10, choices=About, default=About.OTHER)
    text = models.TextField(max_length=2000)
    email = models.EmailField(blank=True, default="", db_default="")
    at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, blank=True)
    settled_by = models.CharField(max_length=150, blank=True, default="", db_default="")
    answer = models.TextField(blank=True, default="", db_default="", db_comment="what was done about it")

    class Meta:
        db_table = "page_notes"
        db_table_comment = "What readers say is not right"
        ordering = ["-id"]
        indexes = [models.Index(fields=["at"], name="idx_page_notes_open", condition=Q(settled_at=None))]

    def __str__(self) -> str:
        return f"{self.site_id}/{self.published_id}, page {self.page}: {self.get_about_display()}"
