"""The fetch stage with its settings: list a source, say what is wrong with it, bring a document home."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import django_rq
from django.conf import settings

from pipeline.errors import PipelineError, StageError
from pipeline.redaction import redact
from pipeline.stages import documents, silence
from pipeline.stages.identity import learn_contents, path_for, settle
from pipeline.stages.shared_files import shared
from pipeline.state.attempt import Attempt, Finished
from pipeline.work.fetch.answers import Limits
from pipeline.work.fetch.base import ATTACHMENTS
from pipeline.work.fetch.client import Client
from pipeline.work.fetch.detect import recognise
from pipeline.work.fetch.download import Downloaded, NotModified, copy, download
from pipeline.work.fetch.gate import LEASE, Gate, RedisGate
from pipeline.work.fetch.listing import ListedDays, Listing, recheck, take
from pipeline.work.fetch.memory import at_most
from pipeline.work.fetch.registry import build, fetcher_class
from pipeline.work.fetch.robots import Cache, RedisCache
from pipeline.work.files import LEFTOVER_SECONDS
from sites.models import Document, Site, Source
from sites.storage import SiteFiles

# A listing that fails so may mean that the city has changed its platform; the page is looked at again.
MOVED = {"wrong_page", "bad_json", "http_404", "http_410"}


def open_client() -> Client:
    """The client of the workers: its manners are shared by all of them, through Redis."""
    connection = django_rq.get_connection("fetch")
    # Whoever gives up on a host soon does not want it kept for long by a killed worker either.
    lease = min(LEASE, 2 * settings.FETCH_TIMEOUT_SECONDS)
    gate = RedisGate(connection, settings.FETCH_HOST_GAP_SECONDS, lease=lease)
    return client_with(gate, RedisCache(connection))


def client_with(gate: Gate, cache: Cache | None = None) -> Client:
    return Client(
        gate=gate,
        cache=cache,
        private_hosts=settings.FETCH_PRIVATE_HOSTS,
        robots_exempt_hosts=settings.FETCH_ROBOTS_EXEMPT_HOSTS,
        local_dirs=settings.FETCH_LOCAL_DIRS,
        user_agent=settings.FETCH_USER_AGENT,
        limits=Limits(
            connect_seconds=min(15, settings.FETCH_TIMEOUT_SECONDS),
            read_seconds=settings.FETCH_TIMEOUT_SECONDS,
            file_bytes=settings.FETCH_MAX_BYTES,
        ),
    )


def run_listing(attempt: Attempt) -> Finished:
    source = source_of(attempt)
    attempt.noted["platform"] = source.platform
    _refuse_disabled(source)
    with open_client() as client:
        listing = list_source(source, client, attempt.token.hex)
        diagnosis = "" if listing.refs else silence.diagnosis_of(source, client)

    def record() -> list[Document]:
        known = source.documents.count()
        wanted = documents.record_listing(source, listing)
        silence.record_listing(source, listing, source.documents.count() - known, diagnosis)
        return wanted

    return Finished(listing.facts(), record)


def run_download(attempt: Attempt) -> Finished:
    document = documents.document_of(attempt)
    attempt.noted["platform"] = document.source.platform if document.source else "generic"
    _refuse_disabled(document.source)
    scratch = SiteFiles.of(attempt.site_id).scratch / f"{document.pk}-{attempt.token.hex}"
    with open_client() as client:
        downloaded = download_document(document, scratch, client)
    learn_contents(attempt.site_id, downloaded.size)
    # Before the finishing transaction, which must not wait for others. No other content has this name.
    with shared() as storage:
        storage.push(scratch, to=SiteFiles.of(attempt.site_id).file(path_for(document, downloaded)))

    def record() -> list[Document]:
        file = keep(document, downloaded, scratch, attempt.run_id)
        return attached(document, file) if file else []

    return Finished({"bytes": downloaded.size}, record)


def _refuse_disabled(source: Source | None) -> None:
    """Somebody switched it off while its jobs waited. What it lists comes when it is switched on again."""
    if source is not None and not source.enabled:
        raise StageError(f"{source.url} was switched off", code="source_disabled")


def source_of(attempt: Attempt) -> Source:
    source = (
        Source.objects.select_related("site").filter(pk=int(attempt.unit.removeprefix("source:"))).first()
    )
    if source is None:
        raise StageError(f"{attempt.unit} was removed while the run was under way", code="source_gone")
    return source


# ---- Listing ------------------------------------------------------------------------------------------


def list_source(source: Source, client: Client, name: str = "listing") -> Listing:
    """What the source has now, and which of the documents we have from it are no longer the same there.

    `name` tells the scratch file of this attempt from that of one that was given up and still runs.
    """
    listed = source.last_listed_at.date() if source.last_listed_at else None
    span = ListedDays.of(
        today_at(source.site), settings.FETCH_WINDOW_DAYS, source.site.start_year, listed=listed
    )
    what = {"of": [source.platform, source.url, source.options]}
    # A source that was pointed elsewhere begins anew.
    saved = source.cursor if source.cursor.get("of") == what["of"] else {}
    with _trouble_noted(source, client), at_most(settings.FETCH_MEMORY_MB):
        listing = take(build(source.platform, client, source.url, source.options), span, saved)
    listing = replace(listing, cursor={**listing.cursor, **what})
    if not listing.refs:
        listing = replace(listing, warning=_complaint(source, client, listing.warning))
    scratch = SiteFiles.of(source.site_id).scratch
    _remove_leftovers(scratch)
    known = documents.due_for_recheck(source, span.window, settings.FETCH_RECHECK_DAYS)
    return listing.with_checks(recheck(client, known, scratch / f"source-{source.pk}-{name}"))


@contextmanager
def _trouble_noted(source: Source, client: Client) -> Iterator[None]:
    """A listing that fails says so on its source; the next one that succeeds takes it back."""
    try:
        yield
    except PipelineError as error:
        warning = redact(f"{type(error).__name__}: {error}")
        if error.code in MOVED:
            warning = _complaint(source, client, warning)
        Source.objects.filter(pk=source.pk).update(warning=warning[:500])
        silence.record_failure(source, error)
        raise


def _complaint(source: Source, client: Client, reason: str) -> str:
    """The reason, and what the address looks like now if that is another platform."""
    try:
        found = recognise(source.url, client)
    except PipelineError:
        found = []
    other = next(
        (item for item in found if item.platform != source.platform and item.confidence >= 0.6), None
    )
    own = max((item.confidence for item in found if item.platform == source.platform), default=0)
    moved = (
        f"The address now looks like {other.label} ({other.url})." if other and own < other.confidence else ""
    )
    return " ".join(part for part in (reason, moved) if part)


def _remove_leftovers(scratch: Path) -> None:
    """Files of downloads whose worker was killed before it could put them in their place."""
    for leftover in scratch.glob("*"):
        if leftover.is_file() and leftover.stat().st_mtime < time.time() - LEFTOVER_SECONDS:
            leftover.unlink(missing_ok=True)


def today_at(site: Site) -> date:
    """The date on the city's own clock."""
    try:
        zone = ZoneInfo(site.time_zone or settings.TIME_ZONE)
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    return datetime.now(zone).date()


