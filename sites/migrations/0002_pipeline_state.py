"""The pipeline state of a site: stage, counters, coordinator claim, last error.

It also succeeds where some or all of this is there already, in whatever shape, and keeps the values.
"""

from django.db import migrations, models

from sites.migrations.adoption.operations import EnsureColumns, EnsureIndex
from sites.migrations.adoption.refill import refill


class Migration(migrations.Migration):
    # One statement at a time: an index is built beside running writers, and no lock outlives its statement.
    atomic = False
    dependencies = [("sites", "0001_old_schema")]
    operations = [
        EnsureColumns(
            "site",
            [
                (
                    "current_stage",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("fetch", "Fetch"),
                            ("ocr", "OCR"),
                            ("compilation", "Compilation"),
                            ("extraction", "Extraction"),
                            ("deploy", "Deploy"),
                            ("completed", "Completed"),
                        ],
                        db_comment="fetch, ocr, compilation, extraction, deploy, completed",
                        editable=False,
                        null=True,
                    ),
                ),
                ("started_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("updated_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "fetch_total",
                    models.IntegerField(
                        db_comment="fetch jobs: total, this run", db_default=0, default=0, editable=False
                    ),
                ),
                (
                    "fetch_completed",
                    models.IntegerField(
                        db_comment="fetch jobs: completed, this run", db_default=0, default=0, editable=False
                    ),
                ),
                (
                    "fetch_failed",
                    models.IntegerField(
                        db_comment="fetch jobs: failed, this run", db_default=0, default=0, editable=False
                    ),
                ),
                (
                    "ocr_total",
                    models.IntegerField(
                        db_comment="ocr jobs: total, this run", db_default=0, default=0, editable=False
                    ),
                ),
                (
                    "ocr_completed",
                    models.IntegerField(
                        db_comment="ocr jobs: completed, this run", db_default=0, default=0, editable=False
                    ),
                ),
                (
                    "ocr_failed",
                    models.IntegerField(
                        db_comment="ocr jobs: failed, this run", db_default=0, default=0, editable=False
                    ),
                ),
                (
                    "compilation_total",
                    models.IntegerField(
                        db_comment="compilation jobs: total, this run",
                        db_default=0,
                        default=0,
                        editable=False,
                    ),
                ),
                (
                    "compilation_completed",
                    models.IntegerField(
                        db_comment="compilation jobs: completed, this run",
                        db_default=0,
                        default=0,
                        editable=False,
                    ),
                ),
                (
                    "compilation_failed",
                    models.IntegerField(
                        db_comment="compilation jobs: failed, this run",
                        db_default=0,
                        default=0,
                        editable=False,
                    ),
                ),
                (
                    "extraction_total",
                    models.IntegerField(
                        db_comment="extraction jobs: total, this run", db_default=0, default=0, editable=False
                    ),
                ),
                (
                    "extraction_completed",
                    models.IntegerField(
                        db_comment="extraction jobs: completed, this run",
                        db_default=0,
                        default=0,
                        editable=False,
                    ),
                ),
                (
                    "extraction_failed",
                    models.IntegerField(
                        db_comment="extraction jobs: failed, this run",
                        db_default=0,
                        default=0,
                        editable=False,
                    ),
                ),
                (
                    "deploy_total",
                    models.IntegerField(
                        db_comment="deploy jobs: total, this run", db_default=0, default=0, editable=False
                    ),
                ),
                (
                    "deploy_completed",
                    models.IntegerField(
                        db_comment="deploy jobs: completed, this run", db_default=0, default=0, editable=False
                    ),
                ),
                (
                    "deploy_failed",
                    models.IntegerField(
                        db_comment="deploy jobs: failed, this run", db_default=0, default=0, editable=False
                    ),
                ),
                (
                    "coordinator_enqueued",
                    models.BooleanField(
                        db_comment="claimed by the one job that may enqueue",
                        db_default=False,
                        default=False,
                        editable=False,
                    ),
                ),
                ("last_error_stage", models.CharField(blank=True, editable=False, null=True)),
                ("last_error_message", models.TextField(blank=True, editable=False, null=True)),
                ("last_error_at", models.DateTimeField(blank=True, editable=False, null=True)),
            ],
        ),
        EnsureIndex("site", models.Index(fields=["current_stage"], name="idx_sites_current_stage")),
        EnsureIndex("site", models.Index(fields=["updated_at"], name="idx_sites_updated_at")),
        EnsureIndex(
            "site",
            models.Index(
                condition=models.Q(("coordinator_enqueued", False)),
                fields=["subdomain", "coordinator_enqueued"],
                name="idx_sites_coordinator_enqueued",
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, refill),
    ]
