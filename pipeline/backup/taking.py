"""Takes a back-up: the database of one moment, the files that belong to it, then what it says of itself."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connections

from pipeline.backup import manifest, moment, stores, tables
from pipeline.backup.lock import only_one
from pipeline.backup.manifest import Manifest, Tree
from pipeline.backup.notebook import notebook
from pipeline.backup.objects import Objects
from pipeline.backup.stores import Folder
from pipeline.backup.tables import Said
from pipeline.backup.target import BackupError, Target, in_words, open_target
from pipeline.backup.trees import Counted, Lister, remembered
from pipeline.redaction import HIDDEN, redact

STAMP = "%Y%m%dT%H%M%S%fZ"
# A setting of such a name is not written down at all.
SECRET = re.compile(r"SECRET|PASSWORD|TOKEN|KEY|DSN|CREDENTIAL", re.IGNORECASE)


@dataclass(frozen=True)
class Taken:
    manifest: Manifest
    new_objects: int
    new_bytes: int
    dropped: tuple[str, ...]
    freed: int


@dataclass(frozen=True)
class Plan:
    """What a back-up would hold."""

    rows: int
    folders: int
    files: int
    bytes: int


@contextmanager
def working(target: Target) -> Iterator[Objects]:
    try:
        with tempfile.TemporaryDirectory(prefix="clerk-backup-") as scratch, notebook(Path(scratch)) as book:
            yield Objects(target, Path(scratch), book)
    except OSError as error:
        raise BackupError(in_words(getattr(error, "filename", None) or "this machine", error)) from error


def backup(address: str, *, keep: int = 0, with_files: bool = True, say: Said = lambda said: None) -> Taken:
    """`keep`: how many back-ups stay, this one included; 0: all of them."""
    target = open_target(address)
    with only_one(), working(target) as objects:
        manifest.prepare(target)
        objects.look()
        taken = _begin(with_files)
        began_ns = int(datetime.fromisoformat(taken.taken_at).timestamp() * 1e9)
        with moment.one_moment() as alias:
            taken.migrations = moment.applied(alias)
            tables.dump(taken, objects, alias, say)
        before = _latest(target)
        for folder in stores.folders():
            tree = _keep_folder(folder, objects, before, began_ns, copy=with_files)
            taken.trees.append(tree)
            say(f"{folder.store}/{folder.name}: {tree.files:,} files, {tree.bytes:,} bytes")
        _verify(taken, objects)
        manifest.write(target, taken)
        written = objects.written, objects.written_bytes
        return Taken(taken, *written, *drop_old(target, objects, keep))


def _begin(with_files: bool) -> Manifest:
    now = datetime.now(UTC)
    return Manifest(
        name=f"{now:{STAMP}}",
        taken_at=now.isoformat(),
        vendor=connections["default"].vendor,
        migrations=[],
        settings=told_settings(),
        with_files=with_files,
    )


def told_settings() -> dict[str, str]:
    """What the environment and the settings file say, without what is secret in it."""
    said = {name: os.environ[name] for name in sorted(settings.ASKED_FOR) if name in os.environ}
    return {name: HIDDEN if SECRET.search(name) else redact(value) for name, value in said.items()}


def _latest(target: Target) -> Manifest | None:
    names = manifest.names(target)
    return manifest.read(target, names[-1]) if names else None


def _keep_folder(
    folder: Folder, objects: Objects, before: Manifest | None, began_ns: int, *, copy: bool
) -> Tree:
    stores.bring(folder)
    tree = before.tree(folder.store, folder.name) if before else None
    known = objects.lines(tree.listing) if tree and objects.has(tree.listing) else iter(())
    objects.notebook.note_before(remembered(known))
    counted = Counted()
    wanted = stores.wanted_of(folder, objects.notebook, began_ns)
    lister = Lister(objects, folder.path, wanted, counted, copy)
    listing = objects.keep_lines(lister.entries())
    return Tree(folder.store, folder.name, listing, counted.files, counted.bytes)


def plan() -> Plan:
    """Counted, and nothing written anywhere."""
    with moment.one_moment() as alias:
        models = moment.tables_at(moment.applied(alias))
        rows = sum(model._base_manager.using(alias).count() for model in models)
    found = list(stores.folders())
    sizes = [size for folder in found for size in _sizes(folder)]
    return Plan(rows, len(found), len(sizes), sum(sizes))


def _sizes(folder: Folder) -> Iterator[int]:
    for name, folders, files in os.walk(folder.path):
        folders[:] = [each for each in folders if not each.startswith(".") and not folder.alone]
        yield from (path.lstat().st_size for each in files if (path := Path(name, each)).exists())


# ---- Is it whole? -------------------------------------------------------------------------------------


def digests_of(taken: Manifest, objects: Objects) -> Iterator[str]:
    """Every object that this back-up needs, listings and all."""
    for table in taken.tables:
        yield from table.chunks
    for tree in taken.trees:
        yield tree.listing
        if taken.with_files:
            yield from (entry["h"] for entry in objects.lines(tree.listing) if "h" in entry)


def _verify(taken: Manifest, objects: Objects) -> None:
    """What is new was read back when it was written; what is old must be there still."""
    objects.notebook.want_nothing()
    objects.notebook.want(digests_of(taken, objects))
    missing = list(objects.notebook.missing())
    if missing:
        raise BackupError(f"{objects.target}: {len(missing)} objects are missing, {missing[0]} first")


def check(address: str, name: str = "", say: Said = lambda said: None) -> Manifest:
    """Read every object of a back-up and compare it with its hash. A damaged one goes, to be written anew."""
    target = open_target(address)
    with working(target) as objects:
        taken = chosen(target, name)
        objects.look()
        _verify(taken, objects)
        damaged = []
        for digest in objects.notebook.wanted():
            try:
                with objects.fetched(digest):
                    pass
            except BackupError as error:
                say(str(error))
                damaged.append(digest)
        for digest in damaged:
            objects.forget(digest)
        if damaged:
            raise BackupError(
                f"{target}: {len(damaged)} objects of {taken.name} were damaged and are removed; "
                "take a back-up now, which writes them anew"
            )
        return taken


def chosen(target: Target, name: str = "") -> Manifest:
    """The back-up of this name, or the newest."""
    found = manifest.names(target)
    if not found:
        begun = target.size_of(manifest.MARK) is not None
        raise BackupError(
            f"{target}: no finished back-up there"
            + ("; one was begun and did not end" if begun else "; is it mounted, and the right place?")
        )
    if name and name not in found:
        raise BackupError(f"{target}: no back-up {name}; there are {', '.join(found[-5:])}")
    return manifest.read(target, name or found[-1])


# ---- Those that are old enough ------------------------------------------------------------------------


def drop_old(target: Target, objects: Objects, keep: int) -> tuple[tuple[str, ...], int]:
    """Which back-ups went, and how many objects nobody needs any more. Without `keep` nothing goes."""
    found = manifest.names(target)
    old = found[:-keep] if keep else []
    if not old:
        return (), 0
    objects.notebook.want_nothing()
    for name in found[-keep:]:
        objects.notebook.want(digests_of(manifest.read(target, name), objects))
    for name in old:
        manifest.remove(target, name)
    gone = [digest for digest, _ in objects.notebook.unwanted()]
    for digest in gone:
        objects.forget(digest)
    return tuple(old), len(gone)
