"""The permission to act, and two groups: `viewer` may look at everything, `operator` may act as well."""

from django.db import migrations

OPERATE = ("pipeline", "run", "operate_pipeline", "Can start, retry, pause, cancel and skip")
VIEWED = {
    "sites": ("site", "source", "document"),
    "pipeline": ("run", "runstage", "documentstate", "reconcilerun", "intervention", "webhookdelivery"),
}
EDITED = {"sites": ("site", "source")}


def create(apps, schema_editor):
    # On a new database the permissions do not exist yet: Django makes them after the last migration.
    view = [_permission(apps, app, model, "view") for app, models in VIEWED.items() for model in models]
    edit = [
        _permission(apps, app, model, action)
        for app, models in EDITED.items()
        for model in models
        for action in ("add", "change")
    ]
    _group(apps, "viewer", view)
    _group(apps, "operator", [*view, *edit, _named(apps, *OPERATE)])


def remove(apps, schema_editor):
    apps.get_model("auth", "Group").objects.filter(name__in=["viewer", "operator"]).delete()


def _permission(apps, app, model, action):
    words = apps.get_model(app, model)._meta.verbose_name
    return _named(apps, app, model, f"{action}_{model}", f"Can {action} {words}")


def _named(apps, app, model, codename, name):
    kind, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(app_label=app, model=model)
    permissions = apps.get_model("auth", "Permission").objects
    return permissions.get_or_create(content_type=kind, codename=codename, defaults={"name": name})[0]


def _group(apps, name, permissions):
    # A group that was there before keeps what it had.
    group, _ = apps.get_model("auth", "Group").objects.get_or_create(name=name)
    group.permissions.add(*permissions)


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("pipeline", "0003_webhooks"),
    ]
    operations = [
        migrations.AlterModelOptions(
            name="run",
            options={
                "ordering": ["-id"],
                "permissions": [("operate_pipeline", "Can start, retry, pause, cancel and skip")],
            },
        ),
        migrations.AlterModelOptions(
            name="documentstate",
            options={"verbose_name": "ledger row", "verbose_name_plural": "ledger rows"},
        ),
        migrations.RunPython(create, remove),
    ]
