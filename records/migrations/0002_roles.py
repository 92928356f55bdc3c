"""Viewers see notes, corrections and takedowns; operators see who follows, and issue tokens."""

from django.db import migrations

VIEWED = (("records", "note"), ("pipeline", "correction"), ("pipeline", "takedown"))
OPERATED = (
    ("records", "savedsearch", "view"),
    ("records", "alert", "view"),
    ("records", "apitoken", "view"),
    ("records", "apitoken", "add"),
    ("records", "apitoken", "change"),
)


def grant(apps, schema_editor):
    view = [_permission(apps, app, model, "view") for app, model in VIEWED]
    _group(apps, "viewer").permissions.add(*view)
    _group(apps, "operator").permissions.add(*view, *(_permission(apps, *each) for each in OPERATED))


def take_back(apps, schema_editor):
    granted = [(app, f"view_{model}") for app, model in VIEWED]
    granted += [(app, f"{action}_{model}") for app, model, action in OPERATED]
    for app, codename in granted:
        found = apps.get_model("auth", "Permission").objects.filter(
            content_type__app_label=app, codename=codename
        )
        for group in apps.get_model("auth", "Group").objects.filter(name__in=["viewer", "operator"]):
            group.permissions.remove(*found)


def _group(apps, name):
    return apps.get_model("auth", "Group").objects.get_or_create(name=name)[0]


def _permission(apps, app, model, action):
    # On a new database the permissions do not exist yet: Django makes them after the last migration.
    words = apps.get_model(app, model)._meta.verbose_name
    kind, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(app_label=app, model=model)
    permissions = apps.get_model("auth", "Permission").objects
    named = {"name": f"Can {action} {words}"}
    return permissions.get_or_create(content_type=kind, codename=f"{action}_{model}", defaults=named)[0]


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("pipeline", "0007_decisions"),
        ("records", "0001_readers"),
    ]
    operations = [migrations.RunPython(grant, take_back)]
