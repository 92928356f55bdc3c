"""Runs, the ledger, interventions, reconcile runs, webhooks."""

from datetime import datetime
from enum import nonmember

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.utils import get_random_secret_key
from django.db import models
from django.db.models import F, Q

from pipeline.indexes import NamedIndex
from sites.models import Document, Kind, Site, Source
from sites.stages import WORK_STAGES, Stage

STAGE_CHOICES = [(stage.value, stage.label) for stage in WORK_STAGES]


class RunQuerySet(models.QuerySet["Run"]):
    def running(self) -> "RunQuerySet":
        return self.filter(status=Run.Status.RUNNING)


class Run(models.Model):
    """One pass of a site through the pipeline. Its id fences off every job of an earlier pass."""

    class Status(models.TextChoices):
        RUNNING = "running"
        COMPLETED = "completed"
        FAILED = "failed"
        CANCELLED = "cancelled"
        SUPERSEDED = "superseded"

    class Priority(models.IntegerChoices):
        NORMAL = 0, "normal"
        HIGH = 1, "high"

    site = models.ForeignKey(Site, models.CASCADE, related_name="runs", db_column="subdomain")
    status = models.CharField(
        max_length=10, choices=Status, default=Status.RUNNING, db_default=Status.RUNNING
    )
    priority = models.SmallIntegerField(choices=Priority, default=Priority.NORMAL, db_default=Priority.NORMAL)
    started_by = models.CharField(max_length=150, blank=True, default="", db_default="")
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    message = models.TextField(blank=True, default="", db_default="", db_comment="how it ended, in words")
    recoveries = models.IntegerField(
        default=0, db_default=0, db_comment="by reconcile, since the run last got further"
    )
    recovered_at_progress = models.CharField(
        max_length=100, blank=True, default="", db_default="", db_comment="how far it was at the last of them"
    )

    objects = RunQuerySet.as_manager()

    class Meta:
        db_table = "runs"
        db_table_comment = "Passes of a site through the pipeline"
        ordering = ["-id"]
        permissions = [("operate_pipeline", "Can start, retry, pause, cancel and skip")]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["running", "completed", "failed", "cancelled", "superseded"]),
                name="ck_runs_status",
            ),
            models.UniqueConstraint(
                fields=["site"], condition=Q(status="running"), name="uix_runs_one_running"
            ),
        ]
        indexes = [models.Index(fields=["started_at"], name="idx_runs_started_at")]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.site_id}"


