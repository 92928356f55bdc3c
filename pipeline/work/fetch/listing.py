"""List a source: the trailing window, the backfill, and whether the documents we have are still the same."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pipeline.errors import PipelineError, SourceError
from pipeline.work.fetch.base import Cursor, Fetcher
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.download import HTML_TYPE, Downloaded, NotModified, download
from pipeline.work.fetch.gate import BUSY
from pipeline.work.fetch.pages import visible_words
from pipeline.work.fetch.refs import DocRef, clean

EARLIEST = date(1990, 1, 1)
# Agendas are published ahead of their meetings.
AHEAD = timedelta(days=365)


@dataclass(frozen=True)
class Known:
    """A document that we have, and what its server told us when we got it."""

    external_id: str
    url: str
    form: Mapping[str, str] | None
    sha256: str
    etag: str = ""
    last_modified: str = ""
    accept: str = "pdf"
    file: Path | None = None


@dataclass(frozen=True)
class Check:
    """What looking again at a known document said: `changed`, `same` or `gone`."""

    external_id: str
    outcome: str
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True)
class Listing:
    refs: tuple[DocRef, ...]
    cursor: Mapping[str, Any] = field(default_factory=dict)
    warning: str = ""
    checks: tuple[Check, ...] = ()

    def facts(self) -> dict[str, Any]:
        """What the ledger keeps of it."""
        changed = sum(1 for check in self.checks if check.outcome == "changed")
        counts = {"listed": len(self.refs), "checked": len(self.checks), "changed": changed}
        return counts | {"backfilled_to": self.cursor.get("reached")}

    def with_checks(self, checks: Iterable[Check]) -> "Listing":
        return replace(self, checks=tuple(checks))


@dataclass(frozen=True)
class Span:
    """Which days to list: the window always, older ones down to `since` as far as the budget lets."""

    since: date
    window: date
    until: date
    seconds: float = 1200

    @classmethod
    def of(
        cls,
        today: date,
        window_days: int = 90,
        start_year: int | None = None,
        seconds: float = 1200,
        listed: date | None = None,
    ) -> "Span":
        """`listed`, the day of the last listing: a site that stood still is caught up with from there."""
        since = date(start_year, 1, 1) if start_year else EARLIEST
        window = min(today, listed or today) - timedelta(days=window_days)
        return cls(since, max(since, window), today + AHEAD, seconds)


def take(fetcher: Fetcher, span: Span, saved: Mapping[str, Any]) -> Listing:
    """Every reference once. A backfill that fails half-way keeps what it has and says so."""
    cursor = Cursor(saved)
    cursor.deadline = time.monotonic() + span.seconds
    refs: dict[str, DocRef] = {}
    warning = ""
    try:
        for ref in _readable(fetcher, fetcher.list(span.since, span.until, cursor, span.window)):
            if ref.date is None or span.since <= ref.date:
                refs.setdefault(ref.external_id, _tidy(ref))
    except PipelineError as error:
        if not cursor.window_listed:
            raise
        warning = f"older documents: {type(error).__name__}: {error}"
    return Listing(tuple(refs.values()), cursor.as_json(), warning)


def _readable(fetcher: Fetcher, refs: Iterator[DocRef]) -> Iterator[DocRef]:
    """What a fetcher stumbles over is the platform's page: it has changed, or it is another one."""
    try:
        yield from refs
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        reason = f"{fetcher.url} cannot be read as {fetcher.label}: {type(error).__name__}: {error}"
        raise SourceError(reason, code="wrong_page") from error


def _tidy(ref: DocRef) -> DocRef:
    return replace(ref, title=clean(ref.title)[:500], body=clean(ref.body)[:200])


def recheck(client: Client, known: Iterable[Known], scratch: Path, seconds: float = 1200) -> Iterator[Check]:
    """Ask for each known document with its validators; only a real change of content is a change."""
    deadline = time.monotonic() + seconds
    for document in known:
        if time.monotonic() > deadline:
            return  # those checked longest ago came first; the others are next
        try:
            yield _check(client, document, scratch)
        except PipelineError as error:
            # Trouble with one known document is no reason to fail the listing: we have it already.
            if error.code in ("http_404", "http_410"):
                yield Check(document.external_id, "gone", document.etag, document.last_modified)
            if error.code in (BUSY, "http_429"):
                return


def _check(client: Client, known: Known, scratch: Path) -> Check:
    answer = download(
        client,
        known.url,
        scratch,
        etag=known.etag,
        last_modified=known.last_modified,
        accept=known.accept,
        form=known.form,
    )
    if isinstance(answer, NotModified):
        return Check(known.external_id, "same", known.etag, known.last_modified)
    same = answer.sha256 == known.sha256 or _same_page(known, answer, scratch)
    scratch.unlink(missing_ok=True)
    return Check(known.external_id, "same" if same else "changed", answer.etag, answer.last_modified)


def _same_page(known: Known, answer: Downloaded, fresh: Path) -> bool:
    """A page is made anew for every reader, with other tokens each time: what counts is what it says."""
    if answer.content_type != HTML_TYPE or known.file is None or not known.file.is_file():
        return False
    return visible_words(known.file.read_bytes()) == visible_words(fresh.read_bytes())
