"""Rhythms of sites; what each source listed and whether it went silent; alarms, and who is told of them."""

from importlib import import_module

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

import pipeline.models.alarms
from sites.migrations.adoption.operations import BriefLocks

roles = import_module("pipeline.migrations.0004_roles")
VIEWED = ("schedule", "sourcelisting", "sourcestate", "alarm", "notification")


def allow(apps, schema_editor):
    """Viewers see all of it but the channels: their addresses are keys."""
    view = [roles._permission(apps, "pipeline", model, "view") for model in VIEWED]
    roles._group(apps, "viewer", view)
    roles._group(apps, "operator", view)


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("pipeline", "0008_counted_apart"),
        ("sites", "0003_sources_and_documents"),
    ]

    operations = [
        BriefLocks(),  # its keys to sites and sources lock those tables for a moment
        migrations.CreateModel(
            name="Channel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
                (
                    "way",
                    models.CharField(
                        choices=[("mail", "mail"), ("apprise", "chat or push (Apprise)")],
                        db_default="mail",
                        default="mail",
                        max_length=10,
                    ),
                ),
                ("address", models.TextField(help_text="mail addresses with commas, or one Apprise address")),
                (
                    "kinds",
                    models.JSONField(default=pipeline.models.alarms.all_kinds, help_text="what is told here"),
                ),
                (
                    "quiet_from",
                    models.TimeField(blank=True, help_text="nothing is sent from here …", null=True),
                ),
                (
                    "quiet_until",
                    models.TimeField(
                        blank=True, help_text="… to here, on the installation's clock", null=True
                    ),
                ),
                (
                    "digest_hour",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="hour of the daily digest; empty: no digest",
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(23)],
                    ),
                ),
                ("enabled", models.BooleanField(db_default=True, default=True)),
                (
                    "failures",
                    models.IntegerField(
                        db_comment="messages in a row that could not be delivered",
                        db_default=0,
                        default=0,
                        editable=False,
                    ),
                ),
                ("off_reason", models.TextField(blank=True, db_default="", default="", editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "db_table": "channels",
                "db_table_comment": "Where alarms are told",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Alarm",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=300)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("attention", "needs a person"),
                            ("failed", "site failing"),
                            ("silent", "source silent"),
                            ("queue", "queue without a worker"),
                            ("reconcile", "reconcile missing"),
                            ("disk", "disk low"),
                            ("shrink", "deploy stopped: it would publish much less"),
                            ("channel", "a channel was switched off"),
                        ],
                        max_length=10,
                    ),
                ),
                ("title", models.TextField()),
                ("message", models.TextField(blank=True, db_default="", default="")),
                (
                    "seen_at",
                    models.DateTimeField(
                        db_comment="when it was first seen; it opens once it has lasted a while"
                    ),
                ),
                ("opened_at", models.DateTimeField(blank=True, null=True)),
                ("resolved_at", models.DateTimeField(blank=True, null=True)),
                (
                    "site",
                    models.ForeignKey(
                        blank=True,
                        db_column="subdomain",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alarms",
                        to="sites.site",
                    ),
                ),
            ],
            options={
                "db_table": "alarms",
                "db_table_comment": "What somebody should know of, from its beginning to its end",
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Notification",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "what",
                    models.CharField(
                        choices=[("alarms", "alarms"), ("digest", "daily digest"), ("test", "test")],
                        db_default="alarms",
                        default="alarms",
                        max_length=10,
                    ),
                ),
                ("day", models.DateField(blank=True, db_comment="of a digest: one a day", null=True)),
                ("title", models.TextField()),
                ("body", models.TextField()),
                (
                    "bad",
                    models.BooleanField(
                        db_comment="it tells of something new wrong", db_default=False, default=False
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("pending", "Pending"), ("delivered", "Delivered"), ("failed", "Failed")],
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
                ("last_attempt_at", models.DateTimeField(blank=True, null=True)),
                ("delivered_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to="pipeline.channel",
                    ),
                ),
            ],
            options={
                "db_table": "notifications",
                "db_table_comment": "Every message that was sent about alarms, and whether it arrived",
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "phase",
                    models.CharField(choices=[("opened", "Opened"), ("resolved", "Resolved")], max_length=10),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "dropped",
                    models.BooleanField(
                        db_comment="over before it could be told: nobody was", db_default=False, default=False
                    ),
                ),
                (
                    "alarm",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to="pipeline.alarm",
                    ),
                ),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to="pipeline.channel",
                    ),
                ),
                (
                    "notification",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="notices",
                        to="pipeline.notification",
                    ),
                ),
            ],
            options={
                "db_table": "notices",
                "db_table_comment": "which alarm was told to which channel, in which message",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Schedule",
            fields=[
                (
                    "site",
                    models.OneToOneField(
                        db_column="subdomain",
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="schedule",
                        serialize=False,
                        to="sites.site",
                    ),
                ),
                (
                    "rhythm",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "as the installation"),
                            ("hourly", "every hour"),
                            ("daily", "every day"),
                            ("weekdays", "on weekdays"),
                            ("weekly", "every week"),
                            ("meetings", "around known meetings"),
                            ("adaptive", "adaptive"),
                            ("never", "never"),
                        ],
                        db_default="",
                        default="",
                        max_length=10,
                    ),
                ),
                (
                    "next_check_at",
                    models.DateTimeField(blank=True, db_comment="null: no check is planned", null=True),
                ),
                (
                    "last_check_at",
                    models.DateTimeField(blank=True, db_comment="when the schedule last acted", null=True),
                ),
                (
                    "note",
                    models.TextField(
                        blank=True,
                        db_comment="why the last check did not start, or none will",
                        db_default="",
                        default="",
                    ),
                ),
            ],
            options={
                "db_table": "schedules",
                "db_table_comment": "How often each site is checked, and when next",
                "ordering": ["site"],
                "indexes": [models.Index(fields=["next_check_at"], name="idx_schedules_next_check")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "rhythm__in",
                                [
                                    "",
                                    "hourly",
                                    "daily",
                                    "weekdays",
                                    "weekly",
                                    "meetings",
                                    "adaptive",
                                    "never",
                                ],
                            )
                        ),
                        name="ck_schedules_rhythm",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SourceListing",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("listed", models.IntegerField(blank=True, db_comment="null: the listing failed", null=True)),
                (
                    "new",
                    models.IntegerField(db_comment="documents not known before", db_default=0, default=0),
                ),
                (
                    "code",
                    models.CharField(
                        blank=True,
                        db_comment="the error code of a failed listing",
                        db_default="",
                        default="",
                        max_length=50,
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="listings",
                        to="sites.source",
                    ),
                ),
            ],
            options={
                "db_table": "source_listings",
                "db_table_comment": "What each source listed, the latest times",
                "ordering": ["-at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="SourceState",
            fields=[
                (
                    "source",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="condition",
                        serialize=False,
                        to="sites.source",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("fine", "fine"),
                            ("new", "not listed yet"),
                            ("nothing", "listed nothing"),
                            ("fewer", "far fewer than usual"),
                            ("quiet", "no new document for much longer than usual"),
                            ("changed", "page changed, we may miss things"),
                            ("blocked", "blocked by a bot wall"),
                            ("scripted", "needs JavaScript"),
                            ("failing", "cannot be listed"),
                        ],
                        db_default="new",
                        default="new",
                        max_length=10,
                    ),
                ),
                (
                    "reason",
                    models.TextField(
                        blank=True, db_comment="the rule, with its figures", db_default="", default=""
                    ),
                ),
                ("since", models.DateTimeField()),
                ("looked_at", models.DateTimeField()),
            ],
            options={
                "db_table": "source_states",
                "db_table_comment": "Whether each source is well or has gone silent, and by which rule",
                "ordering": ["source"],
                "indexes": [models.Index(fields=["state"], name="idx_source_states_state")],
            },
        ),
        migrations.AddIndex(
            model_name="alarm",
            index=models.Index(fields=["resolved_at", "opened_at"], name="idx_alarms_open"),
        ),
        migrations.AddConstraint(
            model_name="alarm",
            constraint=models.UniqueConstraint(
                condition=models.Q(("resolved_at", None)), fields=("key",), name="uix_alarms_one_open"
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(fields=["status", "next_attempt_at"], name="idx_notifications_due"),
        ),
        migrations.AddConstraint(
            model_name="notification",
            constraint=models.UniqueConstraint(
                condition=models.Q(("what", "digest")),
                fields=("channel", "day"),
                name="uix_notifications_one_digest",
            ),
        ),
        migrations.AddConstraint(
            model_name="notification",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["pending", "delivered", "failed"])),
                name="ck_notifications_status",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(fields=("alarm", "channel", "phase"), name="uix_notices_once"),
        ),
        migrations.AddIndex(
            model_name="sourcelisting",
            index=models.Index(fields=["source", "-at"], name="idx_source_listings_source_at"),
        ),
        migrations.RunPython(allow, migrations.RunPython.noop),
    ]
