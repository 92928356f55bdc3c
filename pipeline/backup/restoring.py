"""Restores a back-up: the files first, then the database in one transaction, then what is made from both."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from pipeline.backup import stores, tables
from pipeline.backup.lock import only_one
from pipeline.backup.manifest import Manifest, Tree
from pipeline.backup.objects import Objects
from pipeline.backup.stores import PUBLISHED, STORAGE, Folder
from pipeline.backup.tables import Said
from pipeline.backup.taking import STAMP, chosen, digests_of, working
from pipeline.backup.target import BackupError, open_target
from pipeline.backup.trees import Filler
from pipeline.queue import emptying
from pipeline.stages.deploy import served
from pipeline.work.index import upkeep
from sites.models import Document, Site

# In the storage while its files are being restored: what is there then is ours to go on with.
UNFINISHED = ".restoring"


@dataclass(frozen=True)
class Restored:
    manifest: Manifest
    brought: int
    # Where what was there before lies now; empty where nothing was.
    set_aside: tuple[str, ...] = ()
    # What could not be made anew, in words.
    left_to_do: tuple[str, ...] = ()


def restore(
    address: str, name: str = "", *, replace: bool = False, say: Said = lambda said: None
) -> Restored:
    target = open_target(address)
    with only_one(), working(target) as objects:
        told = inspect(objects, chosen(target, name), replace=replace)
        aside = _make_room(told) if replace else ()
        _note_unfinished(told)
        brought = sum(_fill(tree, objects, say) for tree in told.trees) if told.with_files else 0
        _load(told, objects, say)
        _unfinished().unlink(missing_ok=True)
        return Restored(told, brought, aside, tuple(_make_anew(say)))


def look(address: str, name: str = "", *, replace: bool = False) -> Manifest:
    """What `restore` would restore, with every check that it makes before it begins."""
    target = open_target(address)
    with working(target) as objects:
        return inspect(objects, chosen(target, name), replace=replace)


def inspect(objects: Objects, told: Manifest, *, replace: bool) -> Manifest:
    """Everything that can be known to go wrong, before anything is touched."""
    _refuse_other_schema(told, replace=replace)
    objects.look()
    objects.notebook.want(digests_of(told, objects))
    missing = list(objects.notebook.missing())
    if missing:
        raise BackupError(
            f"{objects.target}: {told.name} is not whole, {len(missing)} objects are missing; nothing was "
            "restored. `manage.py restore SOURCE --list` shows the others"
        )
    if not replace:
        _refuse_occupied(told)
    return told


def _refuse_other_schema(told: Manifest, *, replace: bool) -> None:
    known = set(MigrationLoader(None).graph.nodes)
    unknown = [f"{app}.{name}" for app, name in told.migrations if (app, name) not in known]
    if unknown:
        raise BackupError(
            f"{told.name} was made by another version of Clerk: {', '.join(unknown[:3])} is not known here. "
            "Install the version that made it, or a newer one, and restore again"
        )
    here = MigrationLoader(connection).applied_migrations
    if replace and here and set(here) != {(app, name) for app, name in told.migrations}:
        raise BackupError(
            f"the schema of this database is not that of {told.name}, and the data in it would be in the way "
            "of changing it. Give an empty database (DATABASE_URL) instead of --replace"
        )


def _refuse_occupied(told: Manifest) -> None:
    why = "--replace sets it aside and restores; nothing was changed"
    try:
        held = Site.objects.count(), Document.objects.count(), get_user_model().objects.count()
    except DatabaseError:  # no tables yet: as empty as can be
        held = (0, 0, 0)
    if any(held):
        sites, documents, people = held
        raise BackupError(
            f"the database is not empty: {sites:,} sites, {documents:,} documents, {people:,} people. {why}"
        )
    if told.with_files and not _goes_on(told.name):
        for store in (STORAGE, PUBLISHED):
            there = _contents(store)
            if there:
                raise BackupError(f"{stores.root_of(store)} is not empty ({there[0].name}). {why}")


def _contents(store: str) -> list[Path]:
    root = stores.root_of(store)
    found = sorted(root.iterdir()) if root.is_dir() else []
    return [path for path in found if not path.name.startswith(".") or path.name == ".versions"]


def _unfinished() -> Path:
    return Path(settings.STORAGE_DIR) / UNFINISHED


def _note_unfinished(told: Manifest) -> None:
    _unfinished().parent.mkdir(parents=True, exist_ok=True)
    _unfinished().write_text(json.dumps({"name": told.name}))


def _goes_on(name: str) -> bool:
    """A restore of this very back-up was cut off: it goes on where it was."""
    try:
        return bool(json.loads(_unfinished().read_text())["name"] == name)
    except (OSError, ValueError, KeyError):
        return False


def _make_room(told: Manifest) -> tuple[str, ...]:
    """Nothing is deleted: what lies there goes into a hidden folder beside, for a person to remove."""
    if not told.with_files or _goes_on(told.name):
        return ()
    stamp, made = f"{datetime.now(UTC):{STAMP}}", []
    for store in (STORAGE, PUBLISHED):
        there = _contents(store)
        if not there:
            continue
        aside = stores.root_of(store) / f".replaced-{stamp}"
        aside.mkdir()
        for path in there:
            path.rename(aside / path.name)
        made.append(str(aside))
    return tuple(made)


def _fill(tree: Tree, objects: Objects, say: Said) -> int:
    folder = Folder(tree.store, tree.folder)
    filler = Filler(objects, folder.path)
    brought = sum(filler.fill(entry) for entry in objects.lines(tree.listing))
    stores.push(folder)
    say(f"{tree.store}/{tree.folder}: {tree.files:,} files, {brought:,} brought")
    return brought


# ---- The database -------------------------------------------------------------------------------------


def _load(told: Manifest, objects: Objects, say: Said) -> None:
    """On the schema of the back-up, then brought up to this version's."""
    _migrate_to(told)
    with transaction.atomic(), _without_limits():
        tables.load(told, objects, say)
    call_command("migrate", interactive=False, verbosity=0)
    ContentType.objects.clear_cache()


def _migrate_to(told: Manifest) -> None:
    executor = MigrationExecutor(connection)
    wanted = {(app, name) for app, name in told.migrations}
    if set(executor.loader.applied_migrations) == wanted:
        return
    graph = executor.loader.graph
    leaves = [
        key
        for key in sorted(wanted)
        if not any(child.key in wanted and child.key[0] == key[0] for child in graph.node_map[key].children)
    ]
    executor.migrate(leaves)


@contextmanager
def _without_limits() -> Iterator[None]:
    """A long load is no reason to be cut off."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 0")
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    yield


# ---- What is made from both ---------------------------------------------------------------------------


def _make_anew(say: Said) -> Iterator[str]:
    if settings.SEARCH_INDEX:
        try:
            count = upkeep.rebuild(Path(settings.SEARCH_INDEX_DIR), served, lambda synced: None)
            say(f"search index: {count} sites")
        except (ValueError, OSError) as error:
            yield f"the search index could not be written ({error}); `manage.py search_index --rebuild`"
    lost = emptying.empty_queues()
    if lost:
        yield lost
