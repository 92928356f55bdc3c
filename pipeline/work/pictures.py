"""Under which names pictures of pages are kept on disk, so that they can be removed, too."""

import hashlib
from pathlib import Path

# A page to read, and one to choose among others.
READ, CHOOSE = 1200, 240
WIDTHS = (READ, CHOOSE)


def key_of(content: str, page: int, width: int) -> str:
    """`content` is the file's digest, or `site/document` where there is none."""
    return hashlib.blake2b(f"{content} {page} {width}".encode(), digest_size=16).hexdigest()


def path_of(cache: Path, key: str) -> Path:
    return cache / key[0] / f"{key}.webp"


def forget(cache: Path, content: str, pages: int) -> None:
    """Every picture of this file."""
    for page in range(1, pages + 1):
        for width in WIDTHS:
            path_of(cache, key_of(content, page, width)).unlink(missing_ok=True)
