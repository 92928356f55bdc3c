"""Acts on many, error groups, the log of jobs, and looks at addresses."""

from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models

import pipeline.indexes

# SQLite writes the whole table anew for a new column, and its triggers go with the old one.
legal_moves = import_module("pipeline.migrations.0002_legal_moves")


class Migration(migrations.Migration):
    dependencies = [
        ("pipeline", "0011_how_documents_are_read"),
        ("sites", "0003_sources_and_documents"),
    ]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, legal_moves.create),
        migrations.CreateModel(
            name="BulkAct",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("act", models.CharField(max_length=40)),
                ("label", models.CharField(max_length=100)),
                ("by", models.CharField(blank=True, db_default="", default="", max_length=150)),
                ("reason", models.TextField(blank=True, db_default="", default="")),
                (
                    "status",
                    models.CharField(
                        choices=[("running", "Running"), ("finished", "Finished"), ("stopped", "Stopped")],
                        db_default="running",
                        default="running",
                        max_length=10,
                    ),
                ),
                ("total", models.IntegerField(db_default=0, default=0)),
                (
                    "seq",
                    models.IntegerField(db_comment="part of the queue job's id", db_default=0, default=0),
                ),
                ("began_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "bulk act",
                "db_table": "bulk_acts",
                "db_table_comment": "Acts on many at once, worked off in slices by a job",
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="BulkItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(db_comment="of a site, or of a document", max_length=200)),
                (
                    "rows",
                    models.JSONField(
                        blank=True, db_comment="ledger rows, where the act is on these", default=list
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("done", "Done"), ("refused", "Refused")],
                        db_default="waiting",
                        default="waiting",
                        max_length=10,
                    ),
                ),
                (
                    "why",
                    models.TextField(blank=True, db_comment="why it was refused", db_default="", default=""),
                ),
            ],
            options={
                "db_table": "bulk_items",
                "db_table_comment": "What each bulk act is on, and what came of it",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="ErrorDay",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                ("count", models.IntegerField(db_default=0, default=0)),
            ],
            options={
                "db_table": "error_days",
                "db_table_comment": "Failed attempts by error group and day",
                "ordering": ["day"],
            },
        ),
        migrations.CreateModel(
            name="ErrorGroup",
            fields=[
                ("fingerprint", models.CharField(max_length=16, primary_key=True, serialize=False)),
                ("code", models.CharField(max_length=50)),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("fetch", "Fetch"),
                            ("ocr", "OCR"),
                            ("compilation", "Compilation"),
                            ("extraction", "Extraction"),
                            ("deploy", "Deploy"),
                        ],
                        max_length=20,
                    ),
                ),
                ("platform", models.CharField(blank=True, db_default="", default="", max_length=50)),
                ("message", models.TextField(blank=True, db_default="", default="")),
                ("first_seen", models.DateTimeField()),
                ("last_seen", models.DateTimeField()),
                (
                    "total",
                    models.IntegerField(
                        db_comment="failed attempts since the first", db_default=0, default=0
                    ),
                ),
                ("ignored_at", models.DateTimeField(blank=True, null=True)),
                ("assignee", models.CharField(blank=True, db_default="", default="", max_length=150)),
                ("note", models.TextField(blank=True, db_default="", default="")),
            ],
            options={
                "verbose_name": "error group",
                "db_table": "error_groups",
                "db_table_comment": "Failures of one kind as one thing to look at, ignore, assign and retry",
                "ordering": ["-last_seen"],
            },
        ),
        migrations.CreateModel(
            name="LogLine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "row_id",
                    models.BigIntegerField(
                        blank=True, db_comment="the ledger row; null of a coordinator", null=True
                    ),
                ),
                ("stage", models.CharField(blank=True, db_default="", default="", max_length=20)),
                ("job_id", models.CharField(blank=True, db_default="", default="", max_length=100)),
                ("level", models.CharField(max_length=10)),
                ("event", models.CharField(max_length=200)),
                ("fields", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "verbose_name": "log line",
                "db_table": "log_lines",
                "db_table_comment": "What jobs wrote, by run and ledger row",
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Look",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("url", models.TextField()),
                ("platform", models.CharField(blank=True, db_default="", default="", max_length=50)),
                ("by", models.CharField(blank=True, db_default="", default="", max_length=150)),
                (
                    "status",
                    models.CharField(
                        choices=[("running", "Running"), ("found", "Found"), ("nothing", "Nothing")],
                        db_default="running",
                        default="running",
                        max_length=10,
                    ),
                ),
                (
                    "steps",
                    models.JSONField(blank=True, db_comment="what it did so far, in words", default=list),
                ),
                (
                    "found",
                    models.JSONField(
                        blank=True, db_comment="sources, documents, guesses, warnings", default=dict
                    ),
                ),
                ("diagnosis", models.CharField(blank=True, db_default="", default="", max_length=40)),
                ("message", models.TextField(blank=True, db_default="", default="")),
                ("began_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "looks",
                "db_table_comment": "Addresses that were looked at before a site was added",
                "ordering": ["-id"],
            },
        ),
        migrations.AlterModelOptions(
            name="documentstate",
            options={"verbose_name": "step of a document", "verbose_name_plural": "steps of documents"},
        ),
        migrations.AddField(
            model_name="documentstate",
            name="error_group",
            field=models.CharField(
                blank=True,
                db_comment="fingerprint of the last failure",
                db_default="",
                default="",
                max_length=16,
            ),
        ),
        migrations.AddIndex(
            model_name="documentstate",
            index=pipeline.indexes.NamedIndex(
                condition=models.Q(("status__in", ["failed_retryable", "failed_terminal"])),
                fields=["error_group"],
                name="idx_dps_error_group",
            ),
        ),
        migrations.AddConstraint(
            model_name="bulkact",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["running", "finished", "stopped"])),
                name="ck_bulk_acts_status",
            ),
        ),
        migrations.AddField(
            model_name="bulkitem",
            name="bulk",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="items",
                to="pipeline.bulkact",
            ),
        ),
        migrations.AddField(
            model_name="errorday",
            name="group",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="days",
                to="pipeline.errorgroup",
            ),
        ),
        migrations.AddField(
            model_name="logline",
            name="run",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="log",
                to="pipeline.run",
            ),
        ),
        migrations.AddIndex(
            model_name="bulkitem",
            index=pipeline.indexes.NamedIndex(fields=["bulk", "status", "id"], name="idx_bulk_items_status"),
        ),
        migrations.AddConstraint(
            model_name="errorday",
            constraint=models.UniqueConstraint(fields=("group", "day"), name="uix_error_days_group_day"),
        ),
        migrations.AddIndex(
            model_name="logline",
            index=pipeline.indexes.NamedIndex(fields=["run", "id"], name="idx_log_lines_run"),
        ),
        migrations.AddIndex(
            model_name="logline",
            index=pipeline.indexes.NamedIndex(fields=["row_id", "id"], name="idx_log_lines_row"),
        ),
        migrations.AddIndex(
            model_name="logline",
            index=pipeline.indexes.NamedIndex(fields=["at"], name="idx_log_lines_at"),
        ),
        migrations.RunPython(legal_moves.create, migrations.RunPython.noop),
    ]
