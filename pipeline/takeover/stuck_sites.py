"""The one-off carry-over from the old system: its sites in OCR, and its dead jobs in the queue."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import django_rq
from django.conf import settings
from django.db import IntegrityError, connection
from django.utils.dateparse import parse_datetime
from redis import Redis
from redis.exceptions import RedisError

from pipeline.errors import Fenced
from pipeline.models import Intervention, Run
from pipeline.takeover import old_jobs, one_site
from pipeline.takeover.old_jobs import Cleaned
from pipeline.takeover.one_site import Carried, OldRow
from sites.models import Site
from sites.stages import Stage

BY = "migrate_stuck_sites"
NEEDED = {"sites", "documents", "runs", "document_pipeline_state"}
PAGE = 1000
NOTHING = Cleaned(0, 0)


class CannotCarryOver(Exception):
    """Something that is needed is not there; the message says what, and what was done so far."""


@dataclass
class Report:
    dry_run: bool
    sites: list[Carried] = field(default_factory=list)
    already: int = 0
    unknown: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    cleaned: Cleaned = NOTHING


def carry_over(*, dry_run: bool, tell: Callable[[str], None] = lambda line: None) -> Report:
    """Every site that the old table has in OCR and that has had no run here; then the queue.

    `tell` hears of every row, of some with nothing to say.
    """
    _check_database()
    queue = _queue()
    report = Report(dry_run)
    for row in old_rows():
        _carry_one(row, report, tell)
    report.cleaned = _clean(queue, report)
    if not dry_run and (report.sites or report.cleaned != NOTHING):
        _note(report)
    return report


def count_old_rows() -> int:
    _check_database()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM site_progress WHERE current_stage = %s", [Stage.OCR.value])
        return cursor.fetchone()[0]


def old_rows() -> Iterator[OldRow]:
    """Page by page, so that neither a cursor nor the rows are held while the work goes on."""
    after = ""
    while page := _page(after):
        yield from page
        after = page[-1].site_id


def _page(after: str) -> list[OldRow]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT subdomain, stage_total, started_at, updated_at FROM site_progress"
            " WHERE current_stage = %s AND subdomain > %s ORDER BY subdomain LIMIT %s",
            [Stage.OCR.value, after, PAGE],
        )
        return [
            OldRow(pk, total or 0, _moment(began), _moment(at)) for pk, total, began, at in cursor.fetchall()
        ]


def _moment(value: datetime | str | None) -> datetime | None:
    moment = parse_datetime(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


# ---- What must be there -------------------------------------------------------------------------------


def _check_database() -> None:
    tables = set(connection.introspection.table_names())
    if "site_progress" not in tables:
        raise CannotCarryOver(
            "there is no table site_progress: this database was never the old system's, or the table was"
            " dropped since. Nothing was changed."
        )
    if not tables >= NEEDED:
        raise CannotCarryOver("run `manage.py migrate pipeline` first. Nothing was changed.")


def _queue() -> Redis:
    queue = django_rq.get_connection(Stage.OCR.value)
    try:
        queue.ping()
    except RedisError as error:
        raise CannotCarryOver(f"Redis does not answer ({error}). Nothing was changed.") from error
    return queue


def _check_storage() -> None:
    if not Path(settings.STORAGE_DIR).is_dir():
        raise CannotCarryOver(
            f"STORAGE_DIR={settings.STORAGE_DIR} is not there, and without it every document would count as"
            " failed. No further site was changed."
        )


# ---- One site -----------------------------------------------------------------------------------------


def _carry_one(row: OldRow, report: Report, tell: Callable[[str], None]) -> None:
    site_id = row.site_id
    if not Site.objects.filter(pk=site_id).exists():
        report.unknown.append(site_id)
        tell(f"{site_id}: there is no such site; its row stays in site_progress")
    elif Run.objects.filter(site_id=site_id).exists():
        report.already += 1
        tell("")
    else:
        _check_storage()
        try:
            carried = one_site.foresee(row) if report.dry_run else one_site.write(row, BY)
        except (OSError, ValueError) as error:
            report.unreadable[site_id] = str(error)
            tell(f"{site_id}: left as it was, its storage cannot be read ({error})")
        except (IntegrityError, Fenced):
            if not Run.objects.filter(site_id=site_id).exists():
                raise
            report.already += 1  # another one of these commands was faster
        else:
            report.sites.append(carried)
            tell(str(carried))


# ---- The queue, and the record ------------------------------------------------------------------------


def _clean(queue: Redis, report: Report) -> Cleaned:
    try:
        return old_jobs.count(queue) if report.dry_run else old_jobs.remove(queue)
    except RedisError as error:
        done = (
            "Nothing was changed."
            if report.dry_run
            else f"{len(report.sites)} sites were migrated; run it again."
        )
        raise CannotCarryOver(f"Redis went away while the queue was cleaned ({error}). {done}") from error


def _note(report: Report) -> None:
    Intervention.objects.create(
        action=BY,
        reason="taking over the old system",
        by=BY,
        details={
            "sites": len(report.sites),
            "coordinators": report.cleaned.coordinators,
            "ocr_jobs": report.cleaned.ocr_jobs,
        },
    )
