"""What runs, pauses, sources and documents need."""

import django.db.models.deletion
from django.db import migrations, models

from sites.migrations.adoption.operations import EnsureColumns
from sites.migrations.adoption.refill import refill


class Migration(migrations.Migration):
    dependencies = [("sites", "0002_pipeline_state")]
    operations = [
        migrations.AlterModelTableComment(
            "site", "Municipalities, where each stands in the pipeline, and the counters of its current run"
        ),
        migrations.CreateModel(
            name="Source",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("platform", models.CharField(help_text="name of the fetcher", max_length=50)),
                ("url", models.TextField()),
                ("options", models.JSONField(blank=True, default=dict)),
                ("enabled", models.BooleanField(db_default=True, default=True)),
                (
                    "cursor",
                    models.JSONField(
                        blank=True, db_comment="where the backfill goes on", default=dict, editable=False
                    ),
                ),
                ("last_listed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("last_count", models.IntegerField(blank=True, editable=False, null=True)),
                ("warning", models.TextField(blank=True, db_default="", default="", editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "site",
                    models.ForeignKey(
                        db_column="subdomain",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sources",
                        to="sites.site",
                    ),
                ),
            ],
            options={
                "db_table": "sources",
                "db_table_comment": "Where a site publishes its documents",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "external_id",
                    models.TextField(db_comment="the platform's id, or the URL where it has none"),
                ),
                ("version", models.IntegerField(db_default=1, default=1)),
                (
                    "revision",
                    models.TextField(
                        blank=True,
                        db_comment="what the platform changes when it publishes anew",
                        db_default="",
                        default="",
                    ),
                ),
                ("superseded_at", models.DateTimeField(blank=True, null=True)),
                ("url", models.TextField(blank=True, db_default="", default="")),
                ("title", models.TextField(blank=True, db_default="", default="")),
                (
                    "body",
                    models.TextField(
                        blank=True, db_comment="the meeting body's own name", db_default="", default=""
                    ),
                ),
                ("meeting", models.TextField(db_comment="the body as a folder name")),
                ("meeting_date", models.DateField(blank=True, null=True)),
                (
                    "meeting_time",
                    models.TimeField(blank=True, db_comment="on the city's own clock", null=True),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("agenda", "Agenda"),
                            ("minutes", "Minutes"),
                            ("packet", "Agenda packet"),
                            ("other", "Other"),
                        ],
                        default="other",
                        max_length=10,
                    ),
                ),
                (
                    "cancelled",
                    models.BooleanField(
                        db_comment="the source says it did not take place", db_default=False, default=False
                    ),
                ),
                (
                    "path",
                    models.TextField(
                        blank=True, db_comment="inside the site's storage", db_default="", default=""
                    ),
                ),
                ("content_type", models.CharField(blank=True, db_default="", default="", max_length=100)),
                ("sha256", models.CharField(blank=True, db_default="", default="", max_length=64)),
                ("size", models.BigIntegerField(blank=True, null=True)),
                ("etag", models.TextField(blank=True, db_default="", default="")),
                ("last_modified", models.TextField(blank=True, db_default="", default="")),
                ("fetched_at", models.DateTimeField(blank=True, null=True)),
                (
                    "checked_at",
                    models.DateTimeField(
                        blank=True, db_comment="when the source was last asked for changes", null=True
                    ),
                ),
                ("pages", models.IntegerField(blank=True, null=True)),
                (
                    "skip_reason",
                    models.TextField(
                        blank=True, db_comment="left out on purpose, and why", db_default="", default=""
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "site",
                    models.ForeignKey(
                        db_column="subdomain",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="documents",
                        to="sites.site",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="documents",
                        to="sites.source",
                    ),
                ),
            ],
            options={
                "db_table": "documents",
                "db_table_comment": "Every version of every file found at a source",
                "ordering": ["-meeting_date", "id"],
            },
        ),
        migrations.AddConstraint(
            model_name="source",
            constraint=models.UniqueConstraint(
                fields=("site", "platform", "url"), name="uix_sources_site_platform_url"
            ),
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(fields=["site", "meeting_date"], name="idx_documents_site_date"),
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(
                condition=models.Q(("superseded_at__isnull", True)),
                fields=["kind"],
                name="idx_documents_kind",
            ),
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(
                condition=models.Q(
                    models.Q(("skip_reason", ""), _negated=True),
                    ("superseded_at__isnull", False),
                    _connector="OR",
                ),
                fields=["id"],
                name="idx_documents_left_out",
            ),
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(
                fields=("source", "external_id", "version"), name="uix_documents_identity"
            ),
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(
                condition=models.Q(("path", ""), _negated=True),
                fields=("site", "path"),
                name="uix_documents_site_path",
            ),
        ),
        # Last, so that the lock on sites is not held while the tables are made.
        EnsureColumns(
            "site",
            [
                (
                    "run_id",
                    models.BigIntegerField(
                        blank=True,
                        db_comment="the run whose jobs may count; null when none may",
                        editable=False,
                        null=True,
                    ),
                ),
                (
                    "coordinator_seq",
                    models.IntegerField(
                        db_comment="how often a coordinator was enqueued",
                        db_default=0,
                        default=0,
                        editable=False,
                    ),
                ),
                ("paused_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("pause_reason", models.TextField(blank=True, db_default="", default="", editable=False)),
                ("last_completed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "attention_reason",
                    models.TextField(
                        blank=True,
                        db_comment="why a person must look; empty when none need",
                        db_default="",
                        default="",
                        editable=False,
                    ),
                ),
                ("attention_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "languages",
                    models.CharField(
                        blank=True,
                        db_default="eng",
                        default="eng",
                        help_text="Tesseract languages, joined by +",
                    ),
                ),
                (
                    "time_zone",
                    models.CharField(
                        blank=True, db_default="", default="", help_text="e.g. America/Los_Angeles"
                    ),
                ),
            ],
        ),
        migrations.RunPython(migrations.RunPython.noop, refill),
    ]
