"""Documents as rows: what a listing found, what a download brought, and which version is the current one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from pipeline.errors import storable
from pipeline.models import DocumentState, Status
from pipeline.stages.decisions import corrected, leave_out_taken_down, taken_down
from pipeline.stages.identity import Place, path_for, reclaim
from pipeline.state.attempt import Attempt
from pipeline.work.database import compilation
from pipeline.work.fetch.attachments import attachments
from pipeline.work.fetch.download import HTML_TYPE, PDF_TYPE, Downloaded
from pipeline.work.fetch.listing import Known, Listing
from pipeline.work.fetch.pages import Link
from pipeline.work.fetch.refs import HTML, PDF, DocRef, complaint, fault_of, shortened, url_identity
from pipeline.work.fetch.registry import fetcher_class
from sites.models import Document, Source
from sites.stages import Stage
from sites.storage import SiteFiles, folder_name

BATCH = 500
_DESCRIPTION = ("url", "title", "body", "meeting_date", "meeting_time", "kind", "cancelled", "revision")

# ---- Listings -----------------------------------------------------------------------------------------


def record_listing(source: Source, listing: Listing) -> list[Document]:
    """Write down what a listing found; the documents still to be downloaded. Doing it twice adds nothing."""
    listing = _storable(source, listing)
    refs = {ref.external_id: ref for ref in corrected(source, listing.refs)}
    latest = _latest(source, set(refs) | {check.external_id for check in listing.checks})
    unknown = {identity: ref for identity, ref in refs.items() if identity not in latest}
    if unknown and reclaim(source, unknown):
        latest |= _latest(source, unknown)
    changed = _changed(latest, refs, listing)
    new = [_document(source, ref, 1) for identity, ref in refs.items() if identity not in latest]
    new += [_next_version(source, old, refs.get(old.external_id)) for old in changed]
    leave_out_taken_down(source, new)
    # A listing that another worker has recorded meanwhile is not recorded again.
    Document.objects.bulk_create(new, batch_size=BATCH, ignore_conflicts=True)
    kept = {key: row for key, row in latest.items() if row not in changed}
    _update(kept, refs)
    _record_checks(latest, listing)
    _describe_source(source, listing)
    return list(source.documents.filter(sha256="", superseded_at=None, skip_reason=""))


def _storable(source: Source, listing: Listing) -> Listing:
    """The listing without the references that no table keeps: one of them would cost all the others."""
    local = fetcher_class(source.platform).is_local
    faults = {ref: fault for ref in listing.refs if (fault := fault_of(ref, local=local))}
    if not faults:
        return listing
    said = complaint([f"{shortened(ref)} {fault}" for ref, fault in faults.items()])
    kept = tuple(ref for ref in listing.refs if ref not in faults)
    return replace(listing, refs=kept, warning=" ".join(filter(None, (listing.warning, said))))


def _latest(source: Source, identities: Iterable[str]) -> dict[str, Document]:
    """The newest version of each of these documents."""
    found: dict[str, Document] = {}
    for some in _batches(sorted(identities)):
        rows = source.documents.filter(external_id__in=some).order_by("version")
        found.update({row.external_id: row for row in rows})
    return found


def _changed(latest: Mapping[str, Document], refs: Mapping[str, DocRef], listing: Listing) -> list[Document]:
    """Documents that we have and that are others at the source now: by content, or as the platform says."""
    by_content = {check.external_id for check in listing.checks if check.outcome == "changed"}
    by_revision = {
        key
        for key, row in latest.items()
        if key in refs and row.revision and refs[key].revision not in ("", row.revision)
    }
    return [latest[key] for key in sorted(by_content | by_revision) if key in latest and latest[key].sha256]


def _document(source: Source, ref: DocRef, version: int) -> Document:
    return Document(
        site_id=source.site_id,
        source=source,
        external_id=ref.external_id,
        version=version,
        meeting=folder_name(ref.body),
        content_type=HTML_TYPE if ref.content_hint == HTML else PDF_TYPE,
        **_described(ref),
    )


def _next_version(source: Source, old: Document, ref: DocRef | None) -> Document:
    """A changed document: a row, a file and a ledger of its own. The old one stays."""
    if ref is not None:
        return _document(source, ref, old.version + 1)
    return Document(
        site_id=old.site_id,
        source=source,
        external_id=old.external_id,
        version=old.version + 1,
        meeting=old.meeting,
        content_type=old.content_type,
        **{name: getattr(old, name) for name in _DESCRIPTION},
    )


def _described(ref: DocRef) -> dict[str, Any]:
    values = (ref.url, ref.title, ref.body, ref.date, ref.time, ref.kind, ref.cancelled, ref.revision)
    return dict(zip(_DESCRIPTION, values, strict=True))


def _update(rows: Mapping[str, Document], refs: Mapping[str, DocRef]) -> None:
    """Titles, dates and addresses follow the source; the file stays where it is."""
    changed = []
    for identity, document in rows.items():
        described = _described(refs[identity]) if identity in refs else {}
        if any(getattr(document, name) != value for name, value in described.items()):
            for name, value in described.items():
                setattr(document, name, value)
            changed.append(document)
    Document.objects.bulk_update(changed, _DESCRIPTION, batch_size=BATCH)


def _record_checks(latest: Mapping[str, Document], listing: Listing) -> None:
    now, checked = timezone.now(), []
    for check in listing.checks:
        document = latest.get(check.external_id)
        if document is not None and document.sha256:
            document.checked_at = now
            if check.outcome == "same":
                document.etag, document.last_modified = check.etag, check.last_modified
            checked.append(document)
    Document.objects.bulk_update(checked, ["checked_at", "etag", "last_modified"], batch_size=BATCH)


def _describe_source(source: Source, listing: Listing) -> None:
    Source.objects.filter(pk=source.pk).update(
        cursor=dict(listing.cursor),
        last_listed_at=timezone.now(),
        last_count=len(listing.refs),
        warning=_warning(source, listing)[:500],
    )


def _warning(source: Source, listing: Listing) -> str:
    """A source without documents is no error, but somebody should look."""
    silence = ""
    if not listing.refs:
        known = source.documents.count()
        silence = (
            f"It used to list documents ({known} so far) and now lists none."
            if known
            else "It lists no documents."
        )
    return " ".join(part for part in (silence, listing.warning) if part)


def _batches(items: list[str]) -> Iterator[list[str]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


def record_attachments(document: Document, page: bytes) -> list[Document]:
    """Write down what a downloaded page links to; the documents still to be downloaded."""
    assert document.source is not None  # what was downloaded came from a source
    found = (_attachment(document, link) for link in attachments(page, document.url))
    refs = [ref for ref in found if not fault_of(ref)]
    new = [_document(document.source, ref, 1) for ref in refs]
    Document.objects.bulk_create(new, batch_size=BATCH, ignore_conflicts=True)
    waiting = document.source.documents.filter(sha256="", superseded_at=None, skip_reason="")
    return list(waiting.filter(external_id__in=[ref.external_id for ref in refs]))


def _attachment(document: Document, link: Link) -> DocRef:
    return DocRef(
        external_id=f"{document.external_id}#{url_identity(link.url)}",
        url=link.url,
        title=storable(link.text)[:500],
        body=document.body,
        date=document.meeting_date,
        time=document.meeting_time,
        cancelled=document.cancelled,
    )


# ---- Downloads ----------------------------------------------------------------------------------------


def accepted(document: Document) -> str:
    """The content hint of the reference that this document came from."""
    return HTML if document.content_type == HTML_TYPE else PDF


def record_download(document: Document, downloaded: Downloaded, place: Place | None = None) -> None:
    """The file is in its place: say so, and let it take the place of the version before it."""
    place, now = place or Place(path_for(document, downloaded)), timezone.now()
    copied = {"skip_reason": f"the same file as {place.copy_of}"} if place.copy_of else {}
    Document.objects.filter(pk=document.pk).update(
        path=place.path,
        **copied,
        content_type=downloaded.content_type,
        sha256=downloaded.sha256,
        size=downloaded.size,
        etag=downloaded.etag,
        last_modified=downloaded.last_modified,
        fetched_at=now,
        checked_at=now,
    )
    older = Document.objects.filter(
        site_id=document.site_id, source=document.source, external_id=document.external_id
    )
    older.filter(version__lt=document.version, superseded_at=None).update(superseded_at=now)


def due_for_recheck(
    source: Source, window: date, days_without_validators: int, most: int = 500
) -> list[Known]:
    """Known documents of the window. Without validators a check is a whole download: not every run."""
    seldom = timezone.now() - timedelta(days=days_without_validators)
    newest = source.documents.filter(superseded_at=None).exclude(sha256="")
    newest = newest.exclude(external_id__in=taken_down(source))
    recent = newest.filter(Q(meeting_date__gte=window) | Q(meeting_date=None, created_at__date__gte=window))
    due = recent.filter(~Q(etag="") | ~Q(last_modified="") | Q(checked_at__lt=seldom))
    fetcher, files = fetcher_class(source.platform), SiteFiles.of(source.site_id)
    return [
        Known(
            row.external_id,
            *fetcher.request_for(row.url),
            row.sha256,
            row.etag,
            row.last_modified,
            accepted(row),
            files.file(row.path) if row.path else None,
            fetcher.is_local,
        )
        for row in due.order_by("checked_at")[:most]
    ]


# ---- Read documents -----------------------------------------------------------------------------------


def document_of(attempt: Attempt) -> Document:
    assert attempt.document_id is not None  # rows of this job have a document
    return Document.objects.select_related("site", "source").get(pk=attempt.document_id)


def read_documents(site_id: str) -> Iterator[Document]:
    """Documents whose text is there and which nobody left out on purpose, in a stable order.

    One that was taken over half read is among them: its pages are shown until it is read whole.
    Each knows when it was read. The files' own times will not do: on every machine they are others.
    """
    wanted = Document.objects.filter(site_id=site_id, skip_reason="")
    has_text = Q(ledger__status="processed") | Q(ledger__facts__kept_text=True)
    read = wanted.filter(has_text, ledger__pipeline=Stage.OCR)
    read = read.annotate(read_at=F("ledger__processed_at"), read_facts=F("ledger__facts"))
    return read.select_related("source").order_by("pk").iterator(chunk_size=1000)


def extracted_ids(site_id: str) -> set[int]:
    """Documents whose facts were written."""
    rows = DocumentState.objects.filter(site_id=site_id, pipeline=Stage.EXTRACTION, status=Status.PROCESSED)
    return set(rows.exclude(document=None).values_list("document_id", flat=True))


def pages_read(document: Document) -> int:
    """How many pages its text must have. Of text that others wrote we know only that there is some."""
    facts = document.read_facts or {}  # type: ignore[attr-defined]
    return 1 if facts.get("taken_over") or facts.get("kept_text") else int(facts.get("pages") or 1)


def stable_id(document: Document) -> str:
    """The same document has the same id in every build, on every machine, in the database over all sites."""
    return compilation.stable_id(
        document.site_id, source_url(document), document.external_id, document.version
    )


def source_url(document: Document) -> str:
    return document.source.url if document.source else ""
