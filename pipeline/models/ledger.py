"""The ledger: what happened to each document in each stage."""

from datetime import datetime
from enum import nonmember

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from pipeline.indexes import NamedIndex
from pipeline.models.decisions import Intervention
from pipeline.models.runs import STAGE_CHOICES, Run
from sites.models import Document, Site
from sites.stages import WORK_STAGES, Stage


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


# Done, and yet with nothing to show. OCR fails such a document (`no_text`), so there should be none.
WITHOUT_TEXT = Q(pipeline=Stage.OCR.value, status=Status.PROCESSED.value, facts__characters=0)


# The first is `pipeline.errors.SKIPPED`, which a model does not know.
LEFT_OUT = Q(error_code="skipped") | ~Q(document__skip_reason="") | Q(document__superseded_at__isnull=False)
LEFT_OUT &= Q(document__isnull=False)


class LedgerQuerySet(models.QuerySet["DocumentState"]):
    def waiting(self) -> "LedgerQuerySet":
        return self.filter(status__in=Status.WAITING)

    def open(self) -> "LedgerQuerySet":
        return self.filter(status__in=Status.OPEN)

    def failed(self) -> "LedgerQuerySet":
        return self.filter(status__in=Status.FAILED)

    def failures(self) -> "LedgerQuerySet":
        """What has failed for good and somebody may want back: the one meaning of the word on every page."""
        return self.filter(status=Status.FAILED_TERMINAL).exclude(LEFT_OUT)

    def left_out(self) -> "LedgerQuerySet":
        """Ended as failed and no failure: of a document skipped on purpose, or replaced since."""
        return self.filter(LEFT_OUT, status=Status.FAILED_TERMINAL)

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
    error_group = models.CharField(
        max_length=16, blank=True, default="", db_default="", db_comment="fingerprint of the last failure"
    )
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
        verbose_name = "step of a document"
        verbose_name_plural = "steps of documents"
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
            NamedIndex(
                fields=["error_group"],
                name="idx_dps_error_group",
                condition=Q(status__in=["failed_retryable", "failed_terminal"]),
            ),
            NamedIndex(fields=["site"], name="idx_dps_without_text", condition=WITHOUT_TEXT),
        ]

    def __str__(self) -> str:
        return f"{self.unit or f'document {self.document_id}'} in {self.pipeline}"

    @property
    def is_left_out(self) -> bool:
        """Of a document that is skipped on purpose, or replaced: nobody waits for it."""
        document = self.document
        skipped = document is not None and bool(document.skip_reason or document.superseded_at)
        return self.status != Status.PROCESSED and (self.error_code == "skipped" or skipped)

    @property
    def max_attempts(self) -> int:
        return settings.MAX_ATTEMPTS
