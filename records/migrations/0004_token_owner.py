"""A token may be a person's: it ends with their account."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0003_arrivals_baseline"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                help_text="it ends with this person's account; empty: it is no person's",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="apitoken",
            name="name",
            field=models.CharField(help_text="what it is for", max_length=100),
        ),
    ]
