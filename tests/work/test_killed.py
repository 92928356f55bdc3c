"""Kill -9 at any line of compilation, extraction or deploy: readers never notice, the rerun ends right."""

import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.work.database.compilation import compile_site
from pipeline.work.extraction import read_facts
from tests.work import doomed

ROOT = Path(__file__).resolve().parent.parent.parent
STAGES = {"compilation": doomed.compilation, "extraction": doomed.extraction, "deployment": doomed.deployment}


def run_doomed(stage: str, root: Path, line: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.work.doomed", stage, str(root), str(line)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def write_documents(root: Path, count: int, word: str) -> None:
    for number in range(count):
        folder = root / "txt" / f"document{number}"
        folder.mkdir(parents=True, exist_ok=True)
        for page in (1, 2):
            text = "Councilmember Ruiz moved, seconded by Councilmember Lee. Motion carried 5-0. $5"
            (folder / f"{page}.txt").write_text(f"{word}{number} {text} page {page}")


def pages_of(database: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(database, timeout=30)) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
        return set(connection.execute("SELECT id, text FROM pages").fetchall())


STATE = "SELECT (SELECT count(*) FROM pages), (SELECT count(*) FROM pages_fts WHERE pages_fts MATCH 'moved')"


class Reader(threading.Thread):
    """Asks the database all the time, and keeps every state it sees and every error it meets."""

    def __init__(self, database: Path) -> None:
        super().__init__(daemon=True)
        self.database, self.done = database, threading.Event()
        self.errors: list[str] = []
        self.seen: set[tuple[int, int]] = set()

    def run(self) -> None:
        address = f"{self.database.as_uri()}?mode=ro"
        while not self.done.wait(0.002):
            try:
                with closing(sqlite3.connect(address, uri=True, timeout=30)) as connection:
                    self.seen.add(connection.execute(STATE).fetchone())
            except sqlite3.Error as error:
                self.errors.append(repr(error))

    def __enter__(self) -> "Reader":
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.done.set()
        self.join()


@pytest.fixture
def site_on_disk(tmp_path: Path) -> Path:
    """A site that is served with three documents and then gets five, one of them with another text."""
    write_documents(tmp_path, 3, "first")
    for run in STAGES.values():
        run(tmp_path)
    write_documents(tmp_path, 5, "second")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("stage", list(STAGES))
def test_killed_at_any_line_readers_see_whole_states_and_the_rerun_ends_right(
    stage: str, site_on_disk: Path
) -> None:
    for name, run in STAGES.items():
        if name == stage:
            break
        run(site_on_disk)
    served = site_on_disk / "served" / "alameda.ca.db"
    line, step, killed = 1, 60, 0
    with Reader(served) as reader, Reader(site_on_disk / "meetings.db") as compiled:
        while (done := run_doomed(stage, site_on_disk, line)).returncode == -signal.SIGKILL:
            line, step, killed = line + step, step * 3 // 2, killed + 1
            assert len(pages_of(served)) in (6, 10)
        assert done.returncode == 0, done.stderr
        for run in STAGES.values():
            run(site_on_disk)

    assert killed >= 5
    assert reader.errors == compiled.errors == []
    assert reader.seen | compiled.seen <= {(6, 6), (10, 10)}
    assert_ended_right(site_on_disk)


@pytest.mark.slow
def test_killed_at_any_moment_of_a_large_build_the_old_database_answers(site_on_disk: Path) -> None:
    """Also inside SQLite, where no line of ours is: the process is killed by the clock."""
    compile_site(site_on_disk / "meetings.db", doomed.SITE, doomed.documents(site_on_disk))
    write_documents(site_on_disk, 400, "third")
    with Reader(site_on_disk / "meetings.db") as reader:
        for delay in (0.05, 0.1, 0.2, 0.4):
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.work.doomed", "compilation", str(site_on_disk), "0"],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            threading.Timer(1 + delay, process.kill).start()
            process.communicate()
            assert len(pages_of(site_on_disk / "meetings.db")) in (10, 800)
        doomed.compilation(site_on_disk)

    assert reader.errors == []
    assert reader.seen <= {(10, 10), (800, 800)}
    assert len(pages_of(site_on_disk / "meetings.db")) == 800


def assert_ended_right(root: Path) -> None:
    """What is there now is what a site that was never killed would have."""
    clean = root / "clean.db"
    compile_site(clean, doomed.SITE, doomed.documents(root))
    assert pages_of(root / "meetings.db") == pages_of(clean) == pages_of(root / "served" / "alameda.ca.db")
    with closing(sqlite3.connect(root / "served" / "alameda.ca.db")) as connection:
        assert connection.execute("SELECT count(*) FROM motions").fetchone() == (10,)
        check = "INSERT INTO pages_fts (pages_fts) VALUES ('integrity-check')"
        assert connection.execute(check).fetchall() == []
    for file in doomed.facts_files(root):
        assert len(read_facts(file.path)["facts"]) > 0
