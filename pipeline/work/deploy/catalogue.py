"""`metadata.json` of a folder of databases: a line for each site, so that a deploy changes one line."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pipeline.work.files import replacing

NAME = "metadata.json"
_FIRST = '{"title": "Public records", "databases": {\n'
_LAST = "}}\n"


def describe(root: Path, site: str, about: Any, everything: Callable[[], Iterable[tuple[str, Any]]]) -> bool:
    """Say this of the site (None: it is gone); whether the file had to be written.

    `everything` tells of all sites, and is asked only where there is no file of this form yet.
    """
    catalogue = root / NAME
    if not _is_ours(catalogue):
        _write(catalogue, (_line(name, told) for name, told in sorted(everything())))
        return True
    line = "" if about is None else _line(site, about)
    if next((each for each in _lines(catalogue) if _is_of(each, site)), "") == line:
        return False
    _write(catalogue, _with(_lines(catalogue), site, line))
    return True


def _with(lines: Iterable[str], site: str, line: str) -> Iterator[str]:
    """The lines in their order, with this site's new one in its place."""
    waiting = line
    for each in lines:
        if waiting and _key(each) >= _key(waiting):
            yield waiting
            waiting = ""
        if not _is_of(each, site):
            yield each
    if waiting:
        yield waiting


def _line(site: str, about: Any) -> str:
    return f"{json.dumps(site)}: {json.dumps(about, ensure_ascii=False)}"


def _key(line: str) -> str:
    return line.partition('": ')[0]


def _is_of(line: str, site: str) -> bool:
    return _key(line) == json.dumps(site)[:-1]


def _is_ours(catalogue: Path) -> bool:
    try:
        with catalogue.open(encoding="utf-8") as file:
            return file.readline() == _FIRST
    except FileNotFoundError:
        return False


def _lines(catalogue: Path) -> Iterator[str]:
    with catalogue.open(encoding="utf-8") as file:
        file.readline()
        for line in file:
            if line != _LAST:
                yield line.rstrip(",\n")


def _write(catalogue: Path, lines: Iterable[str]) -> None:
    with replacing(catalogue) as building, building.open("w", encoding="utf-8") as file:
        file.write(_FIRST)
        for number, line in enumerate(lines):
            file.write(f",\n{line}" if number else line)
        file.write(f"\n{_LAST}")
