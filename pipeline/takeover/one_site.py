"""One site of the old system: counted from its storage, and written as the history of a run."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from pipeline.models import DocumentState, Run, Status
from pipeline.takeover import old_history
from pipeline.takeover.old_history import History
from sites.inventory import StoredDocument, documents_in
from sites.models import Document, Kind
from sites.stages import Stage
from sites.storage import SiteFiles

NO_TEXT, MISSING = "no_text", "missing_file"
BATCH = 1000


@dataclass(frozen=True)
class OldRow:
    site_id: str
    stage_total: int
    started_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True)
class Carried:
    """A site as storage tells it."""

    site_id: str
    total: int
    completed: int

    @property
    def failed(self) -> int:
        return self.total - self.completed

    def __str__(self) -> str:
        return f"{self.site_id}: {self.completed}/{self.total} completed, {self.failed} failed"


def foresee(row: OldRow) -> Carried:
    total = completed = 0
    for document in documents_in(SiteFiles.of(row.site_id)):
        total += 1
        completed += document.has_text
    return Carried(row.site_id, total or _fallback(row), completed)


def _fallback(row: OldRow) -> int:
    """Storage is empty: the old count stands, and a stage never has nothing to do."""
    return max(row.stage_total, 1)


def write(row: OldRow, by: str) -> Carried:
    """All of a site or nothing of it, so that dying in between is repaired by running again."""
    history = _history(row)
    with transaction.atomic():
        run = old_history.begin_run(history, by)
        any_document = False
        for some in _batches(documents_in(SiteFiles.of(row.site_id))):
            any_document = True
            _record(run, history, some)
        if not any_document:
            old_history.record(run, history, _missing(_fallback(row)))
        ocr = old_history.stand_in_ocr(run, history)
    return Carried(row.site_id, ocr.total, ocr.completed)


def _batches(documents: Iterable[StoredDocument]) -> Iterator[list[StoredDocument]]:
    left = iter(documents)
    while some := list(islice(left, BATCH)):
        yield some


def _history(row: OldRow) -> History:
    """The old times stand; a row that never had any is as stale as one of yesterday."""
    stale = timezone.now() - timedelta(days=1)
    updated = row.updated_at or row.started_at or stale
    return History(row.site_id, row.started_at or updated, updated)


def _record(run: Run, history: History, found: list[StoredDocument]) -> None:
    Document.objects.bulk_create((_document(history, stored) for stored in found), ignore_conflicts=True)
    paths = [stored.path for stored in found]
    ids = dict(Document.objects.filter(site_id=history.site_id, path__in=paths).values_list("path", "pk"))
    rows = []
    for stored in found:
        rows += _ledger(ids[stored.path], stored)
    old_history.record(run, history, rows)


def _document(history: History, stored: StoredDocument) -> Document:
    return Document(
        site_id=history.site_id,
        external_id=stored.path,
        path=stored.path,
        meeting=stored.meeting,
        body=stored.meeting,
        meeting_date=stored.day,
        kind=Kind.AGENDA if stored.is_agenda else Kind.MINUTES,
        content_type="application/pdf",
        size=stored.size,
        fetched_at=stored.modified,
        pages=stored.text_files or None,
    )


def _ledger(document_id: int, stored: StoredDocument) -> list[DocumentState]:
    fetched = DocumentState(
        document_id=document_id,
        pipeline=Stage.FETCH,
        status=Status.PROCESSED,
        attempt_count=1,
        facts={"taken_over": True, "has_pdf": stored.has_pdf},
    )
    if stored.has_text:
        outcome: dict[str, Any] = {"status": Status.PROCESSED, "attempt_count": 1}
    else:
        outcome = _failed(NO_TEXT, "the old system left no text")
    facts = {"taken_over": True, "pages": stored.text_files}
    return [fetched, DocumentState(document_id=document_id, pipeline=Stage.OCR, facts=facts, **outcome)]


def _missing(count: int) -> list[DocumentState]:
    """What the old system counted and storage does not have: no documents, but jobs that failed."""
    failed = _failed(MISSING, "neither its PDF nor its text is in storage")
    return [
        DocumentState(pipeline=Stage.OCR, unit=f"missing:{number + 1}", **failed) for number in range(count)
    ]


def _failed(code: str, message: str) -> dict[str, Any]:
    # As one whose attempts ran out: nobody knows why it failed, so a new run may try it again.
    return {
        "status": Status.FAILED_TERMINAL,
        "attempt_count": settings.MAX_ATTEMPTS,
        "error_code": code,
        "error_message": f"TakenOver: {message}",
    }
