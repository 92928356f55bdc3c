"""The nouns: a municipality, where its records are published, and each file that was found there."""

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone

from sites.keys import validate_key
from sites.stages import Progress, Stage

STUCK_AFTER = timedelta(hours=2)


def untouched_since(moment: datetime) -> Q:
    """A site that was never touched at all is one of them."""
    return Q(updated_at__lt=moment) | Q(updated_at=None)


class SiteQuerySet(models.QuerySet["Site"]):
    def in_pipeline(self) -> "SiteQuerySet":
        """Sites that have been started at least once."""
        return self.filter(current_stage__isnull=False)

    def unfinished(self) -> "SiteQuerySet":
        # Below and above, not "other than": so the index serves it, and an unknown stage is among them.
        return self.filter(Q(current_stage__lt=Stage.COMPLETED) | Q(current_stage__gt=Stage.COMPLETED))

    def stuck(self, now: datetime | None = None) -> "SiteQuerySet":
        """Not completed, not paused and untouched for two hours: the one meaning of the word."""
        return (
            self.unfinished()
            .filter(paused_at=None)
            .filter(untouched_since((now or timezone.now()) - STUCK_AFTER))
        )

    def most_stale_first(self) -> "SiteQuerySet":
        return self.order_by(models.F("updated_at").asc(nulls_first=True), "subdomain")


def _counter(stage: str, what: str) -> models.IntegerField:
    return models.IntegerField(
        default=0, db_default=0, editable=False, db_comment=f"{stage} jobs: {what}, this run"
    )


class Site(models.Model):
    """One municipality: who it is, where it stands, and the fast summary of its ledger."""

    subdomain = models.CharField(primary_key=True)
    name = models.CharField(null=True, blank=True)
    state = models.CharField(null=True, blank=True, help_text="US state, two letters")
    kind = models.CharField(null=True, blank=True, help_text="city, county, school board …")
    scraper = models.CharField(null=True, blank=True)
    pages = models.IntegerField(null=True, blank=True, help_text="pages in the compiled database")
    start_year = models.IntegerField(null=True, blank=True)
    extra = models.TextField(null=True, blank=True)
    country = models.CharField(null=True, blank=True)
    lat = models.CharField(null=True, blank=True)
    lng = models.CharField(null=True, blank=True)

    current_stage = models.CharField(
        null=True,
        blank=True,
        choices=Stage,
        editable=False,
        db_comment="fetch, ocr, compilation, extraction, deploy, completed",
    )
    started_at = models.DateTimeField(null=True, blank=True, editable=False)
    updated_at = models.DateTimeField(null=True, blank=True, editable=False)
    fetch_total = _counter("fetch", "total")
    fetch_completed = _counter("fetch", "completed")
    fetch_failed = _counter("fetch", "failed")
    ocr_total = _counter("ocr", "total")
    ocr_completed = _counter("ocr", "completed")
    ocr_failed = _counter("ocr", "failed")
    compilation_total = _counter("compilation", "total")
    compilation_completed = _counter("compilation", "completed")
    compilation_failed = _counter("compilation", "failed")
    extraction_total = _counter("extraction", "total")
    extraction_completed = _counter("extraction", "completed")
    extraction_failed = _counter("extraction", "failed")
    deploy_total = _counter("deploy", "total")
    deploy_completed = _counter("deploy", "completed")
    deploy_failed = _counter("deploy", "failed")
    coordinator_enqueued = models.BooleanField(
        default=False, db_default=False, editable=False, db_comment="claimed by the one job that may enqueue"
    )
    last_error_stage = models.CharField(null=True, blank=True, editable=False)
    last_error_message = models.TextField(null=True, blank=True, editable=False)
    last_error_at = models.DateTimeField(null=True, blank=True, editable=False)

    run_id = models.BigIntegerField(
        null=True, blank=True, editable=False, db_comment="the run whose jobs may count; null when none may"
    )
    coordinator_seq = models.IntegerField(
        default=0, db_default=0, editable=False, db_comment="how often a coordinator was enqueued"
    )
    paused_at = models.DateTimeField(null=True, blank=True, editable=False)
    pause_reason = models.TextField(blank=True, default="", db_default="", editable=False)
    last_completed_at = models.DateTimeField(null=True, blank=True, editable=False)
    attention_reason = models.TextField(
        blank=True,
        default="",
        db_default="",
        editable=False,
        db_comment="why a person must look; empty when none need",
    )
    attention_at = models.DateTimeField(null=True, blank=True, editable=False)
    languages = models.CharField(
        blank=True, default="eng", db_default="eng", help_text="Tesseract languages, joined by +"
    )
    time_zone = models.CharField(blank=True, default="", db_default="", help_text="e.g. America/Los_Angeles")

    objects = SiteQuerySet.as_manager()

    class Meta:
        db_table = "sites"
        db_table_comment = (
            "Municipalities, where each stands in the pipeline, and the counters of its current run"
        )
        ordering = ["subdomain"]
        indexes = [
            models.Index(fields=["current_stage"], name="idx_sites_current_stage"),
            models.Index(fields=["updated_at"], name="idx_sites_updated_at"),
            models.Index(
                fields=["subdomain", "coordinator_enqueued"],
                name="idx_sites_coordinator_enqueued",
                condition=Q(coordinator_enqueued=False),
            ),
        ]

    def __str__(self) -> str:
        return self.subdomain

    def clean(self) -> None:
        """Where somebody types a new key: it cannot be changed later. What a database has stays as it is."""
        if self._state.adding:
            try:
                validate_key(self.subdomain)
            except ValidationError as error:
                raise ValidationError({"subdomain": error}) from error

    def progress(self, stage: str) -> Progress:
        return Progress(*(getattr(self, f"{stage}_{part}") for part in ("total", "completed", "failed")))

    @property
    def is_stuck(self) -> bool:
        waiting = self.current_stage not in (None, Stage.COMPLETED) and self.paused_at is None
        return waiting and (self.updated_at is None or self.updated_at < timezone.now() - STUCK_AFTER)


