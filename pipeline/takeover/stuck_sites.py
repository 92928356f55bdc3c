"""The one-off carry-over from the old system: its sites in OCR, and its dead jobs in the queue."""

from collections.abc import Callable
from dataclasses import dataclass, field

import django_rq
from django.db import IntegrityError
from redis import Redis
from redis.exceptions import RedisError

from pipeline.errors import Fenced
from pipeline.models import Intervention, Run
from pipeline.takeover import old_jobs, old_rows, one_site
from pipeline.takeover.holdings import warm_reader
from pipeline.takeover.needs import CannotTakeOver, check_database, check_storage
from pipeline.takeover.old_jobs import Cleaned
from pipeline.takeover.old_rows import OldSite
from pipeline.takeover.one_site import Carried
from sites.models import Site
from sites.stages import Stage

BY = "migrate_stuck_sites"
NOTHING = Cleaned(0, 0)


@dataclass
class StuckSitesReport:
    dry_run: bool
    sites: list[Carried] = field(default_factory=list)
    already: int = 0
    unknown: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    cleaned: Cleaned = NOTHING


def carry_over(*, dry_run: bool, tell: Callable[[str], None] = lambda line: None) -> StuckSitesReport:
    """Every site that the old table has in OCR and that has had no run here; then the queue.

    `tell` hears of every row, of some with nothing to say.
    """
    _check_database()
    queue = _queue()
    report = StuckSitesReport(dry_run)
    with warm_reader():
        for old in old_rows.stuck_in_ocr():
            _carry_one(old, report, tell)
    report.cleaned = _clean(queue, report)
    if not dry_run and (report.sites or report.cleaned != NOTHING):
        _note(report)
    return report


def count_old_rows() -> int:
    _check_database()
    return old_rows.count_stuck_in_ocr()


# ---- What must be there -------------------------------------------------------------------------------


def _check_database() -> None:
    if not old_rows.has_progress_table():
        raise CannotTakeOver(
            "there is no table site_progress: this database was never the old system's, or the table was"
            " dropped since. Nothing was changed."
        )
    check_database()


def _queue() -> Redis:
    queue = django_rq.get_connection(Stage.OCR.value)
    try:
        queue.ping()
    except RedisError as error:
        raise CannotTakeOver(f"Redis does not answer ({error}). Nothing was changed.") from error
    return queue


# ---- One site -----------------------------------------------------------------------------------------


def _carry_one(old: OldSite, report: StuckSitesReport, tell: Callable[[str], None]) -> None:
    site_id = old.site_id
    if not Site.objects.filter(pk=site_id).exists():
        report.unknown.append(site_id)
        tell(f"{site_id}: there is no such site; its row stays in site_progress")
    elif Run.objects.filter(site_id=site_id).exists():
        report.already += 1
        tell("")
    else:
        check_storage()
        try:
            carried, found = one_site.foresee_stuck(old) if report.dry_run else one_site.write_stuck(old, BY)
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
            if found.left_out:
                report.left_out[site_id] = found.left_out


# ---- The queue, and the record ------------------------------------------------------------------------


def _clean(queue: Redis, report: StuckSitesReport) -> Cleaned:
    try:
        return old_jobs.count(queue) if report.dry_run else old_jobs.remove(queue)
    except RedisError as error:
        done = (
            "Nothing was changed."
            if report.dry_run
            else f"{len(report.sites)} sites were migrated; run it again."
        )
        raise CannotTakeOver(f"Redis went away while the queue was cleaned ({error}). {done}") from error


def _note(report: StuckSitesReport) -> None:
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
