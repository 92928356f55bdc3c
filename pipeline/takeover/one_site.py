"""One site of the old system: counted from its storage, and written as the history of a run."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any

from django.db import transaction
from django.utils import timezone

from pipeline.models import Adoption, DocumentState, Publication, Run, Status
from pipeline.takeover import holdings, languages, old_history
from pipeline.takeover.holdings import Holdings, Taken
from pipeline.takeover.old_history import History
from pipeline.takeover.old_rows import OldSite
from sites.inventory import StoredDocument
from sites.models import Document, Kind, Site
from sites.stages import Stage
from sites.storage import SiteFiles

NO_TEXT, SOME_TEXT, MISSING = "no_text", "some_text", "missing_file"
OLD_VERSION = "the old system's"


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


@dataclass(frozen=True)
class Adopted:
    """What a site had before and has after. `stage` is where it stands then; none if it was never begun."""

    site_id: str
    stage: str | None
    holdings: Holdings


# ---- The sites that are stuck in OCR ------------------------------------------------------------------


def foresee_stuck(old: OldSite) -> tuple[Carried, Holdings]:
    found = holdings.foresee(SiteFiles.of(old.site_id))
    return Carried(old.site_id, found.documents or _fallback(old), found.read), found


def write_stuck(old: OldSite, by: str) -> tuple[Carried, Holdings]:
    """All of a site or nothing of it, so that dying in between is repaired by running again."""
    files = SiteFiles.of(old.site_id)
    found, history = holdings.bring_home(files), _history(old)
    with transaction.atomic():
        before = old_history.state_of(old.site_id)
        run = old_history.begin_run(history, by)
        for some in holdings.look(files, found):
            _record(run, history, some, _failed)
        if not found.documents:
            old_history.record(history, _missing(run, _fallback(old)))
        ocr = old_history.stand_in_ocr(run, history)
        _adoption(history, by, found, before, run)
    return Carried(old.site_id, ocr.total, ocr.completed), found


def _fallback(old: OldSite) -> int:
    """Storage is empty: the old count stands, and a stage never has nothing to do."""
    return max(old.stage_total, 1)


# ---- All the others -----------------------------------------------------------------------------------


def foresee(old: OldSite) -> Adopted:
    found = holdings.foresee(SiteFiles.of(old.site_id))
    return Adopted(old.site_id, _stage_after(old, found.documents > 0), found)


def write(old: OldSite, by: str) -> Adopted:
    """As above; a site that has nothing in storage stays where it is."""
    files = SiteFiles.of(old.site_id)
    found, history = holdings.bring_home(files), _history(old)
    with transaction.atomic():
        before = old_history.state_of(old.site_id)
        batches = holdings.look(files, found)
        first = next(batches, None)
        run = _stand(old, history, by, chain([first], batches)) if first else None
        _adoption(history, by, found, before, run)
    return Adopted(old.site_id, _stage_after(old, first is not None), found)


def _stage_after(old: OldSite, has_documents: bool) -> str | None:
    if not has_documents:
        return None
    return Stage.OCR if old.is_unfinished else Stage.COMPLETED


def _stand(old: OldSite, history: History, by: str, batches: Iterable[list[Taken]]) -> Run:
    """An unfinished site goes on from OCR, with what is read read and the rest to be read; a finished one
    has its next run read that."""
    begin = old_history.begin_run if old.is_unfinished else old_history.ended_run
    run = begin(history, by)
    for some in batches:
        _record(run, history, some, _waiting if old.is_unfinished else _waiting_for_the_next_run)
    (old_history.stand_in_ocr if old.is_unfinished else old_history.stand_completed)(run, history)
    return run


def add_missing(site_id: str, by: str) -> Adopted:
    """A site that has had a run here: what storage has and no document knows is added to what it has."""
    files = SiteFiles.of(site_id)
    found, now = holdings.bring_home(files), timezone.now()
    history = History(site_id, now, now)
    with transaction.atomic():
        for some in holdings.look(files, found):
            _record(None, history, _unknown(site_id, some), _waiting_for_the_next_run)
        _adoption(history, by, found, {}, None)
    stage = Site.objects.values_list("current_stage", flat=True).get(pk=site_id)
    return Adopted(site_id, stage, found)


def _unknown(site_id: str, some: list[Taken]) -> list[Taken]:
    known = Document.objects.filter(site_id=site_id).exclude(path="").values_list("path", flat=True)
    stems = {holdings.stem_of(path) for path in known}
    return [taken for taken in some if holdings.stem_of(taken.stored.path) not in stems]


# ---- Writing ------------------------------------------------------------------------------------------


def _history(old: OldSite) -> History:
    """The old times stand; a row that never had any is as stale as one of yesterday."""
    stale = timezone.now() - timedelta(days=1)
    updated = old.updated_at or old.started_at or stale
    return History(old.site_id, old.started_at or updated, updated, old.completed_at)


def _record(run: Run | None, history: History, found: list[Taken], unread: Any) -> None:
    Document.objects.bulk_create((_document(history, taken.stored) for taken in found), ignore_conflicts=True)
    paths = [taken.stored.path for taken in found]
    ids = dict(Document.objects.filter(site_id=history.site_id, path__in=paths).values_list("path", "pk"))
    there = old_history.claim_rows(run, list(ids.values())) if run else set()
    rows = chain.from_iterable(_ledger(run, ids[taken.stored.path], taken, unread) for taken in found)
    old_history.record(history, [row for row in rows if (row.document_id, row.pipeline) not in there])


def _document(history: History, stored: StoredDocument) -> Document:
    kind = Kind.AGENDA if stored.is_agenda else Kind.MINUTES
    return Document(
        site_id=history.site_id,
        external_id=stored.path,
        path=stored.path,
        title=stored.title,
        meeting=stored.meeting,
        body=stored.meeting,
        meeting_date=stored.day,
        kind=kind,
        content_type="application/pdf",
        size=stored.size,
        fetched_at=stored.modified,
        pages=stored.text_files or None,
    )


def _ledger(run: Run | None, document_id: int, taken: Taken, unread: Any) -> Iterator[DocumentState]:
    stored = taken.stored
    of = {"document_id": document_id, "run": run}
    done: dict[str, Any] = {"status": Status.PROCESSED, "attempt_count": 1}
    yield DocumentState(
        pipeline=Stage.FETCH, facts={"taken_over": True, "has_pdf": stored.has_pdf}, **of, **done
    )
    facts: dict[str, Any] = {"taken_over": True, "pages": len(stored.pages) or 1}
    if taken.is_read:
        yield DocumentState(pipeline=Stage.OCR, facts=facts, **of, **done)
    else:
        # What it has of text is shown until it is read whole.
        facts["kept_text"] = stored.has_text
        yield DocumentState(pipeline=Stage.OCR, facts=facts, **of | unread(taken))


def _failed(taken: Taken) -> dict[str, Any]:
    """Nobody tried it here, and nobody knows why it failed: a new run may try it again."""
    if taken.is_partly_read:
        return _failure(SOME_TEXT, "the old system left only some of its pages")
    return _failure(NO_TEXT, "the old system left no text")


def _waiting(taken: Taken) -> dict[str, Any]:
    return {"status": Status.PENDING}


def _waiting_for_the_next_run(taken: Taken) -> dict[str, Any]:
    return {"status": Status.PENDING, "run": None}


def _missing(run: Run, count: int) -> list[DocumentState]:
    """What the old system counted and storage does not have: no documents, but jobs that failed."""
    failed = _failure(MISSING, "neither its PDF nor its text is in storage")
    facts = {"taken_over": True}
    return [
        DocumentState(run=run, pipeline=Stage.OCR, unit=f"missing:{number + 1}", facts=facts, **failed)
        for number in range(count)
    ]


def _failure(code: str, message: str) -> dict[str, Any]:
    return {
        "status": Status.FAILED_TERMINAL,
        "attempt_count": 0,
        "error_code": code,
        "error_message": f"TakenOver: {message}",
    }


def _adoption(history: History, by: str, found: Holdings, before: dict[str, Any], run: Run | None) -> None:
    languages.read_as_before(history.site_id)
    stood = {"stood_at": str(history.updated_at)} if run else {}
    Adoption.objects.update_or_create(
        site_id=history.site_id,
        defaults={
            "by": by,
            "run_id": run.pk if run else None,
            "pages_before": found.before.pages,
            "documents_before": found.before.documents,
            "pages": found.pages,
            "documents": found.documents,
            "unread": found.unread,
            "left_out": found.left_out,
            "before": before | stood,
        },
    )
    if found.before.pages:
        Publication.objects.get_or_create(
            site_id=history.site_id,
            defaults={
                "pages": found.before.pages,
                "documents": found.before.documents,
                "version": OLD_VERSION,
                "at": history.completed_at or history.updated_at,
            },
        )
