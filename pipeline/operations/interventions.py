"""What people do by hand. Every act is recorded, with who and why, in the transaction that does it."""

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from pipeline import dispatch, flow
from pipeline.errors import Fenced
from pipeline.flow import Refused
from pipeline.models import LEFT_OUT, DocumentState, Intervention, Retirement, Run, Status
from pipeline.queue import inspection, sending
from pipeline.reconcile import find, lock
from pipeline.reconcile.find import Suspect
from pipeline.reconcile.repair import Repair, repair_by_hand
from pipeline.reports.standstill import explain
from pipeline.stages.decisions import TAKEN_DOWN
from pipeline.stages.publications import FORCE
from pipeline.state import UnknownSite, resets, runs
from sites.models import STUCK_AFTER, Document, Site
from sites.stages import WORK_STAGES, Stage, wave_of


@dataclass(frozen=True)
class Operator:
    """Who acts, and why."""

    by: str
    reason: str = ""


@dataclass(frozen=True)
class Retried:
    site_id: str
    run_id: int
    rows: int
    stage: str
    new_run: bool


@dataclass(frozen=True)
class ActOutcome:
    """Of one act on many: what was done, what was refused and why, how many are left and what stopped it."""

    done: tuple[Any, ...]
    refused: tuple[tuple[str, str], ...]
    left: int = 0
    error: str = ""


def for_each(keys: Iterable[Any], act: Callable[[Any], Any], seconds: float | None = None) -> ActOutcome:
    """Act on each in its own transaction: one refusal stops no other, a lost queue all that are left.

    `seconds` bounds the whole.
    """
    done: list[Any] = []
    refused: list[tuple[str, str]] = []
    waiting = list(keys)
    end = time.monotonic() + seconds if seconds is not None else None
    for number, key in enumerate(waiting):
        if end is not None and time.monotonic() > end:
            return ActOutcome(tuple(done), tuple(refused), len(waiting) - number)
        try:
            done.append(act(key))
        except (Refused, UnknownSite, Fenced) as error:
            refused.append((str(key), str(error)))
        except sending.QueueUnavailable as error:
            return ActOutcome(tuple(done), tuple(refused), len(waiting) - number, str(error))
    return ActOutcome(tuple(done), tuple(refused))


# ---- A site's run -------------------------------------------------------------------------------------


def start(
    site_id: str, operator: Operator, *, first: Stage = Stage.FETCH, priority: int = Run.Priority.NORMAL
) -> Run:
    return _begin(flow.start, "start", site_id, operator, first, priority)


def restart(
    site_id: str, operator: Operator, *, first: Stage = Stage.FETCH, priority: int = Run.Priority.NORMAL
) -> Run:
    return _begin(flow.restart, "restart", site_id, operator, first, priority)


def publish_less(site_id: str, operator: Operator, *, priority: int = Run.Priority.NORMAL) -> Run:
    """Deploy what is compiled, though it is much less than is published now. This run may, and no other."""
    return _begin(flow.start, FORCE, site_id, operator, Stage.DEPLOY, priority)


def _begin(
    begin: Callable[..., Run], action: str, site_id: str, operator: Operator, first: Stage, priority: int
) -> Run:
    with transaction.atomic():
        note = record(flow.find_site(site_id), action, operator, first=first)
        return _noted(note, begin(site_id, first=first, priority=priority, by=operator.by))


def cancel(site_id: str, operator: Operator) -> Run:
    with transaction.atomic():
        note = record(flow.find_site(site_id), "cancel", operator)
        return _noted(note, flow.cancel(site_id, by=operator.by, reason=operator.reason))


def confirm_end(site_id: str, operator: Operator) -> None:
    """A run failed and nothing is to be done about it: the site has ended. A later run may begin anew."""
    if not operator.reason.strip():
        raise Refused(f"{site_id}: an end is confirmed for a reason; give one")
    with transaction.atomic():
        site = flow.find_site(site_id)
        run = Run.objects.filter(pk=site.run_id or 0).first()
        if run is None or run.status != Run.Status.FAILED or site.current_stage == Stage.COMPLETED:
            raise Refused(f"{site_id}: its last run did not fail, so there is no end to confirm")
        record(site, "confirm end", operator, run=run.pk, failed=run.message)
        runs.end_for_good(site, f"Ended, nothing to be done ({operator.reason}): {run.message}")


