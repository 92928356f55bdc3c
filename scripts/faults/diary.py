"""What the workers did, line by line in one file, so that a killed process has said what it had done."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Diary:
    path: Path
    # After a restore what was done before it is undone, and may be done again.
    chapter: int = 0

    def write(self, *words: object) -> None:
        line = " ".join(map(str, (*words, f"{time.time():.3f}"))) + "\n"
        # One write to a file opened for appending: lines of several processes do not mix.
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)

    def read(self, kind: str) -> Iterator[list[str]]:
        if self.path.exists():
            lines = (line.split() for line in self.path.read_text().splitlines())
            yield from (words[1:] for words in lines if words[0] == kind)

    def counted(self, kind: str) -> Counter[str]:
        return Counter(" ".join(words[:-1]) for words in self.read(kind))
