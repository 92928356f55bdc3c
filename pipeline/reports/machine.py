"""Whether this machine, and what all machines share, can do the work: each part is asked."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor

from pipeline.errors import PipelineError
from pipeline.queue import clock
from pipeline.reports.health import Check, Level
from pipeline.stages.deploy import targets
from pipeline.stages.ocr import engine_faults
from pipeline.stages.shared_files import shared
from sites.models import Site


def checks() -> list[Check]:
    """Each asks the world outside, so a page that is drawn every few seconds does not ask them."""
    return [storage(), _targets(), _engine(), _clock(), migrations()]


def _check(name: str, good: str, look: Callable[[], str], bad: Level = Level.UNHEALTHY) -> Check:
    try:
        fault = look()
    except (OSError, PipelineError) as error:
        fault = f"{type(error).__name__}: {error}"
    return Check(name, bad if fault else Level.OK, fault or good)


def storage() -> Check:
    return _check("storage", "storage can be written", _fault_of_storage)


def _fault_of_storage() -> str:
    probe = Path(settings.STORAGE_DIR) / f".probe-{uuid.uuid4().hex[:8]}"
    probe.parent.mkdir(parents=True, exist_ok=True)
    try:
        probe.write_text("probe")
        with shared() as storage:
            storage.pull(probe)
    finally:
        probe.unlink(missing_ok=True)
    return ""


def _targets() -> Check:
    return _check("targets", "every deploy target answers", _fault_of_targets)


def _fault_of_targets() -> str:
    for url, target in targets():
        folder = getattr(target, "root", None)
        if isinstance(folder, Path) and folder.exists() and not folder.is_dir():
            return f"{url}: {folder} is no folder"
        target.current("health-check")
    return ""


def _engine() -> Check:
    wanted = sorted(set(Site.objects.exclude(languages="").values_list("languages", flat=True)) | {"eng"})
    return _check("engine", "the OCR engine has its data", lambda: "; ".join(engine_faults(wanted)))


def _clock() -> Check:
    return _check("clock", "the clock agrees with the others", lambda: clock.fault() or _fault_of_clock())


def _fault_of_clock() -> str:
    """Against the database, whose rows are dated by us; SQLite has no clock of its own."""
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        off = (datetime.now(UTC) - cursor.fetchone()[0]).total_seconds()
    return f"{off:+.0f} s between this machine and the database" if abs(off) > clock.MOST_SECONDS else ""


def migrations() -> Check:
    return _check("migrations", "every migration is applied", _fault_of_migrations, Level.DEGRADED)


def _fault_of_migrations() -> str:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    names = [f"{step.app_label}.{step.name}" for step, _ in waiting if not _is_a_drop(step)]
    return f"{len(names)} migrations are not applied: {', '.join(names[:5])}" if names else ""


def _is_a_drop(step: Migration) -> bool:
    """The drops of the old tables wait for a person to be sure; nothing needs them."""
    return step.app_label == "sites" and "_drop_" in step.name