def pause(site_id: str, operator: Operator) -> None:
    with transaction.atomic():
        record(flow.find_site(site_id), "pause", operator)
        flow.pause(site_id, reason=operator.reason)


def resume(site_id: str, operator: Operator) -> None:
    active = Retirement.objects.active().filter(subdomain=site_id).first()
    if active is not None:
        raise Refused(f"{site_id} is {active.what}; `manage.py restore_site {site_id}` takes it up again")
    with transaction.atomic():
        record(flow.find_site(site_id), "resume", operator)
        flow.resume(site_id)


def record(
    site: Site, action: str, operator: Operator, document: Document | None = None, **details: Any
) -> Intervention:
    # A paused site stands still on purpose; pausing moves nothing; a start is what the next run is anyway;
    # and what has ended for good was not stuck.
    unstuck = site.is_stuck and site.paused_at is None and action not in ("pause", "start", "confirm end")
    return Intervention.objects.create(
        site=site,
        document=document,
        action=action,
        reason=operator.reason,
        by=operator.by[:150],
        unstuck=unstuck,
        details={"stage": site.current_stage, **details},
    )


def _noted(note: Intervention, run: Run) -> Run:
    note.details["run"] = run.pk
    note.save(update_fields=["details"])
    return run


# ---- A site that stands still -------------------------------------------------------------------------


def unstick(site_ids: Collection[str], operator: Operator) -> ActOutcome:
    """What reconcile would do to these sites, now, because a person asked."""
    with lock.only_one() as alone:
        if not alone:
            raise Refused("a reconcile is running at this moment; look again when it is done")
        now = timezone.now()
        found = {suspect.site.pk: suspect for suspect in find.suspects(now, STUCK_AFTER)}
        return for_each(site_ids, lambda site_id: _unstick(site_id, found.get(site_id), now, operator))


def _unstick(site_id: str, suspect: Suspect | None, now: datetime, operator: Operator) -> Repair:
    site = flow.find_site(site_id)
    if suspect is None:
        reason = explain([site], inspection.read_workforce())[0].reason
        raise Refused(f"{site_id}: reconcile finds nothing to repair ({reason})")
    with transaction.atomic():
        repair = repair_by_hand(suspect, now)
        if repair is None:
            raise Refused(f"{site_id} has moved by itself meanwhile")
        record(site, "unstick", operator, outcome=repair.outcome, did=repair.action)
    return repair


# ---- Trying again what failed -------------------------------------------------------------------------


def failed_rows(statuses: Collection[str] = (Status.FAILED_TERMINAL,)) -> QuerySet[DocumentState]:
    """What a retry can take up: failures of documents that are still wanted, and of units of a site."""
    return DocumentState.objects.filter(status__in=statuses).exclude(LEFT_OUT)


def retry(site_id: str, operator: Operator, rows: QuerySet[DocumentState] | None = None) -> Retried:
    """Try the failures of a site again: inside its run while their stage is open, else in a new run.

    A new run begins at the earliest stage that failed and takes up all that is not processed from there on.
    """
    sending.check()
    rows = (failed_rows() if rows is None else rows).filter(site_id=site_id, status__in=Status.FAILED)
    with transaction.atomic():
        site = flow.find_site(site_id)
        if site.paused_at:
            raise Refused(f"{site_id} is paused ({site.pause_reason or 'no reason given'}); resume it first")
        running = Run.objects.running().filter(site=site).first()
        return _retry_within(site, running, rows, operator) if running else _retry_anew(site, rows, operator)