class RunStage(models.Model):
    """One transition: this run entered this stage, once, and left it with these counts."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="stages")
    stage = models.CharField(max_length=20, choices=STAGE_CHOICES)
    opened_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    total = models.IntegerField(default=0, db_default=0)
    completed = models.IntegerField(default=0, db_default=0)
    failed = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = "run_stages"
        db_table_comment = "When each run entered and left each stage, and with what counts"
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["run", "stage"], name="uix_run_stages_run_stage")]
        indexes = [models.Index(fields=["stage", "finished_at"], name="idx_run_stages_stage_finished")]

    def __str__(self) -> str:
        return f"{self.stage} of run {self.run_id}"


class Status(models.TextChoices):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    PROCESSED = "processed"
    FAILED_RETRYABLE = "failed_retryable"
    FAILED_TERMINAL = "failed_terminal"

    # To be sent, or sent and not yet taken; not ended; failed, for now or for good; ended.
    WAITING = nonmember(("pending", "failed_retryable"))
    OPEN = nonmember(("pending", "in_progress", "failed_retryable"))
    FAILED = nonmember(("failed_retryable", "failed_terminal"))
    ENDED = nonmember(("processed", "failed_terminal"))


class Intervention(models.Model):
    """Something a person did by hand: to what, why, and who."""

    site = models.ForeignKey(
        Site, models.CASCADE, null=True, blank=True, related_name="interventions", db_column="subdomain"
    )
    document = models.ForeignKey(
        Document, models.SET_NULL, null=True, blank=True, related_name="interventions"
    )
    action = models.CharField(max_length=40)
    reason = models.TextField(blank=True, default="", db_default="")
    by = models.CharField(max_length=150, blank=True, default="", db_default="")
    at = models.DateTimeField(auto_now_add=True)
    unstuck = models.BooleanField(
        default=False, db_default=False, db_comment="the site was stuck, so this counts against the drops"
    )
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        db_table = "interventions"
        db_table_comment = "What people did by hand"
        ordering = ["-at"]
        indexes = [models.Index(fields=["at"], name="idx_interventions_at")]

    def __str__(self) -> str:
        return f"{self.action} {self.site_id or ''} by {self.by or 'unknown'}"


# Done, and yet with nothing to show. OCR fails such a document (`no_text`), so there should be none.
WITHOUT_TEXT = Q(pipeline=Stage.OCR.value, status=Status.PROCESSED.value, facts__characters=0)


class LedgerQuerySet(models.QuerySet["DocumentState"]):
    def waiting(self) -> "LedgerQuerySet":
        return self.filter(status__in=Status.WAITING)

    def open(self) -> "LedgerQuerySet":
        return self.filter(status__in=Status.OPEN)

    def failed(self) -> "LedgerQuerySet":
        return self.filter(status__in=Status.FAILED)

    def quiet(self, now: datetime, since: datetime) -> "LedgerQuerySet":
        """Open rows of sites that are in that run, untouched since then and not waiting for their time."""
        return self.open().filter(
            Q(retry_at=None) | Q(retry_at__lte=now),
            pipeline__in=WORK_STAGES,
            updated_at__lt=since,
            site__run_id=F("run_id"),
            site__paused_at=None,
            site__current_stage__in=WORK_STAGES,
        )


class DocumentState(models.Model):
    """One ledger row: what happened to one document (or one unit of a site) in one stage."""

    site = models.ForeignKey(
        Site, models.CASCADE, related_name="ledger", db_column="subdomain", db_index=False
    )
    document = models.ForeignKey(
        Document, models.CASCADE, null=True, blank=True, related_name="ledger", db_index=False
    )
    pipeline = models.CharField(max_length=20, choices=STAGE_CHOICES, db_comment="the stage")
    unit = models.CharField(
        max_length=40,
        blank=True,
        default="",
        db_default="",
        db_comment="site, or source:<id>, where there is no document",
    )
    status = models.CharField(
        max_length=20, choices=Status, default=Status.PENDING, db_default=Status.PENDING
    )
    attempt_count = models.IntegerField(default=0, db_default=0)
    worker_deaths = models.IntegerField(
        default=0, db_default=0, db_comment="workers that died on it since it last got further"
    )
    resumptions = models.IntegerField(
        default=0, db_default=0, db_comment="attempts that ran out of time and got further"
    )
    error_code = models.CharField(max_length=50, null=True, blank=True)
    error_message = models.TextField(null=True, blank=True)
    last_attempt_at = models.DateTimeField(null=True, blank=True)
    retry_at = models.DateTimeField(
        null=True, blank=True, db_comment="when a retryable failure is tried again"
    )
    processed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    run = models.ForeignKey(
        Run, models.SET_NULL, null=True, blank=True, related_name="ledger", db_index=False
    )
    attempt_token = models.UUIDField(
        null=True, blank=True, db_comment="fences off every attempt but the last"
    )
    enqueue_seq = models.IntegerField(default=0, db_default=0, db_comment="part of the queue job's id")
    rq_job_id = models.CharField(max_length=100, blank=True, default="", db_default="")
    delivery = models.IntegerField(default=0, db_default=0, db_comment="which delivery of that queue job")
    progress_done = models.IntegerField(default=0, db_default=0)
    progress_total = models.IntegerField(default=0, db_default=0)
    facts = models.JSONField(
        default=dict, blank=True, db_comment="what the work reported: pages, characters, seconds"
    )
    intervention = models.ForeignKey(
        Intervention,
        models.SET_NULL,
        null=True,
        blank=True,
        db_index=False,
        db_comment="the last reset by a person",
    )
    retried = models.IntegerField(default=0, db_default=0, db_comment="how often a person had it tried again")

    objects = LedgerQuerySet.as_manager()

    class Meta:
        db_table = "document_pipeline_state"
        db_table_comment = "The ledger: one row for each document (or unit) in each stage"
        verbose_name = "ledger row"
        verbose_name_plural = "ledger rows"
        constraints = [
            models.CheckConstraint(condition=Q(status__in=Status.values), name="ck_dps_status"),
            models.CheckConstraint(
                condition=Q(pipeline__in=[stage.value for stage in WORK_STAGES]), name="ck_dps_pipeline"
            ),
            models.CheckConstraint(
                condition=Q(document__isnull=False, unit="") | (Q(document__isnull=True) & ~Q(unit="")),
                name="ck_dps_document_or_unit",
            ),
            models.UniqueConstraint(fields=["document", "pipeline"], name="uix_dps_document_pipeline"),
            models.UniqueConstraint(
                fields=["site", "pipeline", "unit"],
                condition=Q(document__isnull=True),
                name="uix_dps_site_pipeline_unit",
            ),
        ]
        indexes = [
            NamedIndex(
                fields=["pipeline", "status", "last_attempt_at"], name="idx_dps_pipeline_status_last_attempt"
            ),
            NamedIndex(fields=["pipeline", "status", "created_at"], name="idx_dps_pipeline_status_created"),
            NamedIndex(fields=["document", "pipeline", "status"], name="idx_dps_document_pipeline_status"),
            NamedIndex(fields=["error_code"], name="idx_dps_error_code"),
            NamedIndex(fields=["updated_at"], name="idx_dps_updated_at"),
            NamedIndex(fields=["site", "pipeline", "run", "status"], name="idx_dps_site_pipeline_run_status"),
            # What failed, by code, without reading what did not.
            NamedIndex(
                fields=["error_code", "pipeline", "status"],
                name="idx_dps_failed",
                condition=Q(status__in=["failed_retryable", "failed_terminal"]),
            ),
            NamedIndex(fields=["site"], name="idx_dps_without_text", condition=WITHOUT_TEXT),
        ]

    def __str__(self) -> str:
        return f"{self.unit or f'document {self.document_id}'} @ {self.pipeline}"

    @property
    def max_attempts(self) -> int:
        return settings.MAX_ATTEMPTS


class ReconcileRun(models.Model):
    """One pass of the repair: what it found, what it mended, what it gave up."""

    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    found = models.IntegerField(default=0, db_default=0)
    recovered = models.IntegerField(default=0, db_default=0)
    given_up = models.IntegerField(default=0, db_default=0)
    error = models.TextField(blank=True, default="", db_default="")
    repairs = models.JSONField(default=list, blank=True)

    class Meta:
        db_table = "reconcile_runs"
        db_table_comment = "Every pass of reconcile"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"reconcile {self.pk}: {self.found} found, {self.recovered} recovered"


class Adoption(models.Model):
    """A site of the old system that was taken over: what it had before, and what it has since."""

    site = models.OneToOneField(
        Site, models.CASCADE, primary_key=True, related_name="adoption", db_column="subdomain"
    )
    at = models.DateTimeField(auto_now_add=True)
    by = models.CharField(max_length=150, blank=True, default="", db_default="")
    run_id = models.BigIntegerField(
        null=True, blank=True, db_comment="the run that tells its history; null where it has none"
    )
    pages_before = models.IntegerField(default=0, db_default=0, db_comment="in the old system's database")
    documents_before = models.IntegerField(default=0, db_default=0)
    pages = models.IntegerField(default=0, db_default=0, db_comment="with text, in storage")
    documents = models.IntegerField(default=0, db_default=0)
    unread = models.IntegerField(
        default=0, db_default=0, db_comment="documents still to be read, in part or whole"
    )
    left_out = models.JSONField(default=list, blank=True, db_comment="files that could not be read")
    before = models.JSONField(default=dict, blank=True, db_comment="where the site stood, for the way back")

    class Meta:
        db_table = "adoptions"
        db_table_comment = "Sites that were taken over from the old system"
        ordering = ["site"]

    def __str__(self) -> str:
        return f"{self.site_id}: {self.documents} documents, {self.pages} pages"


class Publication(models.Model):
    """How much of a site readers can read now; a deploy that would show them much less asks first."""

    site = models.OneToOneField(
        Site, models.CASCADE, primary_key=True, related_name="publication", db_column="subdomain"
    )
    pages = models.IntegerField()
    documents = models.IntegerField()
    version = models.CharField(max_length=100, blank=True, default="", db_default="")
    at = models.DateTimeField()

    class Meta:
        db_table = "publications"
        db_table_comment = "How much of each site is published now"
        ordering = ["site"]

    def __str__(self) -> str:
        return f"{self.site_id}: {self.pages} pages of {self.documents} documents"


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


# ---- What people decided about a document -------------------------------------------------------------


class Decision(models.Model):
    """About one document at its source: it holds for every version of it, and for those to come."""

    site = models.ForeignKey(Site, models.CASCADE, related_name="+", db_column="subdomain")
    source = models.ForeignKey(Source, models.SET_NULL, null=True, blank=True, related_name="+")
    external_id = models.TextField()
    reason = models.TextField(blank=True, default="", db_default="")
    by = models.CharField(max_length=150, blank=True, default="", db_default="")

    class Meta:
        abstract = True


class Correction(Decision):
    """What the source says of a document and is not so. Null: that is as the source says."""

    meeting_date = models.DateField(null=True, blank=True)
    body = models.TextField(null=True, blank=True)
    kind = models.CharField(max_length=10, choices=Kind, null=True, blank=True)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "document_corrections"
        db_table_comment = "Dates, bodies and kinds of documents that people put right"
        constraints = [
            models.UniqueConstraint(fields=["site", "source", "external_id"], name="uix_corrections_document")
        ]

    def __str__(self) -> str:
        return f"{self.site_id} {self.external_id}"


class Takedown(Decision):
    """A document that is not to be read by anybody, and not to be fetched again, until it is lifted."""

    at = models.DateTimeField(auto_now_add=True)
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.CharField(max_length=150, blank=True, default="", db_default="")

    class Meta:
        db_table = "takedowns"
        db_table_comment = "Documents taken out of the records, and why"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["site", "source", "external_id"],
                condition=Q(lifted_at=None),
                name="uix_takedowns_document",
            )
        ]

    def __str__(self) -> str:
        return f"{self.site_id} {self.external_id}"
