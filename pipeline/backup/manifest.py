"""What one back-up says of itself. It is written last: a back-up without it never was."""

import json
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pipeline.backup.target import BackupError, Target

FORMAT = 1
MARK = "clerk-backup.json"
FOLDER = "snapshots"


@dataclass(frozen=True)
class Table:
    model: str
    table: str
    rows: int
    chunks: list[str]


@dataclass(frozen=True)
class Tree:
    """One folder of one store: a site's files, or what is published."""

    store: str
    folder: str
    listing: str
    files: int
    bytes: int


@dataclass
class Manifest:
    name: str
    taken_at: str
    vendor: str
    migrations: list[list[str]]
    settings: dict[str, str]
    # Whether the files are here, too, or only listed.
    with_files: bool = True
    tables: list[Table] = field(default_factory=list)
    trees: list[Tree] = field(default_factory=list)
    format: int = FORMAT

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    @property
    def files(self) -> int:
        return sum(tree.files for tree in self.trees)

    @property
    def bytes(self) -> int:
        return sum(tree.bytes for tree in self.trees)

    def tree(self, store: str, folder: str) -> Tree | None:
        return next((tree for tree in self.trees if (tree.store, tree.folder) == (store, folder)), None)


def names(target: Target) -> list[str]:
    """Of every finished back-up, oldest first."""
    found = (Path(name) for name, _ in target.names(f"{FOLDER}/"))
    return sorted(path.stem for path in found if path.suffix == ".json")


def read(target: Target, name: str) -> Manifest:
    told = _read_json(target, _path(name))
    if told.get("format") != FORMAT:
        raise BackupError(
            f"{target}: {name} has the format {told.get('format')}, and this Clerk reads {FORMAT}; "
            "restore with the version of Clerk that made it"
        )
    tables = [Table(**each) for each in told.pop("tables")]
    trees = [Tree(**each) for each in told.pop("trees")]
    return Manifest(**told, tables=tables, trees=trees)


def write(target: Target, manifest: Manifest) -> None:
    _write_json(target, _path(manifest.name), asdict(manifest))


def remove(target: Target, name: str) -> None:
    target.delete(_path(name))


def prepare(target: Target) -> None:
    """Mark a new target as ours; a folder with other things in it is somebody else's."""
    if target.size_of(MARK) is not None:
        told = _read_json(target, MARK)
        if told.get("format") != FORMAT:
            raise BackupError(f"{target}: made by another version of Clerk (format {told.get('format')})")
        return
    if next(iter(target.names("")), None) is not None:
        raise BackupError(f"{target}: there is something else in it; name an empty place for back-ups")
    _write_json(target, MARK, {"format": FORMAT, "what": "back-ups of Clerk; `manage.py restore` reads them"})


def _path(name: str) -> str:
    return f"{FOLDER}/{name}.json"


def _read_json(target: Target, name: str) -> Any:
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "read"
        target.get(name, file)
        try:
            return json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise BackupError(f"{target}: {name} cannot be read; it is not whole") from error


def _write_json(target: Target, name: str, told: Any) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "written"
        file.write_text(json.dumps(told, indent=1), encoding="utf-8")
        target.put(name, file)
        back = Path(scratch) / "back"
        target.get(name, back)
        if back.read_bytes() != file.read_bytes():
            raise BackupError(f"{target}: {name} did not arrive as it was sent")