def _retry_anew(site: Site, rows: QuerySet[DocumentState], operator: Operator) -> Retried:
    failed = dict(rows.filter(status=Status.FAILED_TERMINAL).values_list("pk", "pipeline"))
    if not failed:
        raise Refused(f"{site.pk}: nothing to try again")
    first = next(stage for stage in WORK_STAGES if stage in failed.values())
    note = record(site, "retry", operator, first=first, rows=len(failed))
    resets.count_retries(list(failed))
    last = Run.objects.filter(site=site).order_by("pk").last()
    priority = last.priority if last else Run.Priority.NORMAL
    run = _noted(note, flow.start(site.pk, first=first, priority=priority, by=operator.by))
    return Retried(site.pk, run.pk, len(failed), first, new_run=True)


def _retry_within(site: Site, run: Run, rows: QuerySet[DocumentState], operator: Operator) -> Retried:
    if site.current_stage is None or site.coordinator_enqueued:
        raise Refused(f"{site.pk} is leaving {site.current_stage} at this moment; try again in a minute")
    open_now = rows.filter(run=run, pipeline__in=wave_of(site.current_stage))
    found = list(open_now.order_by("pk").values_list("pk", "pipeline", "status"))
    if not found:
        raise Refused(_why_not_now(site, run, rows))
    note = record(site, "retry", operator, rows=len(found), run=run.pk)
    try:
        # Ledger rows first, all of them, then the site: the order in which every job locks.
        resets.hasten(
            site.pk, run.pk, [pk for pk, _, status in found if status == Status.FAILED_RETRYABLE], note.pk
        )
        resets.reset_failed(
            site, run.pk, [pk for pk, _, status in found if status == Status.FAILED_TERMINAL], note.pk
        )
    except Fenced as error:
        raise Refused(str(error)) from error
    ids = [pk for pk, _, _ in found]
    transaction.on_commit(lambda: dispatch.deliver_ids(ids))
    return Retried(site.pk, run.pk, len(ids), found[0][1], new_run=False)


def _why_not_now(site: Site, run: Run, rows: QuerySet[DocumentState]) -> str:
    stages = sorted(set(rows.values_list("pipeline", flat=True)), key=WORK_STAGES.index)
    if not stages:
        return f"{site.pk}: nothing to try again"
    return (
        f"{site.pk}: run {run.pk} is in {site.current_stage} and the failures are in {', '.join(stages)}; "
        "try them again when it has ended, or restart it"
    )


# ---- Leaving a document out ---------------------------------------------------------------------------


def skip(document_id: int, operator: Operator) -> Document:
    """Leave a document out on purpose, now and in later runs."""
    if not operator.reason.strip():
        raise Refused("a document is skipped for a reason; give one")
    with transaction.atomic():
        document = Document.objects.select_related("site").get(pk=document_id)
        if document.skip_reason:
            raise Refused(f"{document} is skipped already ({document.skip_reason})")
        record(document.site, "skip", operator, document)
        leave_out(document, operator, operator.reason)
    return document


def leave_out(document: Document, operator: Operator, reason: str) -> None:
    """End what a run still has to do of the document, and let no later run begin it."""
    row = DocumentState.objects.filter(
        document=document,
        run=document.site.run_id or 0,
        run__status=Run.Status.RUNNING,
        status__in=Status.OPEN,
    ).first()
    message = f"skipped by {operator.by or 'an operator'}: {operator.reason}"
    try:
        seq = resets.skip_document(document, row, reason, message)
    except Fenced as error:
        raise Refused(f"{document}: {error}; try again") from error
    if row is not None and row.run_id is not None and seq is not None:
        send_coordinator = partial(sending.send_coordinator, document.site_id, row.run_id, seq)
        transaction.on_commit(send_coordinator)


def unskip(document_id: int, operator: Operator) -> Document:
    """Take the document up again: the next run does what is missing."""
    with transaction.atomic():
        document = Document.objects.select_related("site").get(pk=document_id)
        if not document.skip_reason:
            raise Refused(f"{document} is not skipped")
        if document.skip_reason.startswith(TAKEN_DOWN):
            raise Refused(f"{document} is taken down; lift that instead")
        if document.sha256 and not document.path:
            raise Refused(f"{document} is {document.skip_reason}, and has none of its own")
        record(document.site, "unskip", operator, document, was=document.skip_reason)
        Document.objects.filter(pk=document.pk).update(skip_reason="")
    return document
