"""What each source listed, run by run, and what is thought of it: whether it has gone silent."""

from django.db import models

from sites.models import Source


class SourceListing(models.Model):
    """One listing of one source. Old ones are removed, so that there are never many for a source."""

    source = models.ForeignKey(Source, models.CASCADE, related_name="listings")
    at = models.DateTimeField()
    listed = models.IntegerField(null=True, blank=True, db_comment="null: the listing failed")
    new = models.IntegerField(default=0, db_default=0, db_comment="documents not known before")
    code = models.CharField(
        max_length=50, blank=True, default="", db_default="", db_comment="the error code of a failed listing"
    )

    class Meta:
        db_table = "source_listings"
        db_table_comment = "What each source listed, the latest times"
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["source", "-at"], name="idx_source_listings_source_at")]

    def __str__(self) -> str:
        return f"{self.listed} documents at {self.at}"


class Silence(models.TextChoices):
    """What may be wrong with a source although its listing ended without a failure, or why it cannot list."""

    FINE = "fine", "fine"
    NEW = "new", "not listed yet"
    NOTHING = "nothing", "listed nothing"
    FEWER = "fewer", "far fewer than usual"
    QUIET = "quiet", "no new document for much longer than usual"
    CHANGED = "changed", "page changed, we may miss things"
    BLOCKED = "blocked", "blocked by a bot wall"
    SCRIPTED = "scripted", "needs JavaScript"
    FAILING = "failing", "cannot be listed"

    @classmethod
    def amber(cls) -> list[str]:
        """The states that somebody should know of."""
        return [state.value for state in cls if state not in (cls.FINE, cls.NEW)]


class SourceState(models.Model):
    """What is thought of a source after its last listing, and since when."""

    source = models.OneToOneField(Source, models.CASCADE, primary_key=True, related_name="condition")
    state = models.CharField(max_length=10, choices=Silence, default=Silence.NEW, db_default=Silence.NEW)
    reason = models.TextField(blank=True, default="", db_default="", db_comment="the rule, with its figures")
    since = models.DateTimeField()
    looked_at = models.DateTimeField()

    class Meta:
        db_table = "source_states"
        db_table_comment = "Whether each source is well or has gone silent, and by which rule"
        ordering = ["source"]
        indexes = [models.Index(fields=["state"], name="idx_source_states_state")]

    def __str__(self) -> str:
        return f"{self.source_id}: {self.get_state_display()}"

    @property
    def is_amber(self) -> bool:
        return self.state in Silence.amber()
