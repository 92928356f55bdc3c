"""Documents in numbers: a fixed number of grouped queries, however many there are."""

from dataclasses import dataclass, replace
from datetime import date

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet

from pipeline.models import DocumentState, Status
from pipeline.reports.filters import ALL, Filters
from sites.models import Document
from sites.stages import WORK_STAGES, Stage

DOCUMENT_STATUSES = ("pending", "processing", "completed", "failed", "skipped")
LEFT_OUT = ~Q(skip_reason="") | Q(superseded_at__isnull=False)

# ---- The ledger, counted once -------------------------------------------------------------------------

Counts = dict[tuple[str, str], int]


def ledger_counts(filters: Filters = ALL) -> Counts:
    """Rows by stage and status. The one query here that reads the whole ledger: from an index alone."""
    return _by_status(replace(filters, stages=()).of_ledger(DocumentState.objects.all()))


def left_out_counts(filters: Filters = ALL) -> dict[str, int]:
    """By stage: rows that ended as failed and are no failures, for nobody wants their document."""
    rows = replace(filters, stages=()).of_ledger(DocumentState.objects.left_out())
    counted = rows.order_by().values_list("pipeline").annotate(count=Count("*"))
    return dict(counted)


def _by_status(rows: QuerySet[DocumentState]) -> Counts:
    counted = rows.order_by().values_list("pipeline", "status").annotate(count=Count("*"))
    return {(stage, status): count for stage, status, count in counted}


# ---- Documents, over all their steps ------------------------------------------------------------------


def document_status(document: Document) -> str:
    """Of one document; reads the prefetched ledger. `count_documents` counts the same."""
    if document.skip_reason:
        return "skipped"
    rows = list(document.ledger.all())
    statuses = {row.status for row in rows}
    if any(row.pipeline == Stage.EXTRACTION and row.status == Status.PROCESSED for row in rows):
        return "completed"
    if Status.FAILED_TERMINAL in statuses:
        return "failed"
    return "processing" if Status.IN_PROGRESS in statuses else "pending"


@dataclass(frozen=True)
class Documents:
    """The current version of every document; skipped ones are left out on purpose."""

    by_kind: dict[str, int]
    pending: int
    processing: int
    completed: int
    failed: int
    skipped: int

    @property
    def total(self) -> int:
        return sum(self.by_kind.values())


@dataclass(frozen=True)
class DatesCovered:
    """The first and the last meeting, both counted."""

    first: date
    last: date

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    def __str__(self) -> str:
        return f"{self.first} to {self.last}, {self.days:,} day{'s' * (self.days != 1)}"


def dates_covered(filters: Filters = ALL) -> DatesCovered | None:
    """None where no document has a date. Looks at every document, so not for a page that many ask for."""
    found = filters.of_documents(Document.objects.filter(superseded_at=None))
    ends = found.aggregate(first=Min("meeting_date"), last=Max("meeting_date"))
    return DatesCovered(**ends) if ends["first"] else None


def count_documents(counts: Counts, filters: Filters = ALL) -> Documents:
    """A document is where its one open, failed or last row is, so that the rows can be counted for it."""
    found = filters.of_documents(Document.objects.filter(superseded_at=None))
    by_kind = dict(found.order_by().values_list("kind").annotate(count=Count("*")))
    skipped = found.filter(LEFT_OUT).exclude(skip_reason="").count()
    rows = replace(filters, stages=()).of_ledger(DocumentState.objects.all())
    units = _by_status(rows.filter(document=None))
    left_out = _by_status(rows.filter(document__in=Document.objects.filter(LEFT_OUT)))

    def count(status: str, *stages: str) -> int:
        return sum(
            counts.get((stage, status), 0) - units.get((stage, status), 0) - left_out.get((stage, status), 0)
            for stage in stages or WORK_STAGES
        )

    completed = count(Status.PROCESSED, Stage.EXTRACTION)
    failed, busy = (_unfinished(rows, status) for status in (Status.FAILED_TERMINAL, Status.IN_PROGRESS))
    pending = sum(by_kind.values()) - skipped - completed - failed - busy
    return Documents(by_kind, max(pending, 0), busy, completed, failed, skipped)


def _unfinished(rows: QuerySet[DocumentState], status: str) -> int:
    """Documents with such a row that are not through all the same: one whose file was lost, fetched in vain
    and read long ago is completed, once."""
    through = DocumentState.objects.filter(
        document=OuterRef("document"), pipeline=Stage.EXTRACTION, status=Status.PROCESSED
    )
    such = rows.filter(status=status, document__skip_reason="", document__superseded_at=None)
    return such.exclude(Exists(through)).values("document").distinct().count()
