"""An older database in the place of a newer one, as after a restore. The queue stays as it is: newer."""

import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import connections

if TYPE_CHECKING:
    from .stand import Stand


class Backup:
    def __init__(self, stand: "Stand") -> None:
        self.stand = stand
        self.kept = stand.folder / "backup"
        self.live = stand.postgres.folder / "cluster" if stand.postgres else stand.folder / "clerk.sqlite3"

    @property
    def exists(self) -> bool:
        return self.kept.exists()

    def take(self) -> None:
        """With the workers at work: of PostgreSQL while it is down for a moment, of SQLite as it runs."""
        connections.close_all()
        self._remove(self.kept)
        if self.stand.postgres is None:
            with closing(sqlite3.connect(self.live)) as live, closing(sqlite3.connect(self.kept)) as kept:
                live.backup(kept)
            return
        self.stand.postgres.stop()
        self._copy(self.live, self.kept)
        self.stand.postgres.start()

    def put_back(self) -> None:
        """With the workers stopped, as a careful person does it."""
        connections.close_all()
        if self.stand.postgres:
            self.stand.postgres.stop()
        for beside in ("", "-wal", "-shm"):
            self._remove(self.live.with_name(f"{self.live.name}{beside}"))
        self._copy(self.kept, self.live)
        if self.stand.postgres:
            self.stand.postgres.start()

    def _remove(self, path: Path) -> None:
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)

    def _copy(self, source: Path, to: Path) -> None:
        # Unlike Python's own, with the owners of the files: PostgreSQL opens none of somebody else's.
        subprocess.run(["cp", "-a", str(source), str(to)], check=True)
