from typing import Any

from django.apps import AppConfig
from django.db.models.signals import pre_migrate

from sites.migrations.adoption.deletion import refuse_silent_deletion


class SitesConfig(AppConfig):
    name = "sites"
    verbose_name = "Sites"

    def ready(self) -> None:
        # Django tells every app of the plan before its first step; nothing else sees the plan as a whole.
        pre_migrate.connect(_before_migrating, sender=self, dispatch_uid="sites.deletion")


def _before_migrating(plan: Any, using: str, **kwargs: Any) -> None:
    refuse_silent_deletion(plan, using)
