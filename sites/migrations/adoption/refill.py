"""Going back: what the old code reads is written again, from the new state and from what was kept."""

import json
from datetime import datetime

from django.db.models import Case, CharField, F, Func, Q, Value, When
from django.db.models.functions import Coalesce

from sites.migrations.adoption.columns import table_exists

KEPT_PROGRESS, KEPT_COLUMNS = "kept_site_progress", "kept_legacy_columns"
# The old table as an undone drop left it: what differs from it was written by the old system.
REFILLED = "refilled_site_progress"
LEGACY = ("status", "extraction_status", "last_updated", "last_deployed", "last_extracted")
PROGRESS = ("current_stage", "stage_total", "stage_completed", "started_at", "updated_at")
STATUS = {
    "ocr": "needs_ocr",
    "compilation": "needs_extraction",
    "extraction": "needs_extraction",
    "deploy": "needs_deploy",
    "completed": "deployed",
}


def keep_progress(apps, schema_editor) -> None:
    """A site that never ran here has its history only in the old table: a plain copy stays."""
    columns = ", ".join(("subdomain", *PROGRESS))
    schema_editor.execute(f"DROP TABLE IF EXISTS {REFILLED}")
    schema_editor.execute(f"CREATE TABLE {KEPT_PROGRESS} AS SELECT {columns} FROM site_progress")


def bring_back_progress(apps, schema_editor) -> None:
    columns = ", ".join(("subdomain", *PROGRESS))
    if table_exists(schema_editor.connection, KEPT_PROGRESS):
        schema_editor.execute(f"INSERT INTO site_progress ({columns}) SELECT {columns} FROM {KEPT_PROGRESS}")
        schema_editor.execute(f"DROP TABLE {KEPT_PROGRESS}")
    refill_progress(apps, schema_editor)
    schema_editor.execute(f"CREATE TABLE {REFILLED} AS SELECT subdomain, updated_at FROM site_progress")


def keep_columns(apps, schema_editor) -> None:
    columns = ", ".join(("subdomain", *LEGACY))
    schema_editor.execute(f"CREATE TABLE {KEPT_COLUMNS} AS SELECT {columns} FROM sites")


def bring_back_columns(apps, schema_editor) -> None:
    if table_exists(schema_editor.connection, KEPT_COLUMNS):
        values = ", ".join(f"{column} = kept.{column}" for column in LEGACY)
        schema_editor.execute(
            f"UPDATE sites SET {values} FROM {KEPT_COLUMNS} AS kept WHERE kept.subdomain = sites.subdomain"
        )
        schema_editor.execute(f"DROP TABLE {KEPT_COLUMNS}")
    refill_columns(apps, schema_editor)


def give_back_untouched(apps, schema_editor) -> None:
    """A site that was taken over and has not moved since stands again where the old system left it."""
    Site = apps.get_model("sites", "Site")
    for adoption in apps.get_model("pipeline", "Adoption").objects.exclude(run_id=None).iterator():
        before = dict(adoption.before)
        stood_at = before.pop("stood_at", None)
        if not before or stood_at is None:
            continue
        values = {name: _moment(value) if name.endswith("_at") else value for name, value in before.items()}
        untouched = Site.objects.filter(pk=adoption.pk, run_id=adoption.run_id, updated_at=_moment(stood_at))
        untouched.update(run_id=None, last_completed_at=None, **values)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def refill(apps, schema_editor) -> None:
    schema_editor.execute(f"DROP TABLE IF EXISTS {REFILLED}")
    refill_progress(apps, schema_editor)
    refill_columns(apps, schema_editor)


def refill_progress(apps, schema_editor) -> None:
    SiteProgress = apps.get_model("sites", "SiteProgress")
    rows = []
    for site in _started(apps, schema_editor.connection).order_by("pk").iterator(chunk_size=1000):
        rows.append(SiteProgress(subdomain=site.pk, **_progress_of(site)))
        if len(rows) == 1000:
            _upsert(SiteProgress, rows)
            rows = []
    _upsert(SiteProgress, rows)


