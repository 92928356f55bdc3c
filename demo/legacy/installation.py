"""The worst day: 105 sites in OCR, 82 coordinators deferred for ever, 2,695 failed OCR jobs, one database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from redis import Redis

from demo.legacy import queue, shapes
from demo.legacy.others import ODD_NAMES, ODD_STATUSES, STAGES, STATUSES, TIMES, fill
from demo.legacy.storage import add_document

STUCK, COORDINATORS, OCR_JOBS, OTHERS = 105, 82, 2695, 24
WORST_DAY = datetime(2024, 11, 3, 2, 14, 7, 250000, tzinfo=UTC)
Execute = Callable[[str, Sequence[Any]], Any]


@dataclass
class Installation:
    """What was made, as those who made it know it: completed and total of each stuck site."""

    truth: dict[str, tuple[int, int]] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    kept_jobs: list[str] = field(default_factory=list)


def build(
    execute: Execute,
    storage: Path,
    redis: Redis,
    *,
    vendor: str,
    shape: str = "script",
    sites: int = STUCK,
    further: int = OTHERS,
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
    for number in range(further):
        made.others.append(_other(execute, storage, number, shape, vendor, random))
    _progress(execute, "forgotten.wa", "deploy", 9, random, zoned=zoned)
    jobs = COORDINATORS * sites // STUCK, OCR_JOBS * sites // STUCK
    made.kept_jobs = queue.leave_jobs(redis, list(made.truth), *jobs)
    return made


def _row(execute: Execute, site: str, status: str | None, shape: str, random: Random, **more: Any) -> None:
    done = f"{WORST_DAY - timedelta(days=random.randrange(400)):%Y-%m-%dT%H:%M:%S}"
    values = {
        "subdomain": site,
        "name": site.partition(".")[0].title(),
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
    } | more
    marks = ", ".join(["%s"] * len(values))
    execute(f"INSERT INTO sites ({', '.join(values)}) VALUES ({marks})", list(values.values()))
    if shape == "script" and random.random() < 0.5:
        nulls = ", ".join(f"{counter} = NULL" for counter in shapes.COUNTERS)
        execute(f"UPDATE sites SET {nulls}, coordinator_enqueued = NULL WHERE subdomain = %s", [site])


def _other(execute: Execute, storage: Path, number: int, shape: str, vendor: str, random: Random) -> str:
    """A site that was not stuck. Nothing of what it says of itself need be true, or even be said."""
    name = f"other{number}.wa"
    fill(storage / name, number)
    statuses = STATUSES if number % 3 else ODD_STATUSES
    status, stage = statuses[number // 3 % len(statuses)], STAGES[number % len(STAGES)]
    times = {
        column: TIMES[(number + offset) % len(TIMES)]
        for offset, column in enumerate(("last_updated", "last_deployed", "last_extracted"))
    }
    odd = {"name": None, "extra": "not JSON", "pages": None, "lat": ""} if number % 7 == 0 else {}
    state = _state(number, shape, vendor) if shape != "before" else {}
    _row(execute, name, status, shape, random, **times | odd | state)
    if stage is not None:
        zoned = vendor == "postgresql" and shape == "tool"
        _progress(execute, name, stage, number % 9, random, zoned=zoned)
        if number % 4 == 0:
            nothing = ", ".join(f"{column} = NULL" for column in ("stage_total", "started_at", "updated_at"))
            execute(f"UPDATE site_progress SET {nothing} WHERE subdomain = %s", [name])
        elif vendor == "sqlite":
            text = TIMES[number % len(TIMES)]
            execute("UPDATE site_progress SET updated_at = %s WHERE subdomain = %s", [text, name])
    return name


def _state(number: int, shape: str, vendor: str) -> dict[str, Any]:
    """The state columns, which one of the old releases had filled for some of the sites."""
    if number % 2:
        return {}
    moment: Any = str((WORST_DAY - timedelta(hours=number)).replace(tzinfo=None))
    if vendor == "postgresql" and shape == "tool":
        moment = WORST_DAY - timedelta(hours=number)
    elif vendor == "sqlite":
        moment = TIMES[number // 2 % len(TIMES)]
    return {
        "current_stage": STAGES[number // 2 % len(STAGES)],
        "started_at": moment,
        "updated_at": moment,
        "ocr_total": number,
        "ocr_completed": number // 2,
        "last_error_stage": "ocr" if number % 4 else None,
        "last_error_message": "OCRError: 100 % bad" if number % 4 else None,
    }


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
