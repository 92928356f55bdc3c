"""When each site is checked next, and how often it is checked."""

from django.db import models

from sites.models import Site


class Rhythm(models.TextChoices):
    """How often a site is checked. The empty one is the installation's own (SCHEDULE_RHYTHM)."""

    DEFAULT = "", "as the installation"
    HOURLY = "hourly", "every hour"
    DAILY = "daily", "every day"
    WEEKDAYS = "weekdays", "on weekdays"
    WEEKLY = "weekly", "every week"
    MEETINGS = "meetings", "around known meetings"
    ADAPTIVE = "adaptive", "adaptive"
    NEVER = "never", "never"


class Schedule(models.Model):
    """A site's rhythm and its next check. A site without a row gets one from the next look at the clock."""

    site = models.OneToOneField(
        Site, models.CASCADE, primary_key=True, related_name="schedule", db_column="subdomain"
    )
    rhythm = models.CharField(
        max_length=10, choices=Rhythm, blank=True, default=Rhythm.DEFAULT, db_default=Rhythm.DEFAULT
    )
    next_check_at = models.DateTimeField(null=True, blank=True, db_comment="null: no check is planned")
    last_check_at = models.DateTimeField(null=True, blank=True, db_comment="when the schedule last acted")
    note = models.TextField(
        blank=True, default="", db_default="", db_comment="why the last check did not start, or none will"
    )

    class Meta:
        db_table = "schedules"
        db_table_comment = "How often each site is checked, and when next"
        ordering = ["site"]
        indexes = [models.Index(fields=["next_check_at"], name="idx_schedules_next_check")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(rhythm__in=[rhythm.value for rhythm in Rhythm]), name="ck_schedules_rhythm"
            )
        ]

    def __str__(self) -> str:
        return f"{self.site_id}: {self.get_rhythm_display()}"
