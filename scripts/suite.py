"""The whole suite in parts, some of them at a time, each part with services of its own.

Much of the suite's time is waiting (for workers, limits, restarts), so there is one part more at work than
there are cores. The files go into parts of about the same size; what is for both databases runs on both.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import types
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Small enough that no part is left running alone at the end.
POSTGRESQL_PARTS, SQLITE_PARTS = 7, 3
BOTH = "both_databases"
STOP_SECONDS = 15
NO_TESTS = 5  # pytest's exit code for a part without any
SUMMARY = re.compile(r"^(SKIPPED|FAILED|ERROR) ")


@dataclass(frozen=True)
class Part:
    name: str
    services: tuple[str, ...]
    pytest: tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    part: Part
    code: int
    lines: Sequence[str]

    @property
    def good(self) -> bool:
        return self.code in (0, NO_TESTS)


def parts() -> list[Part]:
    files = list((ROOT / "tests").rglob("test_*.py"))
    both = [path for path in files if f"mark.{BOTH}" in path.read_text()]
    return [
        *(
            Part(f"sqlite {n}", ("--sqlite",), ("-m", BOTH, *some))
            for n, some in enumerate(_shares(both, SQLITE_PARTS), start=1)
        ),
        *(Part(f"part {n}", (), some) for n, some in enumerate(_shares(files, POSTGRESQL_PARTS), start=1)),
    ]


def _shares(files: Sequence[Path], count: int) -> list[tuple[str, ...]]:
    """Largest file first, each into the share that is smallest so far."""
    weights = {str(path.relative_to(ROOT)): weight(path) for path in files}
    shares: list[list[str]] = [[] for _ in range(count)]
    for file in sorted(weights, key=lambda name: (-weights[name], name)):
        min(shares, key=lambda share: sum(weights[name] for name in share)).append(file)
    return [tuple(share) for share in shares]


def weight(path: Path) -> int:
    text = path.read_text()
    return text.count("\n") * (4 if "mark.slow" in text or "mark.browser" in text else 1)


class Suite:
    def __init__(self) -> None:
        self._printing = threading.Lock()
        self._running: list[subprocess.Popen[str]] = []
        self._stopped = False

    def run(self) -> int:
        signal.signal(signal.SIGTERM, self._stop)
        began = time.monotonic()
        with ThreadPoolExecutor(max_workers=(os.cpu_count() or 1) + 1) as pool:
            ended = list(pool.map(self._run, parts()))
        return report(ended, time.monotonic() - began)

    def _run(self, part: Part) -> Ended:
        command = ["scripts/with-services", *part.services, "pytest", "-p", "no:cacheprovider"]
        if self._stopped:
            return Ended(part, 1, ["stopped"])
        process = subprocess.Popen(
            [*command, *part.pytest], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._running.append(process)
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            with self._printing:
                print(f"{part.name:8} | {lines[-1]}", flush=True)
        return Ended(part, process.wait(), lines)

    def _stop(self, number: int, frame: types.FrameType | None) -> None:
        """Each part stops its own services. (A Ctrl-C in the terminal reaches them all by itself.)"""
        self._stopped = True
        for process in self._running:
            process.send_signal(number)
        # A test's worker may have taken the signal for itself; the services are stopped after a kill as well.
        last_word = threading.Timer(STOP_SECONDS, self._kill)
        last_word.daemon = True
        last_word.start()

    def _kill(self) -> None:
        for process in self._running:
            process.kill()


def report(ended: Sequence[Ended], seconds: float) -> int:
    """The last lines: what was skipped and why, what failed, how each part ended."""
    print(f"\n{' summary ':=^60}")
    for one in ended:
        for line in filter(SUMMARY.match, one.lines):
            print(f"{one.part.name:8} | {line}")
    for one in ended:
        print(f"{one.part.name:8} | {one.lines[-1].strip('= ') if one.lines else 'nothing ran'}")
    bad = [one.part.name for one in ended if not one.good]
    print(f"{'failed: ' + ', '.join(bad) if bad else 'all passed'}, in {seconds:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(Suite().run())
