"""What a finished job adds to the tally."""

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.queue import tally
from pipeline.queue.tally import Entry


def note(stage: str, outcome: str, seconds: float, facts: Mapping[str, Any]) -> None:
    """One round trip for all of it. Among the facts are the platform of a fetch and the code of a failure."""
    tally.write(_entries(stage, outcome, seconds, facts))


def _entries(stage: str, outcome: str, seconds: float, facts: Mapping[str, Any]) -> Iterator[Entry]:
    yield Entry("clerk_job_seconds", {"stage": stage, "outcome": outcome}, seconds)
    if facts.get("code"):
        yield Entry("clerk_job_failures", {"stage": stage, "code": facts["code"]})
    if outcome == "failed_retryable":
        yield Entry("clerk_job_retries", {"stage": stage})
    yield from _of_a_fetch(outcome, facts) if stage == "fetch" else ()
    yield from _of_a_reading(facts) if stage == "ocr" else ()


def _of_a_fetch(outcome: str, facts: Mapping[str, Any]) -> Iterator[Entry]:
    platform = str(facts.get("platform") or "unknown")
    yield Entry("clerk_fetches", {"platform": platform, "outcome": outcome})
    if facts.get("bytes"):
        yield Entry("clerk_fetched_bytes", {"platform": platform}, facts["bytes"])


def _of_a_reading(facts: Mapping[str, Any]) -> Iterator[Entry]:
    for method, pages in (facts.get("methods") or {}).items():
        yield Entry("clerk_ocr_pages", {"method": method}, pages)
    if facts.get("confidence") is not None:
        yield Entry("clerk_ocr_confidence_percent", {}, facts["confidence"])
