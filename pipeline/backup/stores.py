"""Which folders a back-up holds: the storage of every site, and what readers have."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from pipeline.backup.notebook import Notebook
from pipeline.backup.tables import stem_of
from pipeline.backup.trees import Wanted
from pipeline.stages.deploy import databases_dir
from pipeline.stages.shared_files import shared
from pipeline.work.deploy.directory import VERSIONS
from sites.models import Site
from sites.storage import SiteFiles

STORAGE, PUBLISHED = "storage", "published"
# What grows with every document; the rest of a site's folder is made from it.
OF_DOCUMENTS = ("pdfs", "txt", "facts")


@dataclass(frozen=True)
class Folder:
    """`alone`: only the files that lie in it, not those of its subfolders."""

    store: str
    name: str
    alone: bool = False

    @property
    def path(self) -> Path:
        return root_of(self.store) / self.name


def root_of(store: str) -> Path:
    return Path(settings.STORAGE_DIR) if store == STORAGE else databases_dir()


def folders() -> Iterator[Folder]:
    """Folder by folder, so that memory is bounded by the largest one. Links first, then what they lead to."""
    yield from (Folder(STORAGE, name) for name in sorted(_site_folders()))
    yield Folder(PUBLISHED, "", alone=True)
    yield from (Folder(PUBLISHED, f"{VERSIONS}/{name}") for name in _names(databases_dir() / VERSIONS))


def _site_folders() -> set[str]:
    found = set(_names(Path(settings.STORAGE_DIR)))
    # With a share, this machine may not even have the folder yet.
    return found | set(Site.objects.values_list("pk", flat=True)) if settings.STORAGE_URL else found


def _names(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def bring(folder: Folder) -> None:
    """What other machines have stored of this site."""
    if folder.store == STORAGE and settings.STORAGE_URL:
        with shared() as storage:
            storage.pull_all(SiteFiles.of(folder.name).root)


def wanted_of(folder: Folder, notebook: Notebook, moment_ns: int) -> Wanted:
    """Which files belong to the moment of the database.

    A document that came after it has a file and no row: restored, it would be a file of nobody.
    """

    def wanted(name: str, told: os.stat_result) -> bool:
        if folder.alone and "/" in name:
            return False
        if folder.store != STORAGE or told.st_mtime_ns <= moment_ns:
            return True
        parts = name.split("/")
        kind = parts[1:2] if parts[0] == "_agendas" else parts[:1]
        if kind[0:1] and kind[0] not in OF_DOCUMENTS:
            return True
        stem = stem_of(name)
        return notebook.knows(folder.name, stem, stem.rpartition("/")[0])

    return wanted


def push(folder: Folder) -> None:
    """Hand what was restored of a site to the machines that share it, in the pieces that they expect."""
    if folder.store != STORAGE or not settings.STORAGE_URL:
        return
    files = SiteFiles.of(folder.name)
    with shared() as storage:
        for kind in ("pdfs", "facts"):
            for top in files.folders(kind):
                for path in _files_in(top):
                    storage.push(path)
        for top in files.folders("txt"):
            for path in _documents_in(top):
                storage.push(path)
        for path in (files.database, files.kept_database):
            storage.push(path)


def _files_in(top: Path) -> Iterator[Path]:
    for name, _, found in os.walk(top):
        yield from (Path(name, each) for each in sorted(found))


def _documents_in(top: Path) -> Iterator[Path]:
    """A folder of texts in a meeting's folder is one document; a text that lies there alone is another."""
    for name, subfolders, found in os.walk(top):
        folder = Path(name)
        depth = len(folder.relative_to(top).parts)
        if depth >= 2 and found and not subfolders:
            yield folder
        else:
            yield from (folder / each for each in sorted(found))
