"""The old status columns go."""

from django.db import migrations, models

from sites.migrations.adoption.guard import before_dropping_the_columns
from sites.migrations.adoption.operations import DropColumns
from sites.migrations.adoption.refill import bring_back_columns, keep_columns


class Migration(migrations.Migration):
    dependencies = [("sites", "0004_drop_site_progress")]
    operations = [
        migrations.RunPython(before_dropping_the_columns, migrations.RunPython.noop),
        migrations.RunPython(keep_columns, bring_back_columns),
        DropColumns(
            "site",
            [
                ("status", models.CharField(null=True, blank=True)),
                (
                    "extraction_status",
                    models.CharField(null=True, blank=True, default="pending", db_default="pending"),
                ),
                ("last_updated", models.CharField(null=True, blank=True)),
                ("last_deployed", models.CharField(null=True, blank=True)),
                ("last_extracted", models.CharField(null=True, blank=True)),
            ],
        ),
    ]
