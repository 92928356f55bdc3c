"""What was before, and what is now: sites taken over from the old system, and how much is published."""

from django.db import models

from sites.models import Site


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
