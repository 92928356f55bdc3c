"""What a monitor reads every few seconds: the counters of the sites, the queues, and the tally.

A fixed number of queries, none of which reads the ledger: that is what the snapshot is for.
"""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db.models import Count, Q, Sum
from django.utils import timezone
from redis.exceptions import RedisError

from pipeline.models import ReconcileRun, Run
from pipeline.queue import inspection, tally
from pipeline.queue.inspection import Workforce
from pipeline.queue.tally import Tally
from pipeline.reports import snapshot
from pipeline.reports.sites import failed_sites
from pipeline.reports.snapshot import Snapshot
from pipeline.work.index import generations
from sites.models import STUCK_AFTER, Site, untouched_since
from sites.stages import WORK_STAGES, Stage

PARTS = ("total", "completed", "failed")
NEVER_RUN = "never_run"


@dataclass(frozen=True)
class SiteFigures:
    by_stage: dict[str, int]
    conditions: dict[str, int]
    # The counters of every site's current run, added up: [stage][total, completed, failed].
    jobs: dict[str, dict[str, int]]


@dataclass(frozen=True)
class LastReconcile:
    age: float
    seconds: float
    found: int
    recovered: int
    given_up: int
    failed: bool


@dataclass(frozen=True)
class Disk:
    free: int
    total: int


@dataclass(frozen=True)
class IndexFigures:
    pages: int
    bytes: int
    written_at: float


@dataclass(frozen=True)
class Scrape:
    sites: SiteFigures
    reconcile: LastReconcile | None
    force: Workforce
    tally: Tally
    snapshot: Snapshot | None
    disks: dict[str, Disk]
    index: IndexFigures | None
    seconds: float


def read_scrape() -> Scrape:
    began = time.monotonic()
    try:
        counted, taken = tally.read(), snapshot.latest()
    except RedisError:
        counted, taken = {}, None
    return Scrape(
        sites=_sites(),
        reconcile=_last_reconcile(),
        force=inspection.read_workforce(),
        tally=counted,
        snapshot=taken,
        disks=_disks(),
        index=_index(),
        seconds=time.monotonic() - began,
    )


def _sites() -> SiteFigures:
    """The whole table once: stages, conditions and counters in one query."""
    stages = [stage.value for stage in Stage]
    quiet = ~Q(current_stage=Stage.COMPLETED) & Q(current_stage__isnull=False, paused_at=None)
    asked = {f"stage_{stage}": Count("pk", filter=Q(current_stage=stage)) for stage in stages}
    asked |= {
        "paused": Count("pk", filter=Q(paused_at__isnull=False)),
        "attention": Count("pk", filter=~Q(attention_reason="")),
        "stuck": Count("pk", filter=quiet & untouched_since(timezone.now() - STUCK_AFTER)),
        "all": Count("pk"),
    }
    sums = {f"{stage}_{part}": Sum(f"{stage}_{part}") for stage in WORK_STAGES for part in PARTS}
    found = Site.objects.aggregate(**asked, **{f"sum_{name}": each for name, each in sums.items()})
    by_stage = {stage: found[f"stage_{stage}"] for stage in stages}
    conditions = {name: found[name] for name in ("paused", "attention", "stuck")}
    return SiteFigures(
        by_stage={**by_stage, NEVER_RUN: found["all"] - sum(by_stage.values())},
        conditions={
            **conditions,
            "failed": failed_sites().count(),
            "running": Run.objects.running().count(),
        },
        jobs={
            stage.value: {part: found[f"sum_{stage}_{part}"] or 0 for part in PARTS} for stage in WORK_STAGES
        },
    )


def _last_reconcile() -> LastReconcile | None:
    last = ReconcileRun.objects.filter(finished_at__isnull=False).defer("repairs").first()
    if last is None or last.finished_at is None:
        return None
    return LastReconcile(
        age=(timezone.now() - last.finished_at).total_seconds(),
        seconds=(last.finished_at - last.started_at).total_seconds(),
        found=last.found,
        recovered=last.recovered,
        given_up=last.given_up,
        failed=bool(last.error),
    )


def _disks() -> dict[str, Disk]:
    """Of the machine that is asked; folders that are not there yet are not shown."""
    folders = {
        "storage": settings.STORAGE_DIR,
        "deployed": settings.DEPLOY_DIR,
        "index": settings.SEARCH_INDEX_DIR,
        "images": settings.RECORDS_IMAGE_CACHE_DIR,
    }
    found = {}
    for name, folder in folders.items():
        try:
            usage = shutil.disk_usage(folder)
        except OSError:
            continue
        found[name] = Disk(usage.free, usage.total)
    return found


def _index() -> IndexFigures | None:
    try:
        folder = generations.serving(Path(settings.SEARCH_INDEX_DIR))
        if folder is None:
            return None
        shape = generations.shape_of(folder)
        return IndexFigures(shape.pages, shape.bytes, (folder / "meta.json").stat().st_mtime)
    except (OSError, ValueError, KeyError):  # a generation that goes away this moment
        return None
