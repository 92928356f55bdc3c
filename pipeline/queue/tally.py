"""Counters and histograms of what happens, kept in Redis, for all processes on all machines add to them.

Redis may lose them. They begin again at zero then, which Prometheus takes for the restart that it is.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import django_rq
import structlog
from redis.exceptions import RedisError

log = structlog.get_logger()
KEY = "clerk:tally"

JOB_BUCKETS = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 3600)
ANSWER_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
PERCENT_BUCKETS = (50, 60, 70, 80, 85, 90, 95, 98, 100)


@dataclass(frozen=True)
class Kind:
    """What is counted: its meaning, its labels, and the buckets of a histogram."""

    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


# Every label has few values: never a site, never an address.
KINDS: dict[str, Kind] = {
    "clerk_job_seconds": Kind("Jobs by stage and how they ended", ("stage", "outcome"), JOB_BUCKETS),
    "clerk_job_failures": Kind("Failed attempts by stage and error code", ("stage", "code")),
    "clerk_job_retries": Kind("Attempts that will be tried again", ("stage",)),
    "clerk_fetches": Kind("Listings and downloads by platform and how they ended", ("platform", "outcome")),
    "clerk_fetched_bytes": Kind("Bytes downloaded", ("platform",)),
    "clerk_ocr_pages": Kind("Pages read, by where their text came from", ("method",)),
    "clerk_ocr_confidence_percent": Kind(
        "How sure the engine was of documents that it read", (), PERCENT_BUCKETS
    ),
    "clerk_reconcile_sites": Kind("Sites that reconcile found, by what came of it", ("outcome",)),
    "clerk_webhook_attempts": Kind("Attempts to deliver a webhook", ("outcome",)),
    "clerk_notifications": Kind("Notices to people, by way and how it went", ("channel", "outcome")),
    "clerk_search_seconds": Kind("Searches of readers", (), ANSWER_BUCKETS),
}


@dataclass(frozen=True)
class Entry:
    """One thing that happened: an amount to add, or for a histogram the value to sort in."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    amount: float = 1


def add(name: str, amount: float = 1, **labels: str) -> None:
    write([Entry(name, labels, amount)])


def write(entries: Iterable[Entry]) -> None:
    """All of them in one round trip. Nothing ever fails because it could not be counted."""
    changes = [change for entry in entries for change in _changes(entry)]
    if not changes:
        return
    try:
        with django_rq.get_connection("high").pipeline(transaction=False) as pipe:
            for place, amount in changes:
                pipe.hincrbyfloat(KEY, place, amount)
            pipe.execute()
    except RedisError as error:
        log.warning("what happened could not be counted", error=str(error))


def _changes(entry: Entry) -> list[tuple[str, float]]:
    kind = KINDS[entry.name]
    values = [str(entry.labels[label])[:60] for label in kind.labels]
    if not kind.buckets:
        return [(_place(entry.name, values), entry.amount)]
    bucket = next((str(edge) for edge in kind.buckets if entry.amount <= edge), "+Inf")
    return [(_place(entry.name, values, bucket), 1), (_place(entry.name, values, "sum"), entry.amount)]


def _place(name: str, values: list[str], part: str = "") -> str:
    return json.dumps([name, values, part], separators=(",", ":"))


# ---- Reading ------------------------------------------------------------------------------------------


@dataclass
class Series:
    """One combination of labels: a number; for a histogram the sum, and how many fell into each bucket."""

    value: float = 0
    buckets: dict[str, float] = field(default_factory=dict)

    def cumulative(self, edges: tuple[float, ...]) -> list[tuple[str, float]]:
        """As Prometheus has it: how many were at most this large."""
        total, found = 0.0, []
        for edge in (*map(str, edges), "+Inf"):
            total += self.buckets.get(edge, 0)
            found.append((edge, total))
        return found


Tally = dict[str, dict[tuple[str, ...], Series]]


def read(connection: Any = None) -> Tally:
    """Every series that anything was ever added to."""
    found: Tally = {name: {} for name in KINDS}
    entries = (connection or django_rq.get_connection("high")).hgetall(KEY)
    for place, amount in entries.items():
        name, values, part = json.loads(place)
        if name not in KINDS or len(values) != len(KINDS[name].labels):
            continue  # of another version of Clerk
        series = found[name].setdefault(tuple(values), Series())
        if part in ("", "sum"):
            series.value = float(amount)
        else:
            series.buckets[part] = float(amount)
    return found
