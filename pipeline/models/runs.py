"""Passes of a site through the pipeline, and passes of reconcile."""

from django.db import models
from django.db.models import Q

from sites.models import Site
from sites.stages import WORK_STAGES

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

    @property
    def is_running(self) -> bool:
        return self.status == Run.Status.RUNNING


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


class ReconcileRun(models.Model):
    """One pass of the repair: what it found, what it repaired, what it gave up."""

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
