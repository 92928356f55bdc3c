"""Takes one guard after another out of the rooms of state, and sees whether the tests notice.

Each mutant (scripts/guards/) is a text that stands once in a file, what it becomes, and the tests that hold
it. It is made in a throw-away copy, on the services that `make mutants` starts. A mutant that survives is a
guard that nobody holds.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENOUGH = 0.95
SECONDS = 300
LEFT_OUT = (".git", ".venv", "var", "staticfiles", "__pycache__", ".*_cache", ".hypothesis")
GUARDS = ROOT / "scripts" / "guards"


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    old: str
    new: str
    tests: str
    only: str = ""


def mutants() -> Iterator[Mutant]:
    for table in ("state.toml", "around.toml"):
        yield from (Mutant(**guard) for guard in tomllib.loads((GUARDS / table).read_text())["guard"])


def main(wanted: list[str]) -> int:
    chosen = [mutant for mutant in mutants() if not wanted or any(word in mutant.name for word in wanted)]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "clerk"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        (copy / ".venv").symlink_to((ROOT / ".venv").resolve())
        _expect_good_tests(chosen, copy)
        killed = sum(_is_killed(mutant, copy) for mutant in chosen)
    share = killed / len(chosen)
    print(f"{killed} of {len(chosen)} mutants were killed: {share:.0%} (at least {ENOUGH:.0%} wanted)")
    return 0 if share >= ENOUGH else 1


def _expect_good_tests(chosen: list[Mutant], copy: Path) -> None:
    """A test that fails anyway would kill every mutant."""
    wanted: dict[str, set[str]] = {}
    for mutant in chosen:
        for file in mutant.tests.split():
            wanted.setdefault(file, set()).add(mutant.only)
    for file, words in wanted.items():
        if _tests_fail(Mutant("nothing is changed", file, "", "", file, " or ".join(sorted(words))), copy):
            sys.exit(f"the tests in {file} fail though nothing is changed")


def _is_killed(mutant: Mutant, copy: Path) -> bool:
    path = copy / mutant.file
    before = path.read_text()
    if before.count(mutant.old) != 1:
        sys.exit(f"{mutant.name}: its text stands {before.count(mutant.old)} times in {mutant.file}")
    began = time.monotonic()
    path.write_text(before.replace(mutant.old, mutant.new))
    try:
        notices = _tests_fail(mutant, copy)
    finally:
        path.write_text(before)
    verdict = "killed" if notices else "SURVIVED"
    print(f"{verdict:9} {time.monotonic() - began:4.0f} s  {mutant.name}", flush=True)
    return notices


def _tests_fail(mutant: Mutant, copy: Path) -> bool:
    command = [sys.executable, "-m", "pytest", *mutant.tests.split(), "-x", "-q", "-p", "no:cacheprovider"]
    if mutant.only:
        command += ["-k", mutant.only]
    environ = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ended = subprocess.run(command, cwd=copy, env=environ, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True
    if ended.returncode not in (0, 1):
        sys.exit(f"{mutant.name}: pytest ended with {ended.returncode}\n{ended.stdout.decode()[-2000:]}")
    return ended.returncode == 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