class Source(models.Model):
    """One place where a site publishes documents, and how to list it."""

    site = models.ForeignKey(Site, models.CASCADE, related_name="sources", db_column="subdomain")
    platform = models.CharField(max_length=50, help_text="name of the fetcher")
    url = models.TextField()
    options = models.JSONField(default=dict, blank=True)
    enabled = models.BooleanField(default=True, db_default=True)
    cursor = models.JSONField(
        default=dict, blank=True, editable=False, db_comment="where the backfill goes on"
    )
    last_listed_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_count = models.IntegerField(null=True, blank=True, editable=False)
    warning = models.TextField(blank=True, default="", db_default="", editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "sources"
        db_table_comment = "Where a site publishes its documents"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["site", "platform", "url"], name="uix_sources_site_platform_url")
        ]

    def __str__(self) -> str:
        return f"{self.site_id}: {self.platform} {self.url}"


class Kind(models.TextChoices):
    AGENDA = "agenda", "Agenda"
    MINUTES = "minutes", "Minutes"
    PACKET = "packet", "Agenda packet"
    OTHER = "other", "Other"


class Document(models.Model):
    """One file: a version of one meeting's agenda or minutes. A changed file is a new row."""

    site = models.ForeignKey(Site, models.CASCADE, related_name="documents", db_column="subdomain")
    source = models.ForeignKey(Source, models.SET_NULL, null=True, blank=True, related_name="documents")
    external_id = models.TextField(db_comment="the platform's id, or the URL where it has none")
    version = models.IntegerField(default=1, db_default=1)
    revision = models.TextField(
        blank=True, default="", db_default="", db_comment="what the platform changes when it publishes anew"
    )
    superseded_at = models.DateTimeField(null=True, blank=True)
    url = models.TextField(blank=True, default="", db_default="")
    title = models.TextField(blank=True, default="", db_default="")
    body = models.TextField(blank=True, default="", db_default="", db_comment="the meeting body's own name")
    meeting = models.TextField(db_comment="the body as a folder name")
    meeting_date = models.DateField(null=True, blank=True)
    meeting_time = models.TimeField(null=True, blank=True, db_comment="on the city's own clock")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.OTHER)
    cancelled = models.BooleanField(
        default=False, db_default=False, db_comment="the source says it did not take place"
    )
    path = models.TextField(blank=True, default="", db_default="", db_comment="inside the site's storage")
    content_type = models.CharField(max_length=100, blank=True, default="", db_default="")
    sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    size = models.BigIntegerField(null=True, blank=True)
    etag = models.TextField(blank=True, default="", db_default="")
    last_modified = models.TextField(blank=True, default="", db_default="")
    fetched_at = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(
        null=True, blank=True, db_comment="when the source was last asked for changes"
    )
    pages = models.IntegerField(null=True, blank=True)
    skip_reason = models.TextField(
        blank=True, default="", db_default="", db_comment="left out on purpose, and why"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "documents"
        db_table_comment = "Every version of every file found at a source"
        ordering = ["-meeting_date", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "external_id", "version"], name="uix_documents_identity"
            ),
            # Two documents never share a file.
            models.UniqueConstraint(
                fields=["site", "path"], condition=~Q(path=""), name="uix_documents_site_path"
            ),
        ]
        indexes = [
            models.Index(fields=["site", "meeting_date"], name="idx_documents_site_date"),
            models.Index(fields=["kind"], name="idx_documents_kind", condition=Q(superseded_at__isnull=True)),
            # The few that no count of documents includes.
            models.Index(
                fields=["id"],
                name="idx_documents_left_out",
                condition=~Q(skip_reason="") | Q(superseded_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.site_id} {self.body or self.meeting} {self.meeting_date or 'undated'} {self.kind}"
