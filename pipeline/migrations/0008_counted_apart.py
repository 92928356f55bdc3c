"""Workers that died and resumptions are counted apart from failures of the work."""

from importlib import import_module

from django.db import migrations, models

# SQLite writes the whole table anew for a new column, and its triggers go with the old one.
legal_moves = import_module("pipeline.migrations.0002_legal_moves")


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0007_decisions")]
    operations = [
        migrations.RunPython(migrations.RunPython.noop, legal_moves.create),
        migrations.AddField(
            model_name="documentstate",
            name="worker_deaths",
            field=models.IntegerField(
                db_comment="workers that died on it since it last got further", db_default=0, default=0
            ),
        ),
        migrations.AddField(
            model_name="documentstate",
            name="resumptions",
            field=models.IntegerField(
                db_comment="attempts that ran out of time and got further", db_default=0, default=0
            ),
        ),
        migrations.RunPython(legal_moves.create, migrations.RunPython.noop),
    ]
