"""The acts that the admin offers on sites, documents and ledger rows, and the promise each makes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.conf import settings
from django.db.models import Count, QuerySet

from pipeline.admin.confirm import Act
from pipeline.models import DocumentState, ErrorGroup, Publication, Run, Status
from pipeline.operations import interventions
from pipeline.operations.bulk import Target
from pipeline.reports.wording import plural
from pipeline.stages.decisions import TAKEN_DOWN
from sites.models import Document, Site
from sites.stages import WORK_STAGES


def _keys(chosen: QuerySet[Any]) -> Iterator[Target]:
    keys = chosen.order_by("pk").values_list("pk", flat=True)
    return (Target(str(key)) for key in keys.iterator(chunk_size=2000))


def _in_a_run(chosen: QuerySet[Site]) -> int:
    return Run.objects.running().filter(site__in=chosen.order_by().values("pk")).count()


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
        _keys,
        _before_start,
        fits=lambda it: not it.running and not it.paused,
    ),
    Act(
        "start-first",
        "Start, first in line",
        "As Start, and its jobs go before those of other sites.",
        _keys,
        _before_start,
        fits=lambda it: not it.running and not it.paused,
    ),
    Act(
        "retry",
        "Retry failed",
        "What failed is tried again: in the running stage where that is still open, else in a new run that "
        "begins at the earliest stage that failed.",
        _keys,
        _before_site_retry,
        fits=lambda it: it.failed and not it.paused,
    ),
    Act(
        "unstick",
        "Unstick",
        "What the next reconcile would do is done now: lost jobs and coordinators are sent again, counts "
        "corrected. It is recorded as unsticking by hand.",
        _keys,
        fits=lambda it: it.site.is_stuck and not it.paused,
    ),
    Act(
        "confirm-end",
        "Confirm the end",
        "The failed run is the end of it: nothing is to be done, and the site counts as completed. What "
        "failed stays on record, and a later run begins as always.",
        _keys,
        fits=lambda it: it.failed and not it.running and it.site.current_stage in WORK_STAGES,
    ),
    Act(
        "pause",
        "Pause",
        "Jobs in hand finish and count; no further one begins, and no run starts until it is resumed.",
        _keys,
        fits=lambda it: not it.paused,
    ),
    Act(
        "resume",
        "Resume",
        "It goes on: what was passed over is queued again.",
        _keys,
        fits=lambda it: it.paused and not it.retired,
    ),
    Act(
        "restart",
        "Restart",
        "The run it is in is given up, and another begins from fetch.",
        _keys,
        _before_restart,
        danger=True,
        fits=lambda it: it.running and not it.paused,
    ),
    Act(
        "cancel",
        "Cancel run",
        "The run ends where it is, and the site stands idle. A later run goes on from what is processed.",
        _keys,
        _before_cancel,
        danger=True,
        fits=lambda it: it.running,
    ),
    Act(
        "restore",
        "Restore",
        "An archived site can run again. A removed one, too, and a run publishes anew what readers lost.",
        _keys,
        fits=lambda it: bool(it.retired),
    ),
    Act(
        "archive",
        "Archive",
        "No run begins any more, and nothing of it is lost. Restore takes it up again at any time.",
        _keys,
        _before_archive,
        fits=lambda it: not it.retired,
    ),
    Act(
        "remove",
        "Remove",
        "Readers lose the site now; after a while its files and rows are deleted, too.",
        _keys,
        _before_remove,
        needs_reason=True,
        danger=True,
        fits=lambda it: it.retired != "removed",
    ),
)

# Where one of these fits a site, it is what the operator came for.
FIRST_AID = ("retry", "unstick", "resume")


# ---- Documents and ledger rows ------------------------------------------------------------------------


def _rows_by_site(rows: QuerySet[DocumentState]) -> Iterator[Target]:
    """Exactly these rows, whatever fails beside them until their turn comes."""
    chosen = interventions.failed_rows(Status.FAILED).filter(pk__in=rows.order_by().values("pk"))
    found = chosen.order_by("site_id", "pk").values_list("site_id", "pk").iterator(chunk_size=2000)
    for site_id, group in groupby(found, key=itemgetter(0)):
        yield Target(site_id, tuple(pk for _, pk in group))


def _before_rows(rows: QuerySet[DocumentState]) -> Iterable[str]:
    yield from _failures(interventions.failed_rows(Status.FAILED).filter(pk__in=rows.order_by().values("pk")))
    yield "Where a run has ended, the new one takes up all of the site that is not processed."


def _rows_of_documents(documents: QuerySet[Document]) -> Iterator[Target]:
    return _rows_by_site(_rows_of(documents))


def _rows_of(documents: QuerySet[Document]) -> QuerySet[DocumentState]:
    return DocumentState.objects.filter(document__in=documents.order_by().values("pk"))


def _documents_of(rows: QuerySet[DocumentState]) -> Iterator[Target]:
    return _keys(Document.objects.filter(pk__in=rows.order_by().values("document")))


def _rows_of_groups(groups: QuerySet[ErrorGroup]) -> QuerySet[DocumentState]:
    return DocumentState.objects.filter(error_group__in=groups.order_by().values("pk"))


def _is_taken_down(document: Document) -> bool:
    return document.skip_reason.startswith(TAKEN_DOWN)


SKIPPING = "Left out on purpose, in this run and in later ones. It shows as skipped, with your reason."


def _may_retry(document: Document) -> bool:
    return not document.skip_reason and DocumentState.objects.failed().filter(document=document).exists()


def _may_skip(row: DocumentState) -> bool:
    return row.document is not None and not row.document.skip_reason and row.status != Status.PROCESSED


DOCUMENT_ACTS = (
    Act(
        "retry",
        "Retry",
        "What failed of it is tried again.",
        _rows_of_documents,
        lambda documents: _before_rows(_rows_of(documents)),
        fits=_may_retry,
    ),
    Act("skip", "Skip", SKIPPING, _keys, needs_reason=True, fits=lambda it: not it.skip_reason),
    Act(
        "unskip",
        "Take up again",
        "The next run does what is missing of it.",
        _keys,
        fits=lambda it: bool(it.skip_reason) and not _is_taken_down(it),
    ),
    Act(
        "take-down",
        "Take down",
        "Readers lose it now: it is gone from search, pages, feeds, the API and the deployed databases, and "
        "no version of it is fetched again. It can be lifted.",
        _keys,
        needs_reason=True,
        danger=True,
        fits=lambda it: not _is_taken_down(it),
    ),
    Act(
        "lift",
        "Lift the takedown",
        "Readers have it again after the next run, which begins now where none is under way.",
        _keys,
        fits=lambda it: _is_taken_down(it),
    ),
)
LEDGER_ACTS = (
    Act(
        "retry",
        "Retry",
        "What failed is tried again.",
        _rows_by_site,
        _before_rows,
        fits=lambda it: it.status in Status.FAILED,
    ),
    Act("skip", "Skip the document", SKIPPING, _documents_of, needs_reason=True, fits=_may_skip),
)
GROUP_ACTS = (
    Act(
        "retry",
        "Retry all of these",
        "Every failure of this kind is tried again, in the background.",
        lambda groups: _rows_by_site(_rows_of_groups(groups)),
        lambda groups: _before_rows(_rows_of_groups(groups)),
        fits=lambda group: bool(group.failed_now),
    ),
)
