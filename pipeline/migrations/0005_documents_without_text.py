from django.db import migrations, models

import pipeline.indexes
from sites.migrations.adoption.operations import BriefLocks


class Migration(migrations.Migration):
    dependencies = [
        ("pipeline", "0004_roles"),
    ]

    operations = [
        BriefLocks(),
        migrations.AddIndex(
            model_name="documentstate",
            index=pipeline.indexes.NamedIndex(
                fields=["site"],
                name="idx_dps_without_text",
                condition=models.Q(("facts__characters", 0), ("pipeline", "ocr"), ("status", "processed")),
            ),
        ),
    ]
