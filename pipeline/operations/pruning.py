"""What is old enough goes, a little at a time, each part by a rule of its own; what is in use never does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.apps import apps
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from pipeline.models import (
    Adoption,
    Alarm,
    BulkAct,
    ErrorDay,
    Look,
    Notification,
    ReconcileRun,
    Run,
    WebhookDelivery,
)
from pipeline.operations import purging, tidying
from pipeline.state.pruning import forget_runs
from sites.models import Site

BATCH = 1000
# Passes of reconcile that stay however old: the pre-flight asks about the last ten.
LAST_PASSES = 100
# The audit of who edited what by hand.
KEEP_AUDIT_DAYS = 730


@dataclass(frozen=True)
class Pruned:
    what: str
    count: int
    freed: int = 0
    error: str = ""


@dataclass(frozen=True)
class Part:
    """`prune(now, dry)` counts what goes, and lets it go unless `dry`."""

    name: str
    what: str
    prune: Callable[[datetime, bool], tuple[int, int]]


def parts() -> list[Part]:
    rows = [Part(name, what, partial(_rows, old)) for name, what, old in _tables()]
    return [
        Part("sites", "removed sites deleted for good", purging.sites),
        Part("takedowns", "documents that were taken down deleted for good", purging.takedowns),
        Part("runs", "runs", _runs),
        *rows,
        Part("superseded", "files of superseded versions", tidying.superseded),
        Part("leftovers", "files that killed processes left", tidying.leftovers),
        Part("cache", "local copies of shared files", tidying.cache),
    ]


def prune(names: list[str], *, dry_run: bool, now: datetime | None = None) -> Iterator[Pruned]:
    """One part's trouble stops no other."""
    now = now or timezone.now()
    for part in parts():
        if names and part.name not in names:
            continue
        try:
            count, freed = part.prune(now, dry_run)
            yield Pruned(part.what, count, freed)
        except OSError as error:
            yield Pruned(part.what, 0, error=str(error))


# ---- Rows ---------------------------------------------------------------------------------------------

Old = Callable[[datetime], QuerySet[Any]]


def _tables() -> Iterator[tuple[str, str, Old]]:
    yield "reconcile", "passes of reconcile", _passes
    yield "deliveries", "webhook deliveries", _deliveries
    yield "alarms", "alarms that are over", partial(_before, Alarm, "resolved_at")
    yield "deliveries", "messages about alarms", _notifications
    yield "acts", "acts on many that are over", partial(_before, BulkAct, "finished_at")
    yield "looks", "looks at addresses", partial(_before, Look, "began_at")
    yield "errors", "days of error groups", partial(_before, ErrorDay, "day")
    yield "sessions", "sessions that are over", lambda now: Session.objects.filter(expire_date__lt=now)
    for model in (AccessAttempt, AccessFailureLog, AccessLog):
        yield "logins", f"{model._meta.verbose_name_plural}", partial(_before, model, "attempt_time")
    yield "audit", "edits in the admin", partial(_before, LogEntry, "action_time", days=KEEP_AUDIT_DAYS)
    # The room above: what readers left is asked for by name.
    yield "mails", "mails to readers", _alerts
    yield "searches", "saved searches that ended or were never confirmed", _searches


def _before(model: Any, moment: str, now: datetime, days: int = 0) -> QuerySet[Any]:
    since = now - timedelta(days=days or settings.KEEP_HISTORY_DAYS)
    return model._default_manager.filter(**{f"{moment}__lt": since})


def _passes(now: datetime) -> QuerySet[Any]:
    last = ReconcileRun.objects.order_by("-pk").values_list("pk", flat=True)[:LAST_PASSES]
    oldest = min(last, default=0)
    return _before(ReconcileRun, "started_at", now).filter(pk__lt=oldest)


def _deliveries(now: datetime) -> QuerySet[Any]:
    return _before(WebhookDelivery, "created_at", now).exclude(status=WebhookDelivery.Status.PENDING)


def _notifications(now: datetime) -> QuerySet[Any]:
    return _before(Notification, "created_at", now).exclude(status=Notification.Status.PENDING)


def _alerts(now: datetime) -> QuerySet[Any]:
    return _before(apps.get_model("records", "Alert"), "created_at", now).exclude(status="pending")


def _searches(now: datetime) -> QuerySet[Any]:
    searches = apps.get_model("records", "SavedSearch")
    ended = _before(searches, "ended_at", now)
    return ended | _before(searches, "created_at", now).filter(confirmed_at=None)


def _rows(old: Old, now: datetime, dry_run: bool) -> tuple[int, int]:
    if dry_run:
        return old(now).count(), 0
    gone = 0
    while some := list(old(now).order_by("pk").values_list("pk", flat=True)[:BATCH]):
        old(now).model._default_manager.filter(pk__in=some).delete()
        gone += len(some)
    return gone, 0


# ---- Runs ---------------------------------------------------------------------------------------------


def _runs(now: datetime, dry_run: bool) -> tuple[int, int]:
    """Site by site: all but the newest, the young, the one it stands in, and that of its adoption."""
    count = 0
    adoptions = set(Adoption.objects.exclude(run_id=None).values_list("run_id", flat=True))
    for site_id in (
        Site.objects.filter(runs__started_at__lt=_runs_before(now)).distinct().values_list("pk", flat=True)
    ):
        old = [run for run in _old_runs(site_id, now) if run not in adoptions]
        count += len(old)
        for start in range(0, 0 if dry_run else len(old), BATCH):
            some = old[start : start + BATCH]
            WebhookDelivery.objects.filter(run_id__in=some).delete()
            forget_runs(site_id, some)
    return count, 0


def _runs_before(now: datetime) -> datetime:
    return now - timedelta(days=settings.KEEP_RUN_DAYS)


def _old_runs(site_id: str, now: datetime) -> list[int]:
    ranked = Run.objects.filter(site_id=site_id).annotate(
        place=Window(RowNumber(), order_by=F("pk").desc()), stands=F("site__run_id")
    )
    rows = ranked.values_list("pk", "place", "status", "started_at", "stands")
    return [
        pk
        for pk, place, status, started_at, stands in rows
        if place > settings.KEEP_RUNS
        and status != Run.Status.RUNNING
        and started_at < _runs_before(now)
        and pk != stands
    ]
