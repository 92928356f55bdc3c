"""What was there when a site was first seen is known, and told to nobody."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("records", "0002_roles")]
    operations = [
        migrations.AddField(
            model_name="arrival",
            name="baseline",
            field=models.BooleanField(
                db_comment="it was there when its site was first seen: told to nobody",
                db_default=False,
                default=False,
            ),
        ),
    ]
