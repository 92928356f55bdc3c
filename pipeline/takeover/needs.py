"""What must be there before anything is taken over; the message says what is missing."""

from pathlib import Path

from django.conf import settings
from django.db import connection

NEEDED = {"sites", "documents", "runs", "document_pipeline_state", "adoptions"}


class CannotTakeOver(Exception):
    """Something that is needed is not there; the message says what, and what was done so far."""


def check_database() -> None:
    if not set(connection.introspection.table_names()) >= NEEDED:
        raise CannotTakeOver("run `manage.py migrate pipeline` first. Nothing was changed.")


def check_storage() -> None:
    if not Path(settings.STORAGE_DIR).is_dir():
        raise CannotTakeOver(
            f"STORAGE_DIR={settings.STORAGE_DIR} is not there, and without it every document would count as"
            " failed. No further site was changed."
        )
