"""The whole suite in parts, as many at a time as there are cores, each part with services of its own.

Much of the suite's time is waiting (for workers, limits, restarts), so parts side by side take less of it.
The files go into parts of about the same size; what runs on both databases runs once more on SQLite.
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
PARTS = 3
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
    both = Part("sqlite", ("--sqlite",), ("-m", "both_databases"))
    return [both, *(Part(f"part {n}", (), tuple(files)) for n, files in enumerate(_shares(), start=1))]


def _shares() -> list[list[str]]:
    """Largest file first, each into the share that is smallest so far."""
    files = {str(path.relative_to(ROOT)): weight(path) for path in (ROOT / "tests").rglob("test_*.py")}
    shares: list[list[str]] = [[] for _ in range(PARTS)]
    for file in sorted(files, key=lambda name: (-files[name], name)):
        min(shares, key=lambda share: sum(files[name] for name in share)).append(file)
    return shares


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
        with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, PARTS + 1)) as pool:
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
                print(f"{part.name:6} | {lines[-1]}", flush=True)
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
            print(f"{one.part.name:6} | {line}")
    for one in ended:
        print(f"{one.part.name:6} | {one.lines[-1].strip('= ') if one.lines else 'nothing ran'}")
    bad = [one.part.name for one in ended if not one.good]
    print(f"{'failed: ' + ', '.join(bad) if bad else 'all passed'}, in {seconds:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(Suite().run())
