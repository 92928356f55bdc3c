"""What went wrong, gathered: errors of one kind as one thing to look at, and the log of every job."""

from django.db import models

from pipeline.indexes import NamedIndex
from pipeline.models.runs import STAGE_CHOICES, Run


class ErrorGroup(models.Model):
    """Failures of one code, one message (numbers, dates and addresses apart) and one platform."""

    fingerprint = models.CharField(max_length=16, primary_key=True)
    code = models.CharField(max_length=50)
    stage = models.CharField(max_length=20, choices=STAGE_CHOICES)
    platform = models.CharField(max_length=50, blank=True, default="", db_default="")
    message = models.TextField(blank=True, default="", db_default="")
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    total = models.IntegerField(default=0, db_default=0, db_comment="failed attempts since the first")
    ignored_at = models.DateTimeField(null=True, blank=True)
    assignee = models.CharField(max_length=150, blank=True, default="", db_default="")
    note = models.TextField(blank=True, default="", db_default="")

    class Meta:
        db_table = "error_groups"
        db_table_comment = "Failures of one kind as one thing to look at, ignore, assign and retry"
        ordering = ["-last_seen"]
        verbose_name = "error group"

    def __str__(self) -> str:
        where = f" ({self.platform})" if self.platform else ""
        return f"{self.code} in {self.stage}{where}"


class ErrorDay(models.Model):
    """How often a group was seen on one day."""

    group = models.ForeignKey(ErrorGroup, models.CASCADE, related_name="days", db_index=False)
    day = models.DateField()
    count = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = "error_days"
        db_table_comment = "Failed attempts by error group and day"
        ordering = ["day"]
        constraints = [models.UniqueConstraint(fields=["group", "day"], name="uix_error_days_group_day")]

    def __str__(self) -> str:
        return f"{self.day}: {self.count}"


class LogLine(models.Model):
    """A line that a job wrote: bounded in length and number, and kept for LOG_DAYS days."""

    at = models.DateTimeField()
    run = models.ForeignKey(Run, models.CASCADE, related_name="log", db_index=False)
    row_id = models.BigIntegerField(null=True, blank=True, db_comment="the ledger row; null of a coordinator")
    stage = models.CharField(max_length=20, blank=True, default="", db_default="")
    job_id = models.CharField(max_length=100, blank=True, default="", db_default="")
    level = models.CharField(max_length=10)
    event = models.CharField(max_length=200)
    fields = models.JSONField(default=dict, blank=True)

    class Meta:
        db_table = "log_lines"
        db_table_comment = "What jobs wrote, by run and ledger row"
        ordering = ["-id"]
        verbose_name = "log line"
        indexes = [
            NamedIndex(fields=["run", "id"], name="idx_log_lines_run"),
            NamedIndex(fields=["row_id", "id"], name="idx_log_lines_row"),
            NamedIndex(fields=["at"], name="idx_log_lines_at"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.level} {self.event}"
