"""The files that machines share: pulled before the work, pushed after it."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings

from pipeline.errors import TargetError, trouble_of
from pipeline.work.database.file import copy_database
from pipeline.work.files import remove_old
from sites.storage import Share, SiteFiles, share


@contextmanager
def shared() -> Iterator[Share]:
    """The storage that machines share; what it cannot do now it may do later."""
    try:
        yield share()
    except OSError as error:
        if trouble_of(error):  # this machine's own disk
            raise
        raise TargetError(str(error), code="storage") from error


def push_database(files: SiteFiles, before: Callable[[], None]) -> None:
    """Under a name of its own, then into its place if `before` still allows it: the step is one request."""
    if not settings.STORAGE_URL:
        return
    files.scratch.mkdir(parents=True, exist_ok=True)
    # A copy of one moment, for a reader may be keeping part of the database in its log.
    copy = files.scratch / f"push-{uuid.uuid4().hex[:12]}.db"
    remove_old(files.scratch, "push-*.db")
    try:
        copy_database(files.database, copy)
        with shared() as storage:
            storage.push(copy, to=files.database, before=before)
    finally:
        copy.unlink(missing_ok=True)