def _progress_of(site) -> dict:
    stage = "deploy" if site.current_stage == "completed" else site.current_stage
    return {
        "current_stage": site.current_stage,
        # A stage that is none of ours has no counters.
        "stage_total": getattr(site, f"{stage}_total", 0),
        "stage_completed": getattr(site, f"{stage}_completed", 0),
        "started_at": site.started_at,
        "updated_at": site.updated_at,
    }


def _upsert(SiteProgress, rows: list) -> None:
    SiteProgress.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["subdomain"], update_fields=list(PROGRESS)
    )


class Text(Func):
    """A moment as the old system wrote it: `2024-05-06T07:08:09`, in UTC."""

    output_field = CharField()
    arity = 1

    def as_postgresql(self, compiler, connection):
        template = "to_char(%(expressions)s AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS')"
        return self.as_sql(compiler, connection, template=template)

    def as_sqlite(self, compiler, connection):
        return self.as_sql(
            compiler, connection, template="strftime('%%%%Y-%%%%m-%%%%dT%%%%H:%%%%M:%%%%S', %(expressions)s)"
        )


def refill_columns(apps, schema_editor) -> None:
    """One statement: it may run under the lock of the columns it fills."""
    sites = _started(apps, schema_editor.connection)
    fields = {field.name for field in sites.model._meta.get_fields()}
    knows = "last_completed_at" in fields
    finished = F("last_completed_at" if knows else "updated_at")
    # Nothing to show, or nothing but what could not be read.
    empty = Q(current_stage="completed", last_error_stage__in=["fetch", "ocr"], deploy_total=0)
    extracted = Q(current_stage__in=["deploy", "completed"], extraction_total__gt=0)
    waiting = Q(current_stage__in=["fetch", "ocr", "compilation", "extraction"])
    deployed = ~empty if knows else Q(current_stage="completed") & ~empty
    sites.update(
        status=Case(
            When(empty, then=Value("no_documents")),
            *(When(current_stage=stage, then=Value(status)) for stage, status in STATUS.items()),
            default=Coalesce(F("status"), Value("new")),
        ),
        extraction_status=Case(
            When(extracted, then=Value("completed")),
            When(waiting, then=Value("pending")),
            default=F("extraction_status"),
        ),
        last_updated=_newer(Text("updated_at"), "last_updated"),
        last_deployed=Case(
            When(deployed, then=_newer(Text(finished), "last_deployed")), default=F("last_deployed")
        ),
        last_extracted=Case(
            When(extracted, then=_newer(Text(Coalesce(finished, "updated_at")), "last_extracted")),
            default=F("last_extracted"),
        ),
    )


def _newer(value, column: str) -> Coalesce:
    return Coalesce(value, F(column))


def _started(apps, connection):
    """The sites that Clerk has run. What it never touched is still as the old system left it."""
    Site = apps.get_model("sites", "Site")
    started = Site.objects.exclude(current_stage=None)
    knows = any(field.name == "run_id" for field in Site._meta.get_fields())
    # Before there were runs Clerk could run nothing.
    return (
        started.exclude(run_id=None).exclude(pk__in=_resting(Site, connection)) if knows else started.none()
    )


def _resting(Site, connection) -> list[str]:
    """Sites that were taken over and have not moved since. The state of a drop need not know that table."""
    if not table_exists(connection, "adoptions"):
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT subdomain, run_id, before FROM adoptions WHERE run_id IS NOT NULL")
        rows = cursor.fetchall()
    stood = {
        site_id: (
            run_id,
            _moment((json.loads(before) if isinstance(before, str) else before).get("stood_at")),
        )
        for site_id, run_id, before in rows
    }
    stands = Site.objects.values_list("pk", "run_id", "updated_at")
    return [site_id for site_id, *now in stands if stood.get(site_id) == tuple(now)]
