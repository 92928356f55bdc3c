"""One act on many: recorded with what it is on, worked off by a job in slices, so that no page waits for it.

A slice that is lost is sent again by reconcile; what was done is not done twice.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from pipeline.errors import Fenced
from pipeline.flow import Refused
from pipeline.models import BulkAct, BulkItem, DocumentState, Rhythm, Run
from pipeline.operations import decisions, interventions, retiring, scheduling
from pipeline.operations.interventions import ActOutcome, Operator, for_each
from pipeline.queue import sending
from pipeline.reconcile import reconcile
from pipeline.state import UnknownSite

# As many as a page can wait for; more go to the background.
AT_ONCE = 25
# A slice leaves its worker to the coordinators of other sites after this long.
SLICE_SECONDS = 15
READ = 50
# A bulk act that has not moved for this long has lost its job.
LOST_AFTER = timedelta(minutes=5)
EVERYTHING = "everything"


@dataclass(frozen=True)
class Target:
    """One thing that an act is on: a site or a document, and the ledger rows where these are meant."""

    key: str
    rows: tuple[int, ...] = ()


Act = Callable[[Target, Operator], Any]


def _of_site(act: Callable[..., Any], **more: Any) -> Act:
    return lambda target, operator: act(target.key, operator, **more)


def _of_document(act: Callable[..., Any]) -> Act:
    return lambda target, operator: act(int(target.key), operator)


def _retry(target: Target, operator: Operator) -> Any:
    rows = DocumentState.objects.filter(pk__in=target.rows) if target.rows else None
    return interventions.retry(target.key, operator, rows)


# Each in one transaction with the note that it is done.
ACTS: dict[str, Act] = {
    "start": _of_site(interventions.start),
    "start-first": _of_site(interventions.start, priority=Run.Priority.HIGH),
    "restart": _of_site(interventions.restart),
    "retry": _retry,
    "pause": _of_site(interventions.pause),
    "resume": _of_site(interventions.resume),
    "cancel": _of_site(interventions.cancel),
    "confirm-end": _of_site(interventions.confirm_end),
    "archive": _of_site(retiring.archive),
    "restore": _of_site(retiring.restore),
    "skip": _of_document(interventions.skip),
    "unskip": _of_document(interventions.unskip),
}


def _giving(rhythm: str) -> Act:
    return lambda target, operator: scheduling.set_rhythm(target.key, rhythm, operator)


ACTS |= {f"rhythm-{rhythm.value or 'default'}": _giving(rhythm.value) for rhythm in Rhythm}


def _repair(targets: Sequence[Target], operator: Operator) -> ActOutcome:
    result = reconcile()
    if result.skipped:
        return ActOutcome((), ((EVERYTHING, result.skipped),))
    return ActOutcome((EVERYTHING,), ())


def _take_down(targets: Sequence[Target], operator: Operator) -> ActOutcome:
    return for_each([int(target.key) for target in targets], lambda pk: decisions.take_down(pk, operator))


def _remove(targets: Sequence[Target], operator: Operator) -> ActOutcome:
    return for_each([target.key for target in targets], lambda key: retiring.remove(key, operator))


def _lift(targets: Sequence[Target], operator: Operator) -> ActOutcome:
    return for_each([int(target.key) for target in targets], lambda pk: decisions.lift(pk, operator))


def _unstick(targets: Sequence[Target], operator: Operator) -> ActOutcome:
    return interventions.unstick([target.key for target in targets], operator)


# Together, because they share one look or touch files; each refuses what is done already.
TOGETHER: dict[str, Callable[[Sequence[Target], Operator], ActOutcome]] = {
    "unstick": _unstick,
    "repair": _repair,
    "take-down": _take_down,
    "lift": _lift,
    "remove": _remove,
}


def at_once(name: str, targets: Sequence[Target], operator: Operator) -> ActOutcome:
    """For a few: the answer is the outcome."""
    if name in TOGETHER:
        return TOGETHER[name](targets, operator)
    by_key = {target.key: target for target in targets}
    return for_each(by_key, lambda key: ACTS[name](by_key[key], operator))


def begin(name: str, label: str, targets: Iterable[Target], operator: Operator) -> BulkAct:
    """For many: recorded as they are now, and left to a job."""
    if name not in ACTS and name not in TOGETHER:
        raise Refused(f"there is no act {name!r}")
    sending.check()
    now = timezone.now()
    with transaction.atomic():
        bulk = BulkAct.objects.create(
            act=name,
            label=label,
            by=operator.by[:150],
            reason=operator.reason,
            began_at=now,
            updated_at=now,
        )
        items = [BulkItem(bulk=bulk, key=target.key, rows=list(target.rows)) for target in targets]
        BulkItem.objects.bulk_create(items, batch_size=500)
        BulkAct.objects.filter(pk=bulk.pk).update(total=len(items))
        bulk.total = len(items)
        transaction.on_commit(partial(sending.send_bulk, bulk.pk, 0))
    return bulk


def stop(bulk_id: int) -> bool:
    """What waits is left alone; what is done stays done."""
    ended = {"status": BulkAct.Status.STOPPED, "finished_at": timezone.now(), "updated_at": timezone.now()}
    return bool(_running(bulk_id).update(**ended))


def go_on(bulk_id: int) -> bool:
    """Work off what waits of one that was stopped."""
    sending.check()
    with transaction.atomic():
        bulk = BulkAct.objects.select_for_update().get(pk=bulk_id)
        if bulk.status != BulkAct.Status.STOPPED or not _waiting(bulk).exists():
            return False
        bulk.status, bulk.finished_at, bulk.updated_at = BulkAct.Status.RUNNING, None, timezone.now()
        bulk.seq += 1
        bulk.save()
        transaction.on_commit(partial(sending.send_bulk, bulk.pk, bulk.seq))
    return True


def counts(bulk: BulkAct) -> dict[str, int]:
    found = dict(bulk.items.order_by().values_list("status").annotate(count=Count("*")))
    return {status.value: found.get(status.value, 0) for status in BulkItem.Status}


# ---- The job ------------------------------------------------------------------------------------------


def work_off(bulk_id: int, seq: int) -> None:
    """One slice; the next is sent when its time is over. Two at once share the work and double none."""
    bulk = _running(bulk_id).first()
    if bulk is None or bulk.seq != seq:
        return
    operator, end = Operator(bulk.by, bulk.reason), time.monotonic() + SLICE_SECONDS
    while time.monotonic() < end:
        items = list(_waiting(bulk).order_by("pk")[:READ])
        if not items:
            return _finish(bulk)
        _work(bulk, items, operator, end)
        if not _running(bulk_id).update(updated_at=timezone.now()):
            return
    _send_next(bulk_id, seq)


def _work(bulk: BulkAct, items: Sequence[BulkItem], operator: Operator, end: float) -> None:
    if bulk.act in TOGETHER:
        return _together(bulk, items, operator)
    for item in items:
        if time.monotonic() > end:
            return
        _one(ACTS[bulk.act], item, operator)


def _one(act: Act, item: BulkItem, operator: Operator) -> None:
    try:
        with transaction.atomic():
            if _of(item).update(status=BulkItem.Status.DONE):
                act(Target(item.key, tuple(item.rows)), operator)
    except (Refused, UnknownSite, Fenced, ObjectDoesNotExist) as error:
        _of(item).update(status=BulkItem.Status.REFUSED, why=str(error)[:500])


def _together(bulk: BulkAct, items: Sequence[BulkItem], operator: Operator) -> None:
    by_key = {item.key: item for item in items}
    try:
        outcome = TOGETHER[bulk.act]([Target(item.key) for item in items], operator)
    except Refused as error:
        outcome = ActOutcome((), tuple((key, str(error)) for key in by_key))
    why = dict(outcome.refused)
    for key, item in by_key.items():
        status = BulkItem.Status.REFUSED if key in why else BulkItem.Status.DONE
        _of(item).update(status=status, why=why.get(key, "")[:500])


def _of(item: BulkItem) -> QuerySet[BulkItem]:
    return BulkItem.objects.filter(pk=item.pk, status=BulkItem.Status.WAITING)


def _running(bulk_id: int) -> QuerySet[BulkAct]:
    return BulkAct.objects.filter(pk=bulk_id, status=BulkAct.Status.RUNNING)


def _waiting(bulk: BulkAct) -> QuerySet[BulkItem]:
    return bulk.items.filter(status=BulkItem.Status.WAITING)


def _finish(bulk: BulkAct) -> None:
    now = timezone.now()
    _running(bulk.pk).update(status=BulkAct.Status.FINISHED, finished_at=now, updated_at=now)


def _send_next(bulk_id: int, seq: int) -> None:
    if _running(bulk_id).filter(seq=seq).update(seq=seq + 1, updated_at=timezone.now()):
        sending.send_bulk(bulk_id, seq + 1)


def send_lost() -> int:
    """Bulk acts whose job was lost are sent again; how many."""
    quiet = BulkAct.objects.filter(
        status=BulkAct.Status.RUNNING, updated_at__lt=timezone.now() - LOST_AFTER
    ).values_list("pk", "seq")
    for bulk_id, seq in list(quiet):
        _send_next(bulk_id, seq)
    return len(quiet)
