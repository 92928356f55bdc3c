"""One document's facts: read, cached by content and rules, written in one piece."""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from pipeline.work.database.page_texts import read_pages
from pipeline.work.extraction import kinds
from pipeline.work.extraction.facts import Fact, MeetingContext, PagedText
from pipeline.work.files import write_text

# Raise it when a rule changes: facts found by other rules are found anew.
RULES = 7
ENTRY_POINTS = "clerk.extractors"

Extractor = Callable[[PagedText, MeetingContext], Iterable[Fact]]


@dataclass(frozen=True)
class Extracted:
    counts: dict[str, int]
    flags: int
    cached: bool
    seconds: float


# Loaded with the worker, and not again by every process that it forks for a job.
BUILT_IN: dict[str, Extractor] = {rule: resolve_name(rule) for rule in kinds.rules()}


@cache
def extractors() -> dict[str, Extractor]:
    """Ours, and those that installed packages offer under `clerk.extractors`."""
    return BUILT_IN | {point.name: point.load() for point in entry_points(group=ENTRY_POINTS)}


def extract_document(
    text_dir: Path, facts_file: Path, context: MeetingContext, before: Callable[[], None] = lambda: None
) -> Extracted:
    """Write the document's facts to `facts_file`, unless they are there for this text and these rules.

    `before` is the last word before they are written: whoever may no longer write raises there.
    """
    started = time.monotonic()
    paged = PagedText.of(read_pages(text_dir))
    key = _key(paged, context)
    known = read_facts(facts_file)
    cached = known.get("key") == key
    if not cached:
        known = {"key": key, "rules": RULES, "facts": list(_found(paged, context))}
        before()
        write_text(facts_file, _a_line_each(known))
    facts = known["facts"]
    counts = Counter(fact["kind"] for fact in facts)
    flags = sum(bool(fact["flags"]) for fact in facts)
    return Extracted(dict(counts), flags, cached, time.monotonic() - started)


def _a_line_each(known: dict[str, Any]) -> str:
    """JSON with a fact a line: to be read by people, and written by the fast encoder."""
    head = json.dumps({name: value for name, value in known.items() if name != "facts"})
    facts = ",\n".join(json.dumps(fact, ensure_ascii=False) for fact in known["facts"])
    return f'{head[:-1]}, "facts": [\n{facts}\n]}}\n'


def read_facts(facts_file: Path) -> dict[str, Any]:
    """The facts as written, or none where there is no file or a damaged one."""
    try:
        found = json.loads(facts_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {"facts": []}
    return found if isinstance(found, dict) and isinstance(found.get("facts"), list) else {"facts": []}


def _key(paged: PagedText, context: MeetingContext) -> str:
    named = [RULES, sorted(extractors()), asdict(context), paged.numbers]
    digest = hashlib.blake2b(json.dumps(named).encode(), digest_size=16)
    digest.update(paged.text.encode())
    return digest.hexdigest()


def _found(paged: PagedText, context: MeetingContext) -> Iterator[dict[str, Any]]:
    if not paged.starts:
        return
    for extractor in extractors().values():
        for fact in extractor(paged, context):
            page, start = paged.locate(fact.start)
            yield {
                "kind": fact.kind,
                "page": page,
                "start": start,
                "end": start + fact.end - fact.start,
                "text": paged.text[fact.start : fact.end],
                "rule": fact.rule,
                "confidence": fact.confidence,
                "flags": list(fact.flags),
                **fact.values,
            }
