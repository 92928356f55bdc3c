"""One back-up or restore of this installation at a time."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from pipeline.backup.target import BackupError


@contextmanager
def only_one() -> Iterator[None]:
    root = Path(settings.STORAGE_DIR)
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".backup.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BackupError("a back-up or a restore is running on this machine already") from error
        yield
