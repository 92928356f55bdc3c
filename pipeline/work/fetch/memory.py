"""A wall around the memory that a job of the fetch stage may take: a page can be a bomb, too."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import DocumentError

MIB = 1024 * 1024


@contextmanager
def at_most(megabytes: int) -> Iterator[None]:
    """So much more than the process has now. Beyond it the job fails, and the worker lives."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wall = _mapped() + megabytes * MIB
    limits = [limit for limit in (wall, soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    except MemoryError as error:
        raise DocumentError(f"it takes more than {megabytes} MiB of memory", code="memory_limit") from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _mapped() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
