"""Sites and documents in numbers: a fixed number of grouped queries, however many there are."""

from dataclasses import dataclass, replace
from datetime import date

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from pipeline.models import DocumentState, Run, Status
from sites.models import STUCK_AFTER, WORK_STAGES, Document, Site, Stage

DOCUMENT_STATUSES = ("pending", "processing", "completed", "failed", "skipped")
LEFT_OUT = ~Q(skip_reason="") | Q(superseded_at__isnull=False)


@dataclass(frozen=True)
class Filters:
    """What part of the records to look at; empty means all of it. Dates are meeting dates."""

    sites: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    start: date | None = None
    end: date | None = None

    @property
    def about_documents(self) -> bool:
        return bool(self.kinds or self.start or self.end)

    def of_documents(self, documents: QuerySet[Document]) -> QuerySet[Document]:
        return documents.filter(self._q("site_id", ""))

    def of_sites(self, sites: QuerySet[Site]) -> QuerySet[Site]:
        return sites.filter(pk__in=self.sites) if self.sites else sites

    def of_ledger(self, rows: QuerySet[DocumentState]) -> QuerySet[DocumentState]:
        if self.stages:
            rows = rows.filter(pipeline__in=self.stages)
        return rows.filter(self._q("site_id", "document__"))

    def _q(self, site: str, document: str) -> Q:
        wanted = {
            f"{site}__in": self.sites,
            f"{document}kind__in": self.kinds,
            f"{document}meeting_date__gte": self.start,
            f"{document}meeting_date__lte": self.end,
        }
        return Q(**{name: value for name, value in wanted.items() if value})


ALL = Filters()

# ---- Sites --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SiteTotals:
    total: int
    never_run: int
    running: int
    completed: int
    failed: int
    paused: int
    stuck: int
    attention: int
    in_pipeline: int

    @property
    def health(self) -> float | None:
        """Share of the sites that are completed or were touched in the last two hours, in percent."""
        return 100 * (self.in_pipeline - self.stuck) / self.in_pipeline if self.in_pipeline else None


def site_totals(filters: Filters = ALL) -> SiteTotals:
    unfinished = Q(current_stage__isnull=False) & ~Q(current_stage=Stage.COMPLETED)
    quiet = Q(updated_at__lt=timezone.now() - STUCK_AFTER)
    counts = filters.of_sites(Site.objects.all()).aggregate(
        total=Count("pk"),
        never_run=Count("pk", filter=Q(current_stage=None)),
        completed=Count("pk", filter=Q(current_stage=Stage.COMPLETED)),
        paused=Count("pk", filter=Q(paused_at__isnull=False)),
        stuck=Count("pk", filter=unfinished & quiet),
        attention=Count("pk", filter=~Q(attention_reason="")),
        in_pipeline=Count("pk", filter=Q(current_stage__isnull=False)),
    )
    failed = filters.of_sites(failed_sites()).count()
    running = Run.objects.filter(status=Run.Status.RUNNING)
    if filters.sites:
        running = running.filter(site_id__in=filters.sites)
    return SiteTotals(running=running.count(), failed=failed, **counts)


def failed_sites() -> QuerySet[Site]:
    """Sites whose run has ended at a stage that they cannot pass."""
    ended = Run.objects.filter(status=Run.Status.FAILED)
    claimed = Site.objects.unfinished().filter(coordinator_enqueued=True)
    return claimed.filter(run_id__in=ended.values("pk"))


# ---- The ledger, counted once -------------------------------------------------------------------------

Counts = dict[tuple[str, str], int]


def ledger_counts(filters: Filters = ALL) -> Counts:
    """Rows by stage and status. The one query here that reads the whole ledger: from an index alone."""
    return _by_status(replace(filters, stages=()).of_ledger(DocumentState.objects.all()))


def _by_status(rows: QuerySet[DocumentState]) -> Counts:
    counted = rows.order_by().values_list("pipeline", "status").annotate(count=Count("*"))
    return {(stage, status): count for stage, status, count in counted}


# ---- Documents, over all their steps ------------------------------------------------------------------


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


def documents(counts: Counts, filters: Filters = ALL) -> Documents:
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
    failed, busy = count(Status.FAILED_TERMINAL), count(Status.IN_PROGRESS)
    pending = sum(by_kind.values()) - skipped - completed - failed - busy
    return Documents(by_kind, max(pending, 0), busy, completed, failed, skipped)
