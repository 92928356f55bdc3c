"""The data: every ledger row is a legal one, every counter is its ledger's, every site is where it can be."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Exists, F, OuterRef, Q

from pipeline.models import DocumentState, Run, Status
from pipeline.state import counters
from pipeline.verify.problem import Problem, among, rows
from sites.models import Document, Site
from sites.stages import WAVES, WORK_STAGES, Stage, current_stage_of

RECONCILE = "manage.py reconcile"
RESTART = "begin a new run of the site (manage.py run_pipeline --restart, or the admin's action)"
BY_HAND = "the rows must be looked at by hand: nothing in Clerk writes such a thing"


@contextmanager
def one_moment() -> Iterator[None]:
    """Counters and ledger as of the same moment, though jobs finish meanwhile; nobody waits for us."""
    fresh = not connection.in_atomic_block
    with _reading_only(), transaction.atomic():
        if fresh and connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


@contextmanager
def _reading_only() -> Iterator[None]:
    """Every transaction on SQLite begins as a writer's, and would shut the jobs out; not this one."""
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()
    sqlite: Any = connection
    usual, sqlite.transaction_mode = sqlite.transaction_mode, "DEFERRED"
    try:
        yield
    finally:
        sqlite.transaction_mode = usual


def problems() -> Iterator[Problem]:
    with one_moment():
        yield from _rows()
        yield from _attempts()
        yield from _counters()
        yield from _sites()
        yield from _runs()


# ---- Rows ---------------------------------------------------------------------------------------------


def _rows() -> Iterator[Problem]:
    ledger = DocumentState.objects.order_by("pk")
    yield from among(
        "documents with more than one row in a stage",
        _more_than_one(ledger.filter(document__isnull=False), "document_id", "pipeline"),
        "delete all but the newest of each",
    )
    yield from among(
        "units with more than one row in a stage",
        _more_than_one(ledger.filter(document=None), "site_id", "pipeline", "unit"),
        "delete all but the newest of each",
    )
    yield from rows("rows with an invalid status", ledger.exclude(status__in=Status.values), BY_HAND)
    yield from rows("rows of an unknown stage", ledger.exclude(pipeline__in=WORK_STAGES), BY_HAND)
    neither = Q(document=None, unit="") | (Q(document__isnull=False) & ~Q(unit=""))
    yield from rows("rows of neither a document nor a unit, or of both", ledger.filter(neither), BY_HAND)
    site_is_there = Site.objects.filter(pk=OuterRef("site_id"))
    yield from among("rows whose site does not exist", _ids(ledger.exclude(Exists(site_is_there))), BY_HAND)
    document_is_there = Document.objects.filter(pk=OuterRef("document_id"))
    lost = ledger.filter(document_id__isnull=False).exclude(Exists(document_is_there))
    yield from among("rows whose document does not exist", _ids(lost), "delete them")
    of_another = ledger.filter(document__isnull=False).exclude(document__site_id=F("site_id"))
    yield from rows("rows whose document is another site's", of_another, BY_HAND)


def _ids(found: Any) -> list[str]:
    return [f"row {pk}" for pk in found.values_list("pk", flat=True)]


def _more_than_one(found: Any, *columns: str) -> list[str]:
    groups = found.order_by().values_list(*columns).annotate(n=Count("pk")).filter(n__gt=1)
    return [" ".join(map(str, group)) for group in groups]


def _attempts() -> Iterator[Problem]:
    ledger = DocumentState.objects.order_by("pk")
    working = ledger.filter(status=Status.IN_PROGRESS)
    orphaned = working.exclude(site__run_id=F("run_id")) | working.filter(site__run_id=None)
    yield from rows("rows in progress in a run that is over", orphaned, RECONCILE)
    yield from rows("rows in progress that nobody holds", working.filter(attempt_token=None), RECONCILE)
    held = ledger.exclude(status=Status.IN_PROGRESS).filter(attempt_token__isnull=False)
    yield from rows("rows that are held and not in progress", held, BY_HAND)
    processed = ledger.filter(status=Status.PROCESSED)
    yield from rows("processed rows without a time", processed.filter(processed_at=None), BY_HAND)
    yield from rows("processed rows that were never tried", processed.filter(attempt_count=0), BY_HAND)
    failed = ledger.failed()
    unnamed = failed.filter(Q(error_code=None) | Q(error_code=""))
    yield from rows("failed rows without an error code", unnamed, BY_HAND)


# ---- Sites --------------------------------------------------------------------------------------------


def _counters() -> Iterator[Problem]:
    yield from among(
        "counters unequal to the ledger", counters.differences(Site.objects.order_by("pk")), RECONCILE
    )
    wrong = Q()
    for stage in WORK_STAGES:
        wrong |= Q(**{f"{stage}_completed__lt": 0}) | Q(**{f"{stage}_failed__lt": 0}) | _more_than_all(stage)
    yield from rows("sites with impossible counters", Site.objects.filter(wrong), RECONCILE)


def _more_than_all(stage: str) -> Q:
    return Q(**{f"{stage}_total__lt": F(f"{stage}_completed") + F(f"{stage}_failed")})


def _unfinished(stage: str) -> Q:
    return Q(**{f"{stage}_total__gt": F(f"{stage}_completed") + F(f"{stage}_failed")})


def _sites() -> Iterator[Problem]:
    past, claimed_early = Q(), Q()
    for place, wave in enumerate(WAVES):
        later = [current_stage_of(after) for after in WAVES[place + 1 :]] + [Stage.COMPLETED]
        for stage in wave:
            past |= Q(current_stage__in=later) & _unfinished(stage)
            claimed_early |= Q(current_stage=current_stage_of(wave), coordinator_enqueued=True) & _unfinished(
                stage
            )
    yield from rows("sites past a stage with unfinished counters", Site.objects.filter(past), RESTART)
    yield from rows(
        "sites claimed before their stage was done", Site.objects.filter(claimed_early), RECONCILE
    )
    unknown = Site.objects.filter(current_stage__isnull=False).exclude(current_stage__in=Stage.values)
    yield from rows("sites in an unknown stage", unknown, RECONCILE)
    nowhere = Site.objects.filter(current_stage=None, run_id__isnull=False)
    yield from rows("sites with a run and in no stage", nowhere, RESTART)


def _runs() -> Iterator[Problem]:
    of_site = Run.objects.filter(pk=OuterRef("run_id"), site_id=OuterRef("pk"))
    missing = Site.objects.filter(run_id__isnull=False).exclude(Exists(of_site))
    yield from rows("sites whose run does not exist", missing, RESTART)
    over = of_site.exclude(status__in=[Run.Status.RUNNING, Run.Status.FAILED])
    yield from rows(
        "sites that stand in a stage while their run is over",
        Site.objects.unfinished().filter(Exists(over)),
        RECONCILE,
    )
    ended = of_site.exclude(status=Run.Status.COMPLETED)
    completed = Site.objects.filter(Exists(ended), current_stage=Stage.COMPLETED)
    yield from rows("completed sites whose run is not completed", completed, RESTART)
    running = Run.objects.running()
    yield from rows("running runs that are not their site's", running.exclude(site__run_id=F("pk")), RESTART)
    yield from among("sites with more than one running run", _more_than_one(running, "site_id"), RESTART)
    half = running.filter(finished_at__isnull=False) | Run.objects.filter(finished_at=None).exclude(
        status=Run.Status.RUNNING
    )
    yield from rows("runs whose end and status disagree", half, BY_HAND)
