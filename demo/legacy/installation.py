"""The worst day: 105 sites in OCR, 82 coordinators deferred for ever, 2,695 failed OCR jobs, one database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from redis import Redis

from demo.legacy import queue, shapes
from demo.legacy.storage import add_document

STUCK, COORDINATORS, OCR_JOBS = 105, 82, 2695
WORST_DAY = datetime(2024, 11, 3, 2, 14, 7, 250000, tzinfo=UTC)
STATUSES = ("new", "needs_ocr", "needs_extraction", "needs_deploy", "deployed", "no_documents")
# Neither slashes nor anything else that no folder could be called, but all that cities come up with.
ODD_NAMES = (
    "Parks & Recreation",
    "Comisión de Planificación",
    "Board of Ed. (special)",
    "100% Committee",
    "O'Brien",
)
Execute = Callable[[str, Sequence[Any]], Any]


@dataclass
class Installation:
    """What was made, as those who made it know it: completed and total of each stuck site."""

    truth: dict[str, tuple[int, int]] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    kept_jobs: list[str] = field(default_factory=list)


def build(
    execute: Execute, storage: Path, redis: Redis, *, vendor: str, shape: str = "script", sites: int = STUCK
) -> Installation:
    """Make the old tables in an empty database, the folders, and the queue. The same every time."""
    made, random = Installation(), Random(105)
    zoned = vendor == "postgresql" and shape == "tool"
    for statement in shapes.statements(shape, vendor):
        execute(statement, ())
    for number in range(1, sites + 1):
        name = f"site{number}.{('ca.us', 'tx', 'ny', 'or')[number % 4] if number > 1 else 'ca.us'}"
        completed, total = _folder(storage / name, number, random)
        _row(execute, name, "needs_ocr", shape, random)
        counted = _progress(execute, name, "ocr", total, random, zoned=zoned)
        made.truth[name] = (completed, total or counted)  # nothing in storage: the old count stands
    for number, status in enumerate(STATUSES * 4):
        made.others.append(f"other{number}.wa")
        _row(execute, made.others[-1], status, shape, random)
    _progress(execute, made.others[0], "fetch", 9, random, zoned=zoned)
    jobs = COORDINATORS * sites // STUCK, OCR_JOBS * sites // STUCK
    made.kept_jobs = queue.leave_jobs(redis, list(made.truth), *jobs)
    return made


def _row(execute: Execute, name: str, status: str, shape: str, random: Random) -> None:
    done = f"{WORST_DAY - timedelta(days=random.randrange(400)):%Y-%m-%dT%H:%M:%S}"
    values = {
        "subdomain": name,
        "name": name.partition(".")[0].title(),
        "state": "CA",
        "kind": "city",
        "scraper": "granicus",
        "pages": random.randrange(9000),
        "start_year": 2009,
        "extra": '{"url": "https://example.test/"}',
        "country": "US",
        "lat": "37.7",
        "lng": "-122.2",
        "status": status,
        "last_updated": done,
        "last_deployed": done if status == "deployed" else None,
    }
    marks = ", ".join(["%s"] * len(values))
    execute(f"INSERT INTO sites ({', '.join(values)}) VALUES ({marks})", list(values.values()))
    if shape == "script" and random.random() < 0.5:
        nulls = ", ".join(f"{counter} = NULL" for counter in shapes.COUNTERS)
        execute(f"UPDATE sites SET {nulls}, coordinator_enqueued = NULL WHERE subdomain = %s", [name])


def _progress(execute: Execute, name: str, stage: str, total: int, random: Random, *, zoned: bool) -> int:
    touched = WORST_DAY - timedelta(minutes=random.randrange(3, 3000))
    began = touched - timedelta(hours=5)
    times = [moment if zoned else str(moment.replace(tzinfo=None)) for moment in (began, touched)]
    # The old counts had drifted: nobody may believe them.
    counts = [random.randrange(1, 3 * total + 4), random.randrange(total + 1)]
    execute("INSERT INTO site_progress VALUES (%s, %s, %s, %s, %s, %s)", [name, stage, *counts, *times])
    return counts[0]


# ---- The folders: seven kinds in turn ------------------------------------------------------------------


def _folder(root: Path, number: int, random: Random) -> tuple[int, int]:
    if number == 1:
        return _fill(root, [{"pages": 12}] * 12 + [{}] * 3)
    return _KINDS[number % len(_KINDS)](root, random)


def _fill(root: Path, documents: list[dict[str, Any]]) -> tuple[int, int]:
    for number, how in enumerate(documents):
        add_document(root, f"20{10 + number % 14}-{1 + number % 12:02}-{1 + number % 28:02}", **how)
    return sum(bool(how.get("pages") or how.get("whole")) for how in documents), len(documents)


def _pages(root: Path, random: Random) -> tuple[int, int]:
    return _fill(root, [{"pages": random.randrange(1, 6)} for _ in range(random.randrange(2, 8))])


def _whole_files(root: Path, random: Random) -> tuple[int, int]:
    return _fill(root, [{"whole": True}] * random.randrange(1, 6) + [{}] * random.randrange(4))


def _agendas_and_minutes(root: Path, random: Random) -> tuple[int, int]:
    return _fill(root, [{"pages": 2, "agenda": True}, {"agenda": True}, {"whole": True}, {"pages": 1}, {}])


def _cleaned_up(root: Path, random: Random) -> tuple[int, int]:
    """The old system deleted a PDF once it had its text."""
    return _fill(root, [{"pages": 3, "pdf": None}, {"whole": True, "pdf": None}, {"pages": 1}, {}])


def _both(root: Path, random: Random) -> tuple[int, int]:
    return _fill(root, [{"pages": 2, "whole": True}, {"pages": 4}, {"whole": True}])


def _odd(root: Path, random: Random) -> tuple[int, int]:
    named = [{"meeting": name, "pages": 1 + number} for number, name in enumerate(ODD_NAMES)]
    found = _fill(root, [*named, {"meeting": "Council"}])
    (root / "pdfs" / "Council" / ".DS_Store").write_bytes(b"\0")
    (root / "pdfs" / "Council" / "index.html").write_text("<html>")
    return found


def _empty(root: Path, random: Random) -> tuple[int, int]:
    if random.random() < 0.5:
        (root / "pdfs").mkdir(parents=True)
    return 0, 0


_KINDS = (_pages, _whole_files, _agendas_and_minutes, _cleaned_up, _both, _odd, _empty)
