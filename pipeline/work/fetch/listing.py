"""List a source: the trailing window, the backfill, and whether the documents we have are still the same."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pipeline.errors import PipelineError, SourceError, storable
from pipeline.work.fetch.base import UNREADABLE, Cursor, Fetcher
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.download import HTML_TYPE, Downloaded, NotModified, copy, download
from pipeline.work.fetch.gate import BUSY
from pipeline.work.fetch.pages import visible_words
from pipeline.work.fetch.refs import DocRef, clean, complaint, fault_of, shortened

EARLIEST = date(1990, 1, 1)
# Agendas are published ahead of their meetings.
AHEAD = timedelta(days=365)
# A page of a city has thousands of documents; beyond this it is no listing any more.
MOST_REFS = 200_000


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
    local: bool = False


@dataclass(frozen=True)
class Recheck:
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
    checks: tuple[Recheck, ...] = ()
    # References that cannot be kept; the warning names them.
    refused: int = 0

    def facts(self) -> dict[str, Any]:
        """What the ledger keeps of it."""
        changed = sum(1 for check in self.checks if check.outcome == "changed")
        counts = {"listed": len(self.refs), "refused": self.refused}
        counts |= {"checked": len(self.checks), "changed": changed}
        return counts | {"backfilled_to": self.cursor.get("reached")}

    def with_checks(self, checks: Iterable[Recheck]) -> "Listing":
        return replace(self, checks=tuple(checks))


@dataclass(frozen=True)
class ListedDays:
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
    ) -> "ListedDays":
        """`listed`, the day of the last listing: a site that stood still is caught up with from there."""
        since = date(start_year, 1, 1) if start_year else EARLIEST
        window = min(today, listed or today) - timedelta(days=window_days)
        return cls(since, max(since, window), today + AHEAD, seconds)


def take(fetcher: Fetcher, span: ListedDays, saved: Mapping[str, Any]) -> Listing:
    """Every reference once. A backfill that fails half-way keeps what it has and says so."""
    cursor = Cursor(saved)
    cursor.deadline = time.monotonic() + span.seconds
    kept = Kept(fetcher, span.since)
    try:
        for ref in _readable(fetcher, fetcher.list(span.since, span.until, cursor, span.window)):
            if not kept.take(ref):
                break
    except PipelineError as error:
        if not cursor.window_listed:
            raise
        fetcher.note(f"older documents: {type(error).__name__}: {error}")
    return Listing(tuple(kept.refs.values()), cursor.as_json(), kept.warning(), refused=len(kept.refused))


class Kept:
    """What a listing names: the references that can be kept, and the ones that cannot, with the reason."""

    def __init__(self, fetcher: Fetcher, since: date) -> None:
        self._fetcher, self._since = fetcher, since
        self.refs: dict[str, DocRef] = {}
        self.refused: dict[str, str] = {}

    def take(self, ref: DocRef) -> bool:
        """False once there is room for no more."""
        if len(self.refs) + len(self.refused) >= MOST_REFS:
            self._fetcher.note(f"more than {MOST_REFS:,} documents: the rest was left out")
            return False
        fault = fault_of(ref, local=self._fetcher.is_local)
        if fault:
            self.refused.setdefault(ref.external_id, f"{shortened(ref)} {fault}")
        elif ref.date is None or self._since <= ref.date:
            self.refs.setdefault(ref.external_id, _tidy(ref))
        return True

    def warning(self) -> str:
        said = [*self._fetcher.notes, complaint(list(self.refused.values()))]
        return storable(". ".join(filter(None, said)))


def _readable(fetcher: Fetcher, refs: Iterator[DocRef]) -> Iterator[DocRef]:
    """What a fetcher stumbles over is the platform's page: it has changed, or it is another one."""
    try:
        yield from refs
    except UNREADABLE as error:
        reason = f"{fetcher.url} cannot be read as {fetcher.label}: {type(error).__name__}: {error}"
        raise SourceError(reason, code="wrong_page") from error


def _tidy(ref: DocRef) -> DocRef:
    title, body, revision = (storable(text) for text in (ref.title, ref.body, ref.revision))
    return replace(ref, title=clean(title)[:500], body=clean(body)[:200], revision=revision[:500])


def recheck(
    client: Client, known: Iterable[Known], scratch: Path, seconds: float = 1200
) -> Iterator[Recheck]:
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
                yield Recheck(document.external_id, "gone", document.etag, document.last_modified)
            if error.code in (BUSY, "http_429"):
                return


def _ask(client: Client, known: Known, scratch: Path) -> Downloaded | NotModified:
    if known.local:
        return copy(client, known.url, scratch, etag=known.etag, accept=known.accept)
    return download(
        client,
        known.url,
        scratch,
        etag=known.etag,
        last_modified=known.last_modified,
        accept=known.accept,
        form=known.form,
    )


def _check(client: Client, known: Known, scratch: Path) -> Recheck:
    answer = _ask(client, known, scratch)
    if isinstance(answer, NotModified):
        return Recheck(known.external_id, "same", known.etag, known.last_modified)
    same = answer.sha256 == known.sha256 or _same_page(known, answer, scratch)
    scratch.unlink(missing_ok=True)
    return Recheck(known.external_id, "same" if same else "changed", answer.etag, answer.last_modified)


def _same_page(known: Known, answer: Downloaded, fresh: Path) -> bool:
    """A page is made anew for every reader, with other tokens each time: what counts is what it says."""
    if answer.content_type != HTML_TYPE or known.file is None or not known.file.is_file():
        return False
    return visible_words(known.file.read_bytes()) == visible_words(fresh.read_bytes())
