"""How much memory a process really uses, and giving back what it does not."""

import contextlib
import ctypes
import os
import sys
from pathlib import Path

MIB = 1024 * 1024


def memory_of(pid: int) -> int:
    """Bytes of real memory of a process and its children (0 where the system does not say)."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(map(memory_of, children_of(pid)))


_own = -1


def open_own() -> None:
    """While /proc can be seen: a child that is shut in asks through what it holds."""
    global _own
    with contextlib.suppress(OSError):
        _own = os.open("/proc/self/statm", os.O_RDONLY)


def own_memory() -> int:
    """Bytes of real memory of this very process (0 where the system does not say)."""
    if _own < 0:
        return memory_of(os.getpid())
    return int(os.pread(_own, 200, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")


def children_of(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (OSError, ValueError):
        return []


def give_back() -> None:
    """Freed memory goes back to the system only when glibc is told so."""
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