# ---- Downloading --------------------------------------------------------------------------------------


def download_document(document: Document, scratch: Path, client: Client) -> Downloaded:
    """The document's bytes as `scratch`, until `keep` puts them in their place."""
    _remove_earlier_attempts(document, scratch.parent)
    fetcher = fetcher_class(document.source.platform if document.source else "generic")
    url, form = fetcher.request_for(document.url)
    accept = documents.accepted(document)
    with at_most(settings.FETCH_MEMORY_MB):
        downloaded = (
            copy(client, url, scratch, accept=accept)
            if fetcher.is_local
            else download(client, url, scratch, form=form, accept=accept)
        )
    if isinstance(downloaded, NotModified):
        raise AssertionError("an unconditional request is never answered with 'not modified'")
    return downloaded


def _remove_earlier_attempts(document: Document, folder: Path) -> None:
    """What killed workers left of this document. One that still runs is fenced off and may fail on it."""
    for pattern in (f"{document.pk}-*", f".{document.pk}-*"):
        for leftover in folder.glob(pattern):
            leftover.unlink(missing_ok=True)


def attached(document: Document, file: Path) -> list[Document]:
    """The documents that a page brings with it, where its source is asked for them."""
    wanted = document.source is not None and document.source.options.get(ATTACHMENTS.name)
    if not wanted or file.suffix != ".html":
        return []
    return documents.record_attachments(document, file.read_bytes())


def keep(document: Document, downloaded: Downloaded, scratch: Path, run_id: int | None = None) -> Path | None:
    """Runs in the finishing transaction: a row that is processed has its file, and one that was fenced off
    keeps none. A transaction that is tried again finds it there. None for a copy of another document."""
    place = settle(document, downloaded, run_id)
    documents.record_download(document, downloaded, place)
    if not place.path:
        scratch.unlink(missing_ok=True)
        return None
    file = SiteFiles.of(document.site_id).file(place.path)
    file.parent.mkdir(parents=True, exist_ok=True)
    if scratch.exists() or not file.exists():
        scratch.replace(file)
    return file
