"""Looking at an address before a site is added: what was asked of it, what was found, what is wrong."""

from django.db import models


class Look(models.Model):
    """One look, by a job: a page shows how far it is, and what came of it."""

    class Status(models.TextChoices):
        RUNNING = "running"
        FOUND = "found"
        NOTHING = "nothing"

    url = models.TextField()
    platform = models.CharField(max_length=50, blank=True, default="", db_default="")
    by = models.CharField(max_length=150, blank=True, default="", db_default="")
    status = models.CharField(
        max_length=10, choices=Status, default=Status.RUNNING, db_default=Status.RUNNING
    )
    steps = models.JSONField(default=list, blank=True, db_comment="what it did so far, in words")
    found = models.JSONField(default=dict, blank=True, db_comment="sources, documents, guesses, warnings")
    diagnosis = models.CharField(max_length=40, blank=True, default="", db_default="")
    message = models.TextField(blank=True, default="", db_default="")
    began_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "looks"
        db_table_comment = "Addresses that were looked at before a site was added"
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.url
