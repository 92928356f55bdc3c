"""What was removed or taken down long enough ago is deleted for good: files, texts, facts, rows."""

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from pipeline.models import DocumentState, Intervention, Retirement, Run, Takedown
from pipeline.operations.retiring import withdraw_now
from pipeline.stages.decisions import versions_of
from pipeline.stages.deploy import served, withdraw
from pipeline.stages.documents import stable_id
from pipeline.stages.shared_files import push_database, shared
from pipeline.work import pictures
from pipeline.work.database.file import writing
from pipeline.work.deploy.withdrawal import withdraw_documents
from pipeline.work.index import upkeep
from sites.models import Document, Site
from sites.storage import SiteFiles

BATCH = 1000


def _cutoff(now: datetime) -> datetime:
    return now - timedelta(days=settings.KEEP_REMOVED_DAYS)


# ---- Sites --------------------------------------------------------------------------------------------


def sites_to_withdraw() -> Iterator[Retirement]:
    """Removed sites that a target did not give back when it was asked."""
    return (
        each for each in Retirement.objects.removed() if "not yet withdrawn" in each.details.get("left", "")
    )


def sites_to_purge(now: datetime) -> list[Retirement]:
    return list(Retirement.objects.removed().filter(at__lte=_cutoff(now)))


def purge_site(retirement: Retirement) -> None:
    """From readers once more, then files, then rows. Cut off, it is begun again and finds less to do."""
    left = withdraw_now(retirement)
    if "not yet withdrawn" in left:
        return
    site_id = retirement.subdomain
    documents = Document.objects.filter(site_id=site_id)
    counts = {"documents": documents.count(), "bytes": sum(size or 0 for size in _sizes(documents))}
    _forget_pictures(documents.select_related("source").iterator(chunk_size=BATCH))
    _remove_storage(SiteFiles.of(site_id).root)
    with transaction.atomic():
        for note in Intervention.objects.filter(site_id=site_id).iterator(chunk_size=BATCH):
            # What people did stays on record, without the site that it was done to.
            note.site, note.details = None, {"site": site_id, **note.details}
            note.save(update_fields=["site", "details"])
        _delete_rows(site_id)
        Retirement.objects.filter(pk=retirement.pk).update(
            purged_at=timezone.now(), details={**retirement.details, **counts}
        )


def _sizes(documents: Iterable[Any]) -> Iterator[int | None]:
    return documents.values_list("size", flat=True).iterator(chunk_size=BATCH)  # type: ignore[attr-defined]


def _delete_rows(site_id: str) -> None:
    """The large tables first, by their own key; what is left goes with the site."""
    DocumentState.objects.filter(site_id=site_id)._raw_delete("default")
    for model in apps.get_app_config("pipeline").get_models():
        if {"run"} <= {field.name for field in model._meta.fields} and model is not DocumentState:
            model._default_manager.filter(run__site_id=site_id).delete()
    Run.objects.filter(site_id=site_id)._raw_delete("default")
    Site.objects.filter(pk=site_id).delete()


def _remove_storage(root: Path) -> None:
    with shared() as storage:
        storage.remove_all(root)
    shutil.rmtree(root, ignore_errors=True)
    if root.exists():
        raise OSError(f"{root} could not be removed")


# ---- Documents ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Purgeable:
    takedown: Takedown
    documents: list[Document]


def takedowns_to_purge(now: datetime) -> Iterator[Purgeable]:
    due = Takedown.objects.filter(at__lte=_cutoff(now), lifted_at=None, purged_at=None)
    for takedown in due.exclude(site__runs__status=Run.Status.RUNNING):
        found = Document.objects.filter(versions_of(takedown)).select_related("source")
        yield Purgeable(takedown, list(found))


def purge_takedown(purgeable: Purgeable) -> None:
    """Nothing of the document is left but that it was taken down: should it be lifted, it is fetched anew."""
    takedown, documents = purgeable.takedown, purgeable.documents
    ids = {stable_id(document) for document in documents}
    withdraw(takedown.site_id, ids)
    _forget_pictures(documents)
    files = SiteFiles.of(takedown.site_id)
    for document in documents:
        if document.path:
            _remove_document(files, document.path)
    _scrub_database(files, ids)
    with transaction.atomic():
        DocumentState.objects.filter(document__in=documents).delete()
        Document.objects.filter(pk__in=[document.pk for document in documents]).update(
            path="", sha256="", size=None, etag="", last_modified="", title="", pages=None
        )
        Takedown.objects.filter(pk=takedown.pk).update(purged_at=timezone.now())
        site = Site.objects.get(pk=takedown.site_id)
        Intervention.objects.create(
            site=site, action="purge takedown", by="prune", details={"documents": len(documents)}
        )


def _remove_document(files: SiteFiles, path: str) -> None:
    with shared() as storage:
        for each in (files.file(path), files.text_dir(path), files.facts_file(path)):
            storage.remove(each)
            if each.is_dir():
                shutil.rmtree(each)
            else:
                each.unlink(missing_ok=True)


def _scrub_database(files: SiteFiles, ids: set[str]) -> None:
    """Out of the compiled database, its free pages included."""
    with shared() as storage:
        storage.pull(files.database)
    if not files.database.is_file():
        return
    with writing(files.database):
        with closing(sqlite3.connect(files.database, isolation_level=None, timeout=60)) as connection:
            _forget(connection, ids)
        withdraw_documents(files.database, ids)
        with closing(sqlite3.connect(files.database, isolation_level=None, timeout=60)) as connection:
            connection.execute("VACUUM")
    push_database(files, lambda: None)


def _forget(connection: sqlite3.Connection, ids: set[str]) -> None:
    """What the compilation itself remembers of them."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in tables & {"_compiled", "_extracted"}:
        connection.executemany(f"DELETE FROM {table} WHERE id = ?", [(each,) for each in ids])  # noqa: S608


def _forget_pictures(documents: Iterable[Document]) -> None:
    cache = Path(settings.RECORDS_IMAGE_CACHE_DIR)
    for document in documents:
        content = document.sha256 or f"{document.site_id}/{stable_id(document)}"
        pictures.forget(cache, content, document.pages or 1)


def _write_index_anew(needed: bool) -> None:
    """The search index only marks what is deleted, until its pieces are merged."""
    if needed and settings.SEARCH_INDEX:
        upkeep.rebuild(Path(settings.SEARCH_INDEX_DIR), served, lambda synced: None)


# ---- For `prune` --------------------------------------------------------------------------------------


def sites(now: datetime, dry_run: bool) -> tuple[int, int]:
    found = sites_to_purge(now)
    if not dry_run:
        for retirement in sites_to_withdraw():
            withdraw_now(retirement)
        for retirement in found:
            purge_site(retirement)
        _write_index_anew(bool(found))
    return len(found), 0


def takedowns(now: datetime, dry_run: bool) -> tuple[int, int]:
    found = list(takedowns_to_purge(now))
    if not dry_run:
        for each in found:
            purge_takedown(each)
        _write_index_anew(bool(found))
    return len(found), 0
