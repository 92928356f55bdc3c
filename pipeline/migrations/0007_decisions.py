"""What people decided about documents: corrections, and takedowns."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("pipeline", "0006_adoptions"),
        ("sites", "0003_sources_and_documents"),
    ]

    operations = [
        migrations.CreateModel(
            name="Correction",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("external_id", models.TextField()),
                ("reason", models.TextField(blank=True, db_default="", default="")),
                ("by", models.CharField(blank=True, db_default="", default="", max_length=150)),
                ("meeting_date", models.DateField(blank=True, null=True)),
                ("body", models.TextField(blank=True, null=True)),
                (
                    "kind",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("agenda", "Agenda"),
                            ("minutes", "Minutes"),
                            ("packet", "Agenda packet"),
                            ("other", "Other"),
                        ],
                        max_length=10,
                        null=True,
                    ),
                ),
                ("at", models.DateTimeField(auto_now=True)),
                (
                    "site",
                    models.ForeignKey(
                        db_column="subdomain",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="sites.site",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="sites.source",
                    ),
                ),
            ],
            options={
                "db_table": "document_corrections",
                "db_table_comment": "Dates, bodies and kinds of documents that people put right",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("site", "source", "external_id"), name="uix_corrections_document"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Takedown",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("external_id", models.TextField()),
                ("reason", models.TextField(blank=True, db_default="", default="")),
                ("by", models.CharField(blank=True, db_default="", default="", max_length=150)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("lifted_at", models.DateTimeField(blank=True, null=True)),
                ("lifted_by", models.CharField(blank=True, db_default="", default="", max_length=150)),
                (
                    "site",
                    models.ForeignKey(
                        db_column="subdomain",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="sites.site",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="sites.source",
                    ),
                ),
            ],
            options={
                "db_table": "takedowns",
                "db_table_comment": "Documents taken out of the records, and why",
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("lifted_at", None)),
                        fields=("site", "source", "external_id"),
                        name="uix_takedowns_document",
                    )
                ],
            },
        ),
    ]
