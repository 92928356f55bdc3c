"""Tokens, saved searches with their mails, and notes on pages."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("sites", "0003_sources_and_documents"),
    ]

    operations = [
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(help_text="whose it is, and what for", max_length=100)),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                (
                    "per_minute",
                    models.PositiveIntegerField(
                        db_default=600, default=600, help_text="requests; 0: no limit"
                    ),
                ),
                (
                    "created_by",
                    models.CharField(blank=True, db_default="", default="", editable=False, max_length=150),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                "verbose_name": "API token",
                "db_table": "api_tokens",
                "db_table_comment": "Who may use the API, and how much",
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="SeenSite",
            fields=[
                (
                    "site",
                    models.OneToOneField(
                        db_column="subdomain",
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="sites.site",
                    ),
                ),
                ("version", models.CharField(max_length=200)),
            ],
            options={
                "db_table": "arrivals_seen",
                "db_table_comment": "Up to which deployed version the arrivals of a site are written down",
            },
        ),
        migrations.CreateModel(
            name="SavedSearch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("email", models.EmailField(max_length=254)),
                ("query", models.TextField(db_comment="the search as it stands in an address")),
                (
                    "frequency",
                    models.CharField(
                        choices=[("at_once", "at once"), ("daily", "once a day"), ("weekly", "once a week")],
                        default="daily",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "asked_at",
                    models.DateTimeField(
                        blank=True,
                        db_comment="when the mail that asks for confirmation was last sent",
                        null=True,
                    ),
                ),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "seen",
                    models.BigIntegerField(
                        db_comment="the last arrival it was matched with", db_default=0, default=0
                    ),
                ),
                ("due_at", models.DateTimeField(blank=True, db_comment="not matched before", null=True)),
            ],
            options={
                "verbose_name_plural": "saved searches",
                "db_table": "saved_searches",
                "db_table_comment": "Searches whose new finds are sent by mail",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("confirmed_at__isnull", False), ("ended_at", None)),
                        fields=["due_at"],
                        name="idx_saved_searches_due",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("email", "query"),
                        name="uix_saved_searches_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("frequency__in", ["at_once", "daily", "weekly"])),
                        name="ck_saved_searches_frequency",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Arrival",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("document", models.CharField(db_comment="the published id", max_length=16)),
                ("at", models.DateTimeField()),
                (
                    "site",
                    models.ForeignKey(
                        db_column="subdomain",
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="sites.site",
                    ),
                ),
            ],
            options={
                "db_table": "arrivals",
                "db_table_comment": "When each document first appeared in the records",
                "constraints": [
                    models.UniqueConstraint(fields=("site", "document"), name="uix_arrivals_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Note",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("published_id", models.CharField(max_length=16)),
                ("page", models.IntegerField()),
                (
                    "about",
                    models.CharField(
                        choices=[
                            ("text", "The text is not what the page says"),
                            ("facts", "A vote, a name or an amount is wrong"),
                            ("date", "The date, the body or the kind is wrong"),
                            ("private", "It shows what should not be public"),
                            ("other", "Something else"),
                        ],
                        default="other",
                        max_length=10,
                    ),
                ),
                ("text", models.TextField(max_length=2000)),
                ("email", models.EmailField(blank=True, db_default="", default="", max_length=254)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("settled_at", models.DateTimeField(blank=True, null=True)),
                ("settled_by", models.CharField(blank=True, db_default="", default="", max_length=150)),
                (
                    "answer",
                    models.TextField(
                        blank=True, db_comment="what was done about it", db_default="", default=""
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="notes",
                        to="sites.document",
                    ),
                ),
                (
                    "site",
                    models.ForeignKey(
                        db_column="subdomain",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notes",
                        to="sites.site",
                    ),
                ),
            ],
            options={
                "db_table": "page_notes",
                "db_table_comment": "What readers say is not right",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("settled_at", None)), fields=["at"], name="idx_page_notes_open"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("after", models.BigIntegerField(db_comment="the arrivals behind this one ...")),
                ("until", models.BigIntegerField(db_comment="... up to this one")),
                (
                    "hits",
                    models.JSONField(
                        db_comment="site, document and page of each find that is told", default=list
                    ),
                ),
                ("total", models.IntegerField(db_default=0, default=0)),
                (
                    "status",
                    models.CharField(
                        choices=[("pending", "Pending"), ("sent", "Sent"), ("failed", "Failed")],
                        db_default="pending",
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("attempts", models.IntegerField(db_default=0, default=0)),
                (
                    "answer",
                    models.TextField(
                        blank=True, db_comment="what the last attempt got", db_default="", default=""
                    ),
                ),
                (
                    "next_attempt_at",
                    models.DateTimeField(db_comment="not before; also the end of a running attempt's lease"),
                ),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "search",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alerts",
                        to="records.savedsearch",
                    ),
                ),
            ],
            options={
                "db_table": "alerts",
                "db_table_comment": "Mails of saved searches: what was told to whom, and whether it went out",
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["status", "next_attempt_at"], name="idx_alerts_due")],
                "constraints": [
                    models.UniqueConstraint(fields=("search", "until"), name="uix_alerts_once"),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["pending", "sent", "failed"])),
                        name="ck_alerts_status",
                    ),
                ],
            },
        ),
    ]
