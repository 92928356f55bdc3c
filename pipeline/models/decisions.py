"""What people did by hand, and what they decided about documents."""

from django.db import models
from django.db.models import Q

from sites.models import Document, Kind, Site, Source


class RetirementQuerySet(models.QuerySet["Retirement"]):
    def active(self) -> "RetirementQuerySet":
        return self.filter(lifted_at=None, purged_at=None)

    def removed(self) -> "RetirementQuerySet":
        """Out of sight of readers, and not deleted yet."""
        return self.active().filter(what=Retirement.What.REMOVED)


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


class Decision(models.Model):
    """About one document at its source: it holds for every version of it, and for those to come."""

    site = models.ForeignKey(Site, models.CASCADE, related_name="+", db_column="subdomain")
    source = models.ForeignKey(Source, models.SET_NULL, null=True, blank=True, related_name="+")
    external_id = models.TextField()
    reason = models.TextField(blank=True, default="", db_default="")
    by = models.CharField(max_length=150, blank=True, default="", db_default="")

    class Meta:
        abstract = True


class Retirement(models.Model):
    """A site that a person archived or removed. It outlives the site, so it has its name and no key of it."""

    class What(models.TextChoices):
        ARCHIVED = "archived"
        REMOVED = "removed"

    subdomain = models.CharField(db_comment="the site, which may be gone for good")
    what = models.CharField(max_length=10, choices=What)
    reason = models.TextField(blank=True, default="", db_default="")
    by = models.CharField(max_length=150, blank=True, default="", db_default="")
    at = models.DateTimeField(auto_now_add=True)
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.CharField(max_length=150, blank=True, default="", db_default="")
    purged_at = models.DateTimeField(
        null=True,
        blank=True,
        db_comment="when files and rows were deleted: from then on there is no way back",
    )
    details = models.JSONField(
        default=dict, blank=True, db_comment="what was deleted, and what is left to do"
    )

    objects = RetirementQuerySet.as_manager()

    class Meta:
        db_table = "retirements"
        db_table_comment = "Sites that were archived or removed, and why"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(what__in=["archived", "removed"]), name="ck_retirements_what"),
            models.UniqueConstraint(
                fields=["subdomain"],
                condition=Q(lifted_at=None, purged_at=None),
                name="uix_retirements_active",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.subdomain}: {self.what} by {self.by or 'unknown'}"


class Correction(Decision):
    """What the source says of a document and is not so. Null: that is as the source says."""

    meeting_date = models.DateField(null=True, blank=True)
    body = models.TextField(null=True, blank=True)
    kind = models.CharField(max_length=10, choices=Kind, null=True, blank=True)
    by_ocr = models.BooleanField(
        default=False, db_default=False, db_comment="the file's own text is no good: every page is recognised"
    )
    dpi = models.PositiveIntegerField(
        default=0, db_default=0, db_comment="drawn so finely for OCR; 0: as usual"
    )
    languages = models.CharField(max_length=50, blank=True, default="", db_default="")
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
    purged_at = models.DateTimeField(
        null=True, blank=True, db_comment="when its files and texts were deleted from storage"
    )

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
