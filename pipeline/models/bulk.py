"""One act on many things, worked off in the background: what it is on, how far it is, what was refused."""

from django.db import models
from django.db.models import Q

from pipeline.indexes import NamedIndex


class BulkAct(models.Model):
    """What a person asked for, on how many, and how it stands."""

    class Status(models.TextChoices):
        RUNNING = "running"
        FINISHED = "finished"
        STOPPED = "stopped"

    act = models.CharField(max_length=40)
    label = models.CharField(max_length=100)
    by = models.CharField(max_length=150, blank=True, default="", db_default="")
    reason = models.TextField(blank=True, default="", db_default="")
    status = models.CharField(
        max_length=10, choices=Status, default=Status.RUNNING, db_default=Status.RUNNING
    )
    total = models.IntegerField(default=0, db_default=0)
    seq = models.IntegerField(default=0, db_default=0, db_comment="part of the queue job's id")
    began_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "bulk_acts"
        db_table_comment = "Acts on many at once, worked off in slices by a job"
        ordering = ["-id"]
        verbose_name = "bulk act"
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["running", "finished", "stopped"]), name="ck_bulk_acts_status"
            )
        ]

    def __str__(self) -> str:
        return f"{self.label}, {self.total:,} in all"


class BulkItem(models.Model):
    """One thing that the act is on. Its status changes in the transaction that acts: once, or not at all."""

    class Status(models.TextChoices):
        WAITING = "waiting"
        DONE = "done"
        REFUSED = "refused"

    bulk = models.ForeignKey(BulkAct, models.CASCADE, related_name="items", db_index=False)
    key = models.CharField(max_length=200, db_comment="of a site, or of a document")
    rows = models.JSONField(default=list, blank=True, db_comment="ledger rows, where the act is on these")
    status = models.CharField(
        max_length=10, choices=Status, default=Status.WAITING, db_default=Status.WAITING
    )
    why = models.TextField(blank=True, default="", db_default="", db_comment="why it was refused")

    class Meta:
        db_table = "bulk_items"
        db_table_comment = "What each bulk act is on, and what came of it"
        ordering = ["id"]
        indexes = [NamedIndex(fields=["bulk", "status", "id"], name="idx_bulk_items_status")]

    def __str__(self) -> str:
        return f"{self.key}: {self.status}"
