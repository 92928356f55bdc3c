"""What a target keeps, by content: put once, read back, compared with its hash."""

import gzip
import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.backup.notebook import Notebook
from pipeline.backup.target import BackupError, Target

FOLDER = "objects"


def name_of(digest: str) -> str:
    return f"{FOLDER}/{digest[:2]}/{digest}"


def digest_of(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@dataclass
class Objects:
    """`notebook` knows what the target has; `scratch` is a folder of ours for what is on its way."""

    target: Target
    scratch: Path
    notebook: Notebook
    written: int = 0
    written_bytes: int = 0

    def look(self) -> None:
        """What the target has already, listed once instead of asked for one by one."""
        found = ((name.rpartition("/")[2], size) for name, size in self.target.names(f"{FOLDER}/"))
        self.notebook.note_there(found)

    def has(self, digest: str) -> bool:
        return self.notebook.size_there(digest) is not None

    def keep(self, file: Path, digest: str = "") -> str:
        """The content's hash, once the target has it; what is new there is read back and compared."""
        digest, size = digest or digest_of(file), file.stat().st_size
        # An object of another size was cut off by somebody; it is written again.
        if self.notebook.size_there(digest) == size:
            return digest
        self.target.put(name_of(digest), file)
        with self.fetched(digest):
            self.written += 1
            self.written_bytes += size
        self.notebook.note_there([(digest, size)])
        return digest

    def forget(self, digest: str) -> None:
        self.target.delete(name_of(digest))
        self.notebook.note_gone(digest)

    def keep_lines(self, rows: Iterable[Any]) -> str:
        """Rows as packed JSON lines; the same rows are the same object."""
        with tempfile.NamedTemporaryFile(dir=self.scratch) as file:
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed:
                for row in rows:
                    packed.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
            file.flush()
            return self.keep(Path(file.name))

    def lines(self, digest: str) -> Iterator[Any]:
        with self.fetched(digest) as file, gzip.open(file, "rt", encoding="utf-8") as packed:
            for line in packed:
                yield json.loads(line)

    def fetched(self, digest: str) -> "_Fetched":
        return _Fetched(self, digest)


@dataclass
class _Fetched:
    """An object as a file here, for a while. Its hash has been compared."""

    objects: Objects
    digest: str
    file: Path = Path()

    def __enter__(self) -> Path:
        with tempfile.NamedTemporaryFile(dir=self.objects.scratch, delete=False) as made:
            self.file = Path(made.name)
        try:
            self.objects.target.get(name_of(self.digest), self.file)
            if digest_of(self.file) != self.digest:
                raise BackupError(
                    f"{self.objects.target}: {name_of(self.digest)} is damaged: its content is not what its "
                    "name says. Take a new back-up, which writes it again, or restore an older one"
                )
        except BaseException:
            self.file.unlink(missing_ok=True)
            raise
        return self.file

    def __exit__(self, *error: object) -> None:
        self.file.unlink(missing_ok=True)
