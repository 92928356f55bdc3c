"""A database of its own for each test, on PostgreSQL and in a file, that stands in for the default one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.db.utils import load_backend

from demo.legacy import shapes


class Database:
    """The scratch database, which is Django's default while the test runs."""

    def __init__(self, vendor: str, url: str) -> None:
        self.vendor = vendor
        self.url = url

    def manage(self, *arguments: str, **environ: str) -> "subprocess.Popen[str]":
        """A command in a process of its own, on this database."""
        given = {"DATABASE_URL": self.url, "STORAGE_DIR": str(settings.STORAGE_DIR), "PYTHONUNBUFFERED": "1"}
        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=settings.BASE_DIR,
            env={**os.environ, **given, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def migrate(self, app: str = "sites", target: str = "", **options: Any) -> None:
        call_command("migrate", app, *([target] if target else []), verbosity=0, **options)

    def execute(self, sql: str, *values: Any) -> None:
        with connections["default"].cursor() as cursor:
            cursor.execute(sql, values)

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with connections["default"].cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall()

    def one(self, sql: str, *values: Any) -> Any:
        (row,) = self.rows(sql, *values)
        return row[0] if len(row) == 1 else row

    def make_old(self, shape: str) -> None:
        for statement in shapes.statements(shape, self.vendor):
            self.execute(statement)

    def tables(self) -> set[str]:
        return set(connections["default"].introspection.table_names())


@pytest.fixture(params=["postgresql", "sqlite"])
def database(request, tmp_path: Path, django_db_blocker) -> Iterator[Database]:
    yield from _database(request.param, tmp_path, django_db_blocker)


@pytest.fixture
def postgresql(tmp_path: Path, django_db_blocker) -> Iterator[Database]:
    yield from _database("postgresql", tmp_path, django_db_blocker)


@pytest.fixture
def sqlite(tmp_path: Path, django_db_blocker) -> Iterator[Database]:
    yield from _database("sqlite", tmp_path, django_db_blocker)


def _database(vendor: str, folder: Path, blocker: Any) -> Iterator[Database]:
    url = os.environ.get("DATABASE_URL", "")
    config = {**connections["default"].settings_dict, "TEST": {}, "CONN_MAX_AGE": 0}
    if vendor == "sqlite":
        config |= {"ENGINE": "django.db.backends.sqlite3", "NAME": str(folder / "civic.db"), "OPTIONS": {}}
        yield from _standing_in(Database(vendor, f"sqlite:///{config['NAME']}"), config, blocker)
    elif not url.startswith(("postgres:", "postgresql:")):
        pytest.skip("this run has no PostgreSQL")
    else:
        config |= dj_database_url.parse(url)
        name = f"scratch_{os.getpid()}"
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(f"CREATE DATABASE {name}")
            try:
                scratch = Database(vendor, urlsplit(url)._replace(path=f"/{name}").geturl())
                yield from _standing_in(scratch, {**config, "NAME": name}, blocker)
            finally:
                server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _standing_in(scratch: Database, config: dict[str, Any], blocker: Any) -> Iterator[Database]:
    real, declared = connections["default"], settings.DATABASES["default"]
    connections["default"] = load_backend(config["ENGINE"]).DatabaseWrapper(config, "default")
    connections.settings["default"] = config
    try:
        with blocker.unblock():
            yield scratch
            connections["default"].close()
    finally:
        connections["default"], connections.settings["default"] = real, declared
