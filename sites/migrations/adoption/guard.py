"""The drops ask before they go: on a database with sites in it, every criterion must hold."""

from datetime import timedelta

import structlog
from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from pipeline.verify.preflight import Criterion, preflight
from sites.migrations.adoption.columns import table_exists
from sites.migrations.adoption.refill import REFILLED

log = structlog.get_logger()
QUIET = timedelta(hours=24)


class DropRefused(CommandError):
    """Not yet: the message names each criterion that failed. Nothing was changed."""


def before_dropping_the_table(apps, schema_editor) -> None:
    _refuse_unless(apps, "site_progress", [*_judge(apps), *_the_table_rests(apps, schema_editor.connection)])


def before_dropping_the_columns(apps, schema_editor) -> None:
    _refuse_unless(apps, "the legacy columns of sites", _judge(apps))


def _refuse_unless(apps, what: str, criteria: list[Criterion]) -> None:
    failed = [criterion for criterion in criteria if not criterion.ok]
    if not failed or not apps.get_model("sites", "Site").objects.exists():
        return
    reasons = [f"{criterion.name}: {criterion.detail}" for criterion in failed]
    if settings.CLERK_ALLOW_DROPS:
        return log.warning("drop forced by CLERK_ALLOW_DROPS", dropping=what, failed=reasons)
    raise DropRefused(
        f"{what} cannot be dropped yet; nothing was changed. Of {len(criteria)} criteria these fail:\n"
        + "\n".join(f"  - {reason}" for reason in reasons)
        + "\nLook again with `manage.py verify --preflight`. CLERK_ALLOW_DROPS=1 drops all the same."
    )


def _judge(apps) -> list[Criterion]:
    models = [("sites", "Site"), ("pipeline", "ReconcileRun"), ("pipeline", "Intervention")]
    return preflight(*(apps.get_model(*model) for model in models), now=timezone.now())


def _the_table_rests(apps, connection) -> list[Criterion]:
    rows = apps.get_model("sites", "SiteProgress").objects
    recent = rows.filter(updated_at__gte=timezone.now() - QUIET).values_list("subdomain", flat=True)
    written = len(set(recent) - _written_by_clerk(connection))
    sites = apps.get_model("sites", "Site").objects.filter(current_stage=None)
    left = rows.filter(current_stage="ocr", subdomain__in=sites.values("subdomain")).count()
    return [
        Criterion("site_progress has no row written in the last 24 hours", not written, f"{written} rows"),
        Criterion(
            "every site that site_progress has in OCR was carried over",
            not left,
            f"{left} sites left; run `manage.py migrate_stuck_sites`",
        ),
    ]


def _written_by_clerk(connection) -> set[str]:
    """Rows that are still as undoing the drop wrote them."""
    if not table_exists(connection, REFILLED):
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT row.subdomain FROM site_progress AS row JOIN {REFILLED} AS ours"
            " ON ours.subdomain = row.subdomain AND ours.updated_at = row.updated_at"
        )
        return {site_id for (site_id,) in cursor.fetchall()}
