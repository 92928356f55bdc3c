"""The acts that the admin offers on sites, documents and ledger rows, and the promise each makes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Count, QuerySet

from pipeline.admin.confirm import Act
from pipeline.models import DocumentState, Publication, Run, Status
from pipeline.operations import decisions, interventions, retiring
from pipeline.operations.interventions import ActOutcome, Operator, for_each
from pipeline.reports.wording import plural
from pipeline.stages.decisions import TAKEN_DOWN
from sites.models import Document, Site
from sites.stages import WORK_STAGES


def _each_site(act: Callable[[str, Operator], Any]) -> Callable[[QuerySet[Any], Operator, float], ActOutcome]:
    def apply(chosen: QuerySet[Any], operator: Operator, seconds: float) -> ActOutcome:
        keys = chosen.order_by("pk").values_list("pk", flat=True)
        return for_each(keys, lambda site_id: act(site_id, operator), seconds)

    return apply


def _start_first(site_id: str, operator: Operator) -> Run:
    return interventions.start(site_id, operator, priority=Run.Priority.HIGH)


def _unstick(chosen: QuerySet[Any], operator: Operator, seconds: float) -> ActOutcome:
    return interventions.unstick(list(chosen.values_list("pk", flat=True)), operator)


def _in_a_run(chosen: QuerySet[Site]) -> int:
    return Run.objects.filter(site__in=chosen.order_by().values("pk"), status=Run.Status.RUNNING).count()


def _before_start(chosen: QuerySet[Site]) -> Iterable[str]:
    running, paused = _in_a_run(chosen), chosen.filter(paused_at__isnull=False).count()
    if running:
        yield f"{plural(running, 'is', 'are')} in a run already and will be left alone."
    if paused:
        yield f"{plural(paused, 'is', 'are')} paused and will be left alone."


def _before_restart(chosen: QuerySet[Site]) -> Iterable[str]:
    running = _in_a_run(chosen)
    if running:
        yield f"{plural(running, 'run is', 'runs are')} given up. What is processed stays so."


def _before_cancel(chosen: QuerySet[Site]) -> Iterable[str]:
    yield f"{plural(_in_a_run(chosen), 'run ends', 'runs end')} now. What is processed stays so."


def _before_site_retry(chosen: QuerySet[Site]) -> Iterable[str]:
    return _failures(interventions.failed_rows().filter(site__in=chosen.order_by().values("pk")))


def _failures(rows: QuerySet[DocumentState]) -> Iterable[str]:
    counts = dict(rows.order_by().values_list("pipeline").annotate(count=Count("*")))
    total = sum(counts.values())
    where = ", ".join(f"{counts[stage]:,} in {stage}" for stage in WORK_STAGES if stage in counts)
    yield f"{plural(total, 'failure', 'failures')} to try again{': ' if where else ''}{where}."


@dataclass(frozen=True)
class SiteStanding:
    """A site as an act sees it."""

    site: Site
    running: bool
    failed: bool
    # "archived" or "removed", where a person made it so.
    retired: str = ""

    @property
    def paused(self) -> bool:
        return self.site.paused_at is not None


def _before_remove(chosen: QuerySet[Site]) -> Iterable[str]:
    documents = Document.objects.filter(site__in=chosen.order_by().values("pk")).count()
    running, published = _in_a_run(chosen), Publication.objects.filter(site__in=chosen.values("pk")).count()
    if running:
        yield f"{plural(running, 'run ends', 'runs end')} now."
    yield (
        f"Published records of {plural(published, 'site', 'sites')} go now: search, pages, feeds, API, "
        "deployed databases and their earlier versions."
    )
    yield (
        f"{plural(documents, 'document', 'documents')} with files, texts and history stay for "
        f"{plural(settings.KEEP_REMOVED_DAYS, 'day', 'days')}, in which Restore brings all of it back. "
        "Then `manage.py prune` deletes them for good. Back-ups keep what they hold until they are dropped."
    )


def _before_archive(chosen: QuerySet[Site]) -> Iterable[str]:
    running = _in_a_run(chosen)
    if running:
        yield f"{plural(running, 'run ends', 'runs end')} now. What is processed stays so."
    yield "Files and published records stay as they are, and readers keep reading."


SITE_ACTS = (
    Act(
        "start",
        "Start",
        "Each begins a run: its sources are listed, and what is new or missing is done.",
        _each_site(interventions.start),
        _before_start,
        fits=lambda it: not it.running and not it.paused,
    ),
    Act(
        "start-first",
        "Start, first in line",
        "As Start, and its jobs go before those of other sites.",
        _each_site(_start_first),
        _before_start,
        fits=lambda it: not it.running and not it.paused,
    ),
    Act(
        "retry",
        "Retry failed",
        "What failed is tried again: in the running stage where that is still open, else in a new run that "
        "begins at the earliest stage that failed.",
        _each_site(interventions.retry),
        _before_site_retry,
        fits=lambda it: it.failed and not it.paused,
    ),
    Act(
        "unstick",
        "Unstick",
        "What the next reconcile would do is done now: lost jobs and coordinators are sent again, counts "
        "mended. It is remembered as unsticking by hand.",
        _unstick,
        fits=lambda it: it.site.is_stuck and not it.paused,
    ),
    Act(
        "confirm-end",
        "Confirm the end",
        "The failed run is the end of it: nothing is to be done, and the site counts as completed. What "
        "failed stays on record, and a later run begins as always.",
        _each_site(interventions.confirm_end),
        fits=lambda it: it.failed and not it.running and it.site.current_stage in WORK_STAGES,
    ),
    Act(
        "pause",
        "Pause",
        "Jobs in hand finish and count; no further one begins, and no run starts until it is resumed.",
        _each_site(interventions.pause),
        fits=lambda it: not it.paused,
    ),
    Act(
        "resume",
        "Resume",
        "It goes on: what was passed over is queued again.",
        _each_site(interventions.resume),
        fits=lambda it: it.paused and not it.retired,
    ),
    Act(
        "restart",
        "Restart",
        "The run it is in is given up, and another begins from fetch.",
        _each_site(interventions.restart),
        _before_restart,
        danger=True,
        fits=lambda it: it.running and not it.paused,
    ),
    Act(
        "cancel",
        "Cancel run",
        "The run ends where it is, and the site stands idle. A later run goes on from what is processed.",
        _each_site(interventions.cancel),
        _before_cancel,
        danger=True,
        fits=lambda it: it.running,
    ),
    Act(
        "restore",
        "Restore",
        "An archived site can run again. A removed one, too, and a run publishes anew what readers lost.",
        _each_site(retiring.restore),
        fits=lambda it: bool(it.retired),
    ),
    Act(
        "archive",
        "Archive",
        "No run begins any more, and nothing of it is lost. Restore takes it up again at any time.",
        _each_site(retiring.archive),
        _before_archive,
        fits=lambda it: not it.retired,
    ),
    Act(
        "remove",
        "Remove",
        "Readers lose the site now; after a while its files and rows are deleted, too.",
        _each_site(retiring.remove),
        _before_remove,
        needs_reason=True,
        danger=True,
        fits=lambda it: it.retired != "removed",
    ),
)

# Where one of these fits a site, it is what the operator came for.
FIRST_AID = ("retry", "unstick", "resume")


# ---- Documents and ledger rows ------------------------------------------------------------------------


def _retry_rows(rows: QuerySet[DocumentState], operator: Operator, seconds: float) -> ActOutcome:
    chosen = interventions.failed_rows(Status.FAILED).filter(pk__in=rows.order_by().values("pk"))
    sites = chosen.order_by("site_id").values_list("site_id", flat=True).distinct()
    return for_each(sites, lambda site_id: interventions.retry(site_id, operator, chosen), seconds)


def _before_rows(rows: QuerySet[DocumentState]) -> Iterable[str]:
    yield from _failures(interventions.failed_rows(Status.FAILED).filter(pk__in=rows.order_by().values("pk")))
    yield "Where a run has ended, the new one takes up all of the site that is not processed."


def _retry_documents(documents: QuerySet[Document], operator: Operator, seconds: float) -> ActOutcome:
    return _retry_rows(_rows_of(documents), operator, seconds)


def _rows_of(documents: QuerySet[Document]) -> QuerySet[DocumentState]:
    return DocumentState.objects.filter(document__in=documents.order_by().values("pk"))


def _skip_documents(documents: QuerySet[Document], operator: Operator, seconds: float) -> ActOutcome:
    keys = documents.order_by("pk").values_list("pk", flat=True)
    return for_each(keys, lambda pk: interventions.skip(pk, operator), seconds)


def _unskip_documents(documents: QuerySet[Document], operator: Operator, seconds: float) -> ActOutcome:
    keys = documents.order_by("pk").values_list("pk", flat=True)
    return for_each(keys, lambda pk: interventions.unskip(pk, operator), seconds)


def _skip_rows(rows: QuerySet[DocumentState], operator: Operator, seconds: float) -> ActOutcome:
    return _skip_documents(
        Document.objects.filter(pk__in=rows.order_by().values("document")), operator, seconds
    )


def _take_down_documents(documents: QuerySet[Document], operator: Operator, seconds: float) -> ActOutcome:
    keys = documents.order_by("pk").values_list("pk", flat=True)
    return for_each(keys, lambda pk: decisions.take_down(pk, operator), seconds)


def _lift_documents(documents: QuerySet[Document], operator: Operator, seconds: float) -> ActOutcome:
    keys = documents.order_by("pk").values_list("pk", flat=True)
    return for_each(keys, lambda pk: decisions.lift(pk, operator), seconds)


def _is_taken_down(document: Document) -> bool:
    return document.skip_reason.startswith(TAKEN_DOWN)


SKIPPING = "Left out on purpose, in this run and in later ones. It shows as skipped, with your reason."


def _may_retry(document: Document) -> bool:
    return not document.skip_reason and document.ledger.filter(status__in=Status.FAILED).exists()


def _may_skip(row: DocumentState) -> bool:
    return row.document is not None and not row.document.skip_reason and row.status != Status.PROCESSED


DOCUMENT_ACTS = (
    Act(
        "retry",
        "Retry",
        "What failed of it is tried again.",
        _retry_documents,
        lambda documents: _before_rows(_rows_of(documents)),
        fits=_may_retry,
    ),
    Act("skip", "Skip", SKIPPING, _skip_documents, needs_reason=True, fits=lambda it: not it.skip_reason),
    Act(
        "unskip",
        "Take up again",
        "The next run does what is missing of it.",
        _unskip_documents,
        fits=lambda it: bool(it.skip_reason) and not _is_taken_down(it),
    ),
    Act(
        "take-down",
        "Take down",
        "Readers lose it now: it is gone from search, pages, feeds, the API and the deployed databases, and "
        "no version of it is fetched again. It can be lifted.",
        _take_down_documents,
        needs_reason=True,
        danger=True,
        fits=lambda it: not _is_taken_down(it),
    ),
    Act(
        "lift",
        "Lift the takedown",
        "Readers have it again after the next run, which begins now where none is under way.",
        _lift_documents,
        fits=lambda it: _is_taken_down(it),
    ),
)
LEDGER_ACTS = (
    Act(
        "retry",
        "Retry",
        "What failed is tried again.",
        _retry_rows,
        _before_rows,
        fits=lambda it: it.status in Status.FAILED,
    ),
    Act("skip", "Skip the document", SKIPPING, _skip_rows, needs_reason=True, fits=_may_skip),
)
