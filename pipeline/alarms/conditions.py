"""What is wrong at this moment, each thing under a key that stays the same while it lasts."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from pipeline.models import AlarmKind, Channel, DocumentState, ReconcileRun, Silence, SourceState, Status
from pipeline.queue import inspection
from pipeline.reports.sites import failed_sites
from sites.models import Site
from sites.stages import Stage

RECONCILE_EVERY = timedelta(minutes=45)
LOW_DISK = 0.05
SHRUNK = "publishes_less"
# What must last a while before it is worth a word: workers are restarted, listings tried again.
LASTING = {AlarmKind.QUEUE: timedelta(minutes=5)}


@dataclass(frozen=True)
class Condition:
    kind: str
    key: str
    title: str
    message: str = ""
    site_id: str | None = None


def conditions(now: datetime) -> dict[str, Condition]:
    found = (*_attention(), *_failed(), *_silent(), *_queues(), *_reconcile(now), *_disk(), *_channels())
    return {condition.key: condition for condition in found}


def _attention() -> Iterator[Condition]:
    for site in Site.objects.filter(paused_at=None).exclude(attention_reason=""):
        yield Condition(
            AlarmKind.ATTENTION,
            f"attention:{site.pk}",
            f"{site.pk} needs a person",
            site.attention_reason,
            site.pk,
        )


def _failed() -> Iterator[Condition]:
    failed = list(failed_sites().filter(paused_at=None))
    rows = DocumentState.objects.filter(
        site__in=failed, pipeline=Stage.DEPLOY, status=Status.FAILED_TERMINAL, error_code=SHRUNK
    )
    shrunk = set(rows.values_list("site_id", "run_id"))
    for site in failed:
        message = site.last_error_message or ""
        if (site.pk, site.run_id) in shrunk:
            title = f"{site.pk}: the deploy was stopped, it would publish much less"
            yield Condition(AlarmKind.SHRINK, f"shrink:{site.pk}", title, message, site.pk)
        else:
            title = f"{site.pk} cannot pass {site.last_error_stage or site.current_stage}"
            yield Condition(AlarmKind.FAILED, f"failed:{site.pk}", title, message, site.pk)


def _silent() -> Iterator[Condition]:
    states = SourceState.objects.filter(state__in=Silence.amber(), source__enabled=True)
    for state in states.filter(source__site__paused_at=None).select_related("source"):
        yield Condition(
            AlarmKind.SILENT,
            f"silent:{state.source_id}",
            f"{state.source.site_id}: {state.source.platform} source {state.get_state_display()}",
            f"{state.reason} {state.source.url}",
            state.source.site_id,
        )


def _queues() -> Iterator[Condition]:
    force = inspection.read_workforce()
    if not force.reachable:
        yield Condition(AlarmKind.QUEUE, "queue", "Redis does not answer", force.error)
        return
    for queue in force.queues:
        if not queue.workers:
            waiting = f"{queue.waiting:,} jobs wait. " if queue.waiting else ""
            message = f"{waiting}Start workers: manage.py workers"
            yield Condition(
                AlarmKind.QUEUE, f"queue:{queue.name}", f"no worker on queue {queue.name}", message
            )


def _reconcile(now: datetime) -> Iterator[Condition]:
    """A reconcile that never ran is a matter of the set-up, and `health` says it."""
    last = ReconcileRun.objects.filter(finished_at__isnull=False).order_by("-finished_at").first()
    if last is not None and last.finished_at is not None and now - last.finished_at > RECONCILE_EVERY:
        message = f"It last ran at {last.finished_at:%Y-%m-%d %H:%M} UTC. Is cron alive?"
        yield Condition(AlarmKind.RECONCILE, "reconcile", "reconcile does not run", message)


def _disk() -> Iterator[Condition]:
    folder = next(path for path in (settings.STORAGE_DIR, *settings.STORAGE_DIR.parents) if path.exists())
    usage = shutil.disk_usage(folder)
    if usage.free < LOW_DISK * usage.total:
        message = f"{usage.free / 1e9:.1f} GB ({usage.free / usage.total:.0%}) are free for documents."
        yield Condition(AlarmKind.DISK, "disk", "the disk is nearly full", message)


def _channels() -> Iterator[Condition]:
    for channel in Channel.objects.filter(enabled=False).exclude(off_reason=""):
        title = f"the channel {channel.name} was switched off"
        yield Condition(AlarmKind.CHANNEL, f"channel:{channel.pk}", title, channel.off_reason)
