"""The old progress table goes, once the new state has been trusted for a while."""

from django.db import migrations

from sites.migrations.adoption.guard import before_dropping_the_table
from sites.migrations.adoption.refill import bring_back_progress, keep_progress


class Migration(migrations.Migration):
    dependencies = [("sites", "0003_sources_and_documents"), ("pipeline", "0002_legal_moves")]
    operations = [
        migrations.RunPython(before_dropping_the_table, migrations.RunPython.noop),
        migrations.RunPython(keep_progress, bring_back_progress),
        migrations.DeleteModel("SiteProgress"),
    ]
