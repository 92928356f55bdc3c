"""The drill: back up a running installation, destroy it, restore it, finish the runs, compare every page."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import django_rq
import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connection

from pipeline.backup.restoring import restore
from pipeline.backup.taking import backup
from pipeline.models import DocumentState, Run
from pipeline.reconcile import reconcile
from pipeline.verify import verify
from sites.models import Document, Site
from tests.backup.conftest import texts_in
from tests.conftest import assert_counters_equal_ledger

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parent.parent.parent


def destroy(settings) -> None:
    """Database, files, published records, index, queue."""
    with connection.cursor() as cursor:
        names = [connection.ops.quote_name(model._meta.db_table) for model in apps.get_models()]
        if connection.vendor == "postgresql":
            there = set(connection.introspection.table_names())
            names = [name for name in names if name.strip('"') in there]
            cursor.execute(f"TRUNCATE {', '.join(names)} CASCADE")
    if connection.vendor == "sqlite":
        empty_sqlite()
    for folder in (settings.STORAGE_DIR, settings.DEPLOY_DIR, settings.SEARCH_INDEX_DIR):
        shutil.rmtree(folder, ignore_errors=True)
    django_rq.get_connection("high").flushdb()
    assert not Site.objects.exists()


def empty_sqlite() -> None:
    there = set(connection.introspection.table_names())
    with connection.constraint_checks_disabled(), connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            if model._meta.db_table in there:
                cursor.execute(f'DELETE FROM "{model._meta.db_table}"')


def counts() -> dict[str, int]:
    kept = [
        model
        for model in apps.get_models()
        if model._meta.managed and model._meta.label != "sessions.Session"
    ]
    return {model._meta.label: model._default_manager.count() for model in kept}


@pytest.mark.both_databases
def test_what_was_destroyed_comes_back_and_goes_on(running, run_jobs, tmp_path, settings):
    before, facts = counts(), list(DocumentState.objects.order_by("pk").values())
    documents = list(Document.objects.order_by("pk").values())
    taken = backup(str(tmp_path / "backups")).manifest
    run_jobs()
    expected = texts_in(settings.DEPLOY_DIR)
    assert set(expected) == {"done.il", "halfway.il"}
    destroy(settings)

    restored = restore(str(tmp_path / "backups"))

    assert restored.left_to_do == ()
    assert counts() == before
    assert list(DocumentState.objects.order_by("pk").values()) == facts
    assert list(Document.objects.order_by("pk").values()) == documents
    assert User.objects.get(username="ann").check_password("a long password of hers")
    assert taken.files > 0
    settings.RECONCILE_GRACE_SECONDS = 0
    reconcile()
    run_jobs()
    assert Run.objects.get(pk=running.pk).status == Run.Status.COMPLETED
    assert texts_in(settings.DEPLOY_DIR) == expected
    assert_counters_equal_ledger()
    found = verify(with_files=True)
    assert found.ok, found.problems
    assert reconcile().found == 0
    # New rows get new ids.
    assert Site.objects.create(subdomain="new.il").pk
    Run.objects.create(site_id="new.il", started_at=documents[0]["created_at"])


def test_from_postgresql_to_sqlite_and_back(running, run_jobs, tmp_path, settings):
    """Each way by the commands, on a machine of its own; what was in the middle is finished there."""
    if connection.vendor != "postgresql":
        pytest.skip("goes from one database to the other and back")
    backup(str(tmp_path / "first"))
    run_jobs()
    expected = texts_in(settings.DEPLOY_DIR)
    machine = Machine(tmp_path / "other", settings)

    machine.manage("restore", str(tmp_path / "first"))
    machine.manage("reconcile", "--quiet")
    machine.manage("workers", "--burst")
    machine.manage("verify", "--files", "--quiet")
    assert texts_in(machine.root / "deployed") == expected

    machine.manage("backup", str(tmp_path / "second"), "--quiet")
    destroy(settings)
    restore(str(tmp_path / "second"))
    assert texts_in(settings.DEPLOY_DIR) == expected
    assert Run.objects.get(pk=running.pk).status == Run.Status.COMPLETED
    found = verify(with_files=True)
    assert found.ok, found.problems
    assert_counters_equal_ledger()
    Run.objects.create(site_id="done.il", started_at=running.started_at)


class Machine:
    """Another installation: SQLite, folders of its own, another database of the same Redis."""

    def __init__(self, root: Path, settings) -> None:
        root.mkdir()
        self.root = root
        redis = django_settings.REDIS_URL
        self.environ = {
            **os.environ,
            "DATABASE_URL": f"sqlite:///{root / 'clerk.sqlite3'}",
            "REDIS_URL": f"{redis}{'&' if '?' in redis else '?'}db=5" if redis.startswith("unix") else redis,
            "STORAGE_DIR": str(root / "storage"),
            "DEPLOY_DIR": str(root / "deployed"),
            "SEARCH_INDEX_DIR": str(root / "index"),
            "FETCH_PRIVATE_HOSTS": ",".join(settings.FETCH_PRIVATE_HOSTS),
            "RECONCILE_GRACE_SECONDS": "1",
            "SECRET_KEY": "another-machine-has-a-key-of-its-own-0123456789",
        }

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout
