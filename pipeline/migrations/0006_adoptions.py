"""Which sites were taken over from the old system, and how much of each site is published."""

import django.db.models.deletion
from django.db import migrations, models

from sites.migrations.adoption.refill import give_back_untouched


class Migration(migrations.Migration):
    dependencies = [
        ("pipeline", "0005_documents_without_text"),
        ("sites", "0003_sources_and_documents"),
    ]

    operations = [
        migrations.CreateModel(
            name="Adoption",
            fields=[
                (
                    "site",
                    models.OneToOneField(
                        db_column="subdomain",
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="adoption",
                        serialize=False,
                        to="sites.site",
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("by", models.CharField(blank=True, db_default="", default="", max_length=150)),
                (
                    "run_id",
                    models.BigIntegerField(
                        blank=True,
                        db_comment="the run that tells its history; null where it has none",
                        null=True,
                    ),
                ),
                (
                    "pages_before",
                    models.IntegerField(db_comment="in the old system's database", db_default=0, default=0),
                ),
                ("documents_before", models.IntegerField(db_default=0, default=0)),
                ("pages", models.IntegerField(db_comment="with text, in storage", db_default=0, default=0)),
                ("documents", models.IntegerField(db_default=0, default=0)),
                (
                    "unread",
                    models.IntegerField(
                        db_comment="documents still to be read, in part or whole", db_default=0, default=0
                    ),
                ),
                (
                    "left_out",
                    models.JSONField(blank=True, db_comment="files that could not be read", default=list),
                ),
                (
                    "before",
                    models.JSONField(
                        blank=True, db_comment="where the site stood, for the way back", default=dict
                    ),
                ),
            ],
            options={
                "db_table": "adoptions",
                "db_table_comment": "Sites that were taken over from the old system",
                "ordering": ["site"],
            },
        ),
        migrations.CreateModel(
            name="Publication",
            fields=[
                (
                    "site",
                    models.OneToOneField(
                        db_column="subdomain",
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="publication",
                        serialize=False,
                        to="sites.site",
                    ),
                ),
                ("pages", models.IntegerField()),
                ("documents", models.IntegerField()),
                ("version", models.CharField(blank=True, db_default="", default="", max_length=100)),
                ("at", models.DateTimeField()),
            ],
            options={
                "db_table": "publications",
                "db_table_comment": "How much of each site is published now",
                "ordering": ["site"],
            },
        ),
        migrations.RunPython(migrations.RunPython.noop, give_back_untouched),
    ]
