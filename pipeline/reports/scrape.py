"""What a monitor reads every few seconds: the counters of the sites, the queues, and the tally.

A fixed number of queries, none of which reads the ledger: that is what the snapshot is for.
"""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db.models import Count
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
from sites.models import Site
from sites.stages import Stage

NEVER_RUN = "never_run"


@dataclass(frozen=True)
class SiteFigures:
    by_stage: dict[str, int]
    conditions: dict[str, int]


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
    """Small questions, each answered from an index or a look at one column: together they cost a third of
    one that asks for everything at once."""
    by_stage = dict(Site.objects.order_by().values_list("current_stage").annotate(Count("pk")))
    return SiteFigures(
        by_stage={NEVER_RUN: by_stage.get(None, 0), **{each.value: by_stage.get(each, 0) for each in Stage}},
        conditions={
            "paused": Site.objects.filter(paused_at__isnull=False).count(),
            "attention": Site.objects.exclude(attention_reason="").count(),
            "stuck": Site.objects.stuck().count(),
            "failed": failed_sites().count(),
            "running": Run.objects.running().count(),
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
