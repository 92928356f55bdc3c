"""Sites as the old system left them, in a database that Clerk has adopted."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connection

from sites.models import Site
from tests.commands.conftest import manage  # noqa: F401 - a fixture

TABLE = """
CREATE TABLE site_progress (
    subdomain varchar PRIMARY KEY, current_stage varchar, stage_total integer, stage_completed integer,
    started_at {time}, updated_at {time}
)
"""


@pytest.fixture
def old_table(transactional_db) -> Iterator[None]:
    time = "timestamptz" if connection.vendor == "postgresql" else "datetime"
    with connection.cursor() as cursor:
        cursor.execute(TABLE.format(time=time))
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS site_progress")


@pytest.fixture
def old_site(old_table, settings) -> Callable[..., Path]:
    """`old_site("a.ca", stage="deploy")` is a site of the old system; its folder is returned."""

    def make(subdomain: str = "a.ca", stage: str | None = None, **values) -> Path:
        Site.objects.create(subdomain=subdomain, **values)
        if stage is not None:
            with connection.cursor() as cursor:
                cursor.execute(
                    "INSERT INTO site_progress VALUES (%s, %s, 7, 0, %s, %s)",
                    [subdomain, stage, "2024-05-06 07:08:09+00:00", "2024-05-06 07:08:09+00:00"],
                )
        folder = Path(settings.STORAGE_DIR) / subdomain
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    return make


@pytest.fixture
def deployed(settings) -> Callable[[str], set[str]]:
    """The texts of all pages that readers can read of a site."""

    def read(site_id: str) -> set[str]:
        with closing(sqlite3.connect(Path(settings.DEPLOY_DIR) / f"{site_id}.db")) as database:
            return {text for (text,) in database.execute("SELECT text FROM pages")}

    return read


def forget_all_but_the_database(folder: Path) -> None:
    for name in ("pdfs", "txt", "_agendas"):
        shutil.rmtree(folder / name, ignore_errors=True)
