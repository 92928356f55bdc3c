"""Viewers see acts on many, error groups, the log of jobs, and what was looked at."""

from django.db import migrations

VIEWED = ("bulkact", "errorgroup", "logline", "look")


def create(apps, schema_editor):
    # On a new database the permissions do not exist yet: Django makes them after the last migration.
    for group in apps.get_model("auth", "Group").objects.filter(name__in=["viewer", "operator"]):
        group.permissions.add(*(_permission(apps, model) for model in VIEWED))


def _permission(apps, model):
    words = apps.get_model("pipeline", model)._meta.verbose_name
    kind, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label="pipeline", model=model
    )
    permissions = apps.get_model("auth", "Permission").objects
    return permissions.get_or_create(
        content_type=kind, codename=f"view_{model}", defaults={"name": f"Can view {words}"}
    )[0]


def remove(apps, schema_editor):
    permissions = apps.get_model("auth", "Permission").objects
    for group in apps.get_model("auth", "Group").objects.filter(name__in=["viewer", "operator"]):
        group.permissions.remove(*permissions.filter(codename__in=[f"view_{model}" for model in VIEWED]))


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0012_bulk_errors_logs")]
    operations = [migrations.RunPython(create, remove)]
