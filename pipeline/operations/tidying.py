"""Files that may go: of superseded versions, of killed processes, and copies of what machines share."""

import heapq
import os
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings

from pipeline.models import DocumentState, Run, Status
from pipeline.stages.shared_files import shared
from pipeline.work.files import LEFTOVER_SECONDS
from sites.models import Document, Site
from sites.stages import Stage
from sites.storage import SiteFiles

BATCH = 500
OURS = (".building", ".restoring", ".part", ".partial")
# What was used this lately may be in use.
IN_USE_SECONDS = 2 * 60 * 60


# ---- Superseded versions ------------------------------------------------------------------------------


def superseded(now: datetime, dry_run: bool) -> tuple[int, int]:
    """The file goes once its text was read; the text, the facts and the row stay."""
    if not settings.KEEP_SUPERSEDED_DAYS:
        return 0, 0
    since = now - timedelta(days=settings.KEEP_SUPERSEDED_DAYS)
    read = DocumentState.objects.filter(pipeline=Stage.OCR, status=Status.PROCESSED).values("document_id")
    old = Document.objects.filter(superseded_at__lt=since, pk__in=read).exclude(path="")
    count = freed = 0
    for document in old.order_by("pk").iterator(chunk_size=BATCH):
        file = SiteFiles.of(document.site_id).file(document.path)
        if not file.is_file() and not settings.STORAGE_URL:
            continue
        count, freed = count + 1, freed + (document.size or 0)
        if not dry_run:
            with shared() as storage:
                storage.remove(file)
            file.unlink(missing_ok=True)
    return count, freed


# ---- What killed processes left -----------------------------------------------------------------------


def leftovers(now: datetime, dry_run: bool) -> tuple[int, int]:
    """Half-written files older than any job, and what is left in the scratch folders."""
    count = freed = 0
    for path in _half_written():
        try:
            told = path.stat()
        except FileNotFoundError:
            continue
        if told.st_mtime > time.time() - LEFTOVER_SECONDS:
            continue
        count, freed = count + 1, freed + told.st_size
        if not dry_run:
            path.unlink(missing_ok=True)
    return count, freed


def _half_written() -> Iterator[Path]:
    for site in _site_folders():
        scratch = SiteFiles(site).scratch
        for name, folders, files in os.walk(site):
            inside = Path(name).is_relative_to(scratch)
            folders[:] = [
                each for each in folders if inside or not each.startswith(".") or each == scratch.name
            ]
            for each in files:
                if inside or (each.endswith(OURS) and each.startswith((".", "document", *"0123456789"))):
                    yield Path(name, each)


def _site_folders() -> list[Path]:
    root = Path(settings.STORAGE_DIR)
    found = root.iterdir() if root.is_dir() else ()
    return sorted(path for path in found if path.is_dir() and not path.name.startswith("."))


# ---- The local copy of what machines share ------------------------------------------------------------


def cache(now: datetime, dry_run: bool) -> tuple[int, int]:
    """What was longest not used goes first, until the rest fits. Nothing of a site that is in a run."""
    if not settings.STORAGE_URL or not settings.STORAGE_CACHE_MB:
        return 0, 0
    excess = _local_bytes() - settings.STORAGE_CACHE_MB * 2**20
    count = freed = 0
    queue = list(_idle_units())
    heapq.heapify(queue)
    while queue and freed < excess:
        _, name = heapq.heappop(queue)
        gone = _bytes_in(Path(name)) if dry_run else _evict(Path(name))
        count, freed = count + bool(gone), freed + gone
    return count, freed


def _evict(unit: Path) -> int:
    with shared() as storage:
        return storage.evict(unit)


def _idle_units() -> Iterator[tuple[int, str]]:
    busy = set(Run.objects.running().values_list("site_id", flat=True))
    since = time.time_ns() - IN_USE_SECONDS * 10**9
    with shared() as storage:
        for site in _site_folders():
            if site.name in busy or not Site.objects.filter(pk=site.name).exists():
                continue
            for unit in _units(SiteFiles(site)):
                used = storage.last_use(unit)
                if used is not None and used < since:
                    yield used, str(unit)


def _units(files: SiteFiles) -> Iterator[Path]:
    """As they are shared: files, the folder of a document's texts, the database."""
    yield files.database
    for kind in ("pdfs", "facts"):
        for top in files.folders(kind):
            yield from (Path(name, each) for name, _, found in os.walk(top) for each in found)
    for top in files.folders("txt"):
        yield from (Path(name, each) for name, folders, _ in os.walk(top) for each in folders)


def _local_bytes() -> int:
    return sum(_bytes_in(site) for site in _site_folders())


def _bytes_in(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    sizes = 0
    for name, _, files in os.walk(path):
        for each in files:
            try:
                sizes += Path(name, each).stat().st_size
            except FileNotFoundError:
                continue
    return sizes
