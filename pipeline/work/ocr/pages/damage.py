"""How many pages a damaged file may have lost: as far as what is left of it says."""

import re
from pathlib import Path

# A sound file ends with its mark; some programs write a little behind it.
END, END_REACH = b"%%EOF", 2048
MAX_SEARCHED = 100 * 1024 * 1024
_COUNT = re.compile(rb"/Count\s{0,4}(\d{1,7})\b")
_TREE = re.compile(rb"/Type\s{0,4}/Pages\b")
# The first object of a file made for the web says how many pages it has.
_LINEARIZED = re.compile(rb"/Linearized\b[^>]{0,300}?/N\s{0,4}(\d{1,7})\b")
REACH = 400


def damage_of(file: Path, kept: int) -> str:
    """A sentence for the findings; empty for a file that is whole."""
    if _is_whole(file):
        return ""
    if file.stat().st_size > MAX_SEARCHED:
        return "the file is damaged; pages may be missing"
    named = pages_named(file.read_bytes())
    if named is None:
        return f"the file is damaged; it is read as {kept} {_pages(kept)}, and more may be missing"
    if named > kept:
        return f"the file is damaged; {named - kept} of its {named} pages may be lost"
    return "the file is damaged; all the pages it names are there"


def pages_named(data: bytes) -> int | None:
    """The largest count that a page tree or the file's first object names; None when neither is left."""
    found = [int(match[1]) for match in _LINEARIZED.finditer(data[:4096])]
    for tree in _TREE.finditer(data):
        around = data[max(tree.start() - REACH, 0) : tree.end() + REACH]
        begins = around.rfind(b"obj", 0, min(tree.start(), REACH)) + 1
        ends = around.find(b"endobj", min(tree.start(), REACH))
        found += [int(match[1]) for match in _COUNT.finditer(around[begins : ends if ends > 0 else None])]
    return max(found, default=None)


def _is_whole(file: Path) -> bool:
    with file.open("rb") as stream:
        stream.seek(max(file.stat().st_size - END_REACH, 0))
        return END in stream.read()


def _pages(number: int) -> str:
    return "page" if number == 1 else "pages"
