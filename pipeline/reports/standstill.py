"""Why a site does not move: read from the ledger, the run and the queue, for many sites at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min
from django.utils import timezone

from pipeline.dispatch import ticket_of
from pipeline.models import DocumentState, Run, Status
from pipeline.queue import inspection
from pipeline.queue.inspection import Workforce
from pipeline.queue.sending import COORDINATOR_QUEUE, coordinator_job_id
from pipeline.reconcile.find import grace
from pipeline.reports.wording import clock, plural
from sites.models import Site
from sites.stages import wave_of

# What RQ says of a job that is still going to run, or runs.
LIVE = {"queued", "started", "scheduled", "deferred", "created"}
NEXT_RECONCILE = "the next reconcile will"


@dataclass(frozen=True)
class Standstill:
    site_id: str
    stage: str
    since: datetime | None
    reason: str
    command: str


@dataclass(frozen=True)
class Waiting:
    """The rows of one run, stage and status, and what the queue says of the first of them."""

    stage: str
    status: str
    count: int
    since: datetime
    retry_at: datetime | None
    live: str | None


def explain(sites: Sequence[Site], force: Workforce) -> list[Standstill]:
    """One reason per site, in three queries and one look at the queue, however many there are."""
    runs = Run.objects.in_bulk([site.run_id for site in sites if site.run_id])
    open_rows = _open_rows(sites)
    claimed = {site.pk: _coordinator(site) for site in sites if site.run_id and site.coordinator_enqueued}
    states = inspection.job_states(claimed.values())
    return [
        Standstill(
            site.pk,
            site.current_stage or "",
            site.updated_at,
            *_why(
                site,
                runs.get(site.run_id or 0),
                open_rows.get(site.pk, []),
                _settled(states.get(claimed.get(site.pk, "")), site.updated_at),
                force,
            ),
        )
        for site in sites
    ]


def _coordinator(site: Site) -> str:
    return coordinator_job_id(site.run_id or 0, site.coordinator_seq)


def _open_rows(sites: Sequence[Site]) -> dict[str, list[Waiting]]:
    ours = DocumentState.objects.filter(
        site_id__in=[site.pk for site in sites],
        run_id__in=[site.run_id for site in sites if site.run_id],
        status__in=Status.OPEN,
    )
    groups = list(
        ours.order_by("pipeline", "status")
        .values_list("site_id", "pipeline", "status")
        .annotate(Count("pk"), Min("updated_at"), Min("retry_at"), Min("pk"))
    )
    jobs = _jobs(DocumentState.objects.filter(pk__in=[group[-1] for group in groups]))
    states = inspection.job_states(jobs.values())
    found: dict[str, list[Waiting]] = {}
    for site_id, stage, status, count, since, retry_at, first in groups:
        live = _settled(states.get(jobs.get(first, "")), since)
        found.setdefault(site_id, []).append(Waiting(stage, status, count, since, retry_at, live))
    return found


def _settled(state: str | None, since: datetime | None) -> str | None:
    """A job in a worker's hands is on its way for as long as reconcile gives it; then its worker has died."""
    on_its_way = since is not None and since > timezone.now() - grace()
    return "queued" if state == inspection.TAKEN and on_its_way else state


def _jobs(rows: Iterable[DocumentState]) -> dict[int, str]:
    return {
        row.pk: row.rq_job_id if row.status == Status.IN_PROGRESS else ticket_of(row).job_id for row in rows
    }


def _why(
    site: Site, run: Run | None, rows: list[Waiting], coordinator: str | None, force: Workforce
) -> tuple[str, str]:
    """The reason, and the command that helps; empty where waiting is all there is to do."""
    at = f"--site {site.pk}"
    if site.paused_at:
        return f"paused since {clock(site.paused_at)}{_because(site.pause_reason)}", f"resume_site {site.pk}"
    if site.attention_reason:
        return f"needs a person: {site.attention_reason}", f"pipeline_status {at}"
    if run is None:
        return f"in no run; {NEXT_RECONCILE} look at it", "reconcile"
    if run.status == Run.Status.FAILED:
        return f"cannot pass {site.current_stage}: {run.message}", f"retry_failed {at} --dry-run"
    if not run.is_running:
        return f"its run has ended as {run.status}; {NEXT_RECONCILE} look at it", "reconcile"
    if not force.reachable:
        return force.error, ""
    if site.coordinator_enqueued:
        return _coordinating(coordinator, force)
    wave = wave_of(site.current_stage) if site.current_stage else ()
    waits = [_waiting(row, force) for row in rows if row.stage in wave]
    if not waits:
        return f"every job is counted, but nobody moved the site on; {NEXT_RECONCILE}", "reconcile"
    return "; ".join(dict.fromkeys(reason for reason, _ in waits)), next(
        (command for _, command in waits if command), ""
    )


def _coordinating(live: str | None, force: Workforce) -> tuple[str, str]:
    if live not in LIVE:
        return f"coordinator lost; {NEXT_RECONCILE} send it again", "reconcile"
    if live == "started":
        return "the coordinator is moving it on", ""
    return _queued(1, COORDINATOR_QUEUE, force)


def _waiting(rows: Waiting, force: Workforce) -> tuple[str, str]:
    if rows.status == Status.IN_PROGRESS:
        if rows.live in LIVE:
            return f"{rows.count} running since {clock(rows.since)}", ""
        return f"worker lost in {rows.stage}; {NEXT_RECONCILE} try it again", "reconcile"
    if rows.retry_at and rows.retry_at > timezone.now():
        return f"waiting for {plural(rows.count, 'retry', 'retries')} at {clock(rows.retry_at)}", ""
    if rows.live not in LIVE:
        return (
            f"{plural(rows.count, 'job', 'jobs')} lost from queue {rows.stage}; {NEXT_RECONCILE} send "
            + ("it again" if rows.count == 1 else "them again"),
            "reconcile",
        )
    if rows.live == "scheduled" and not force.queue(rows.stage).scheduler:
        return f"{plural(rows.count, 'retry is', 'retries are')} due, but no scheduler runs", "workers"
    return _queued(rows.count, rows.stage, force)


def _queued(count: int, name: str, force: Workforce) -> tuple[str, str]:
    queue = force.queue(name)
    if not queue.workers:
        return f"no worker on queue {name} ({plural(count, 'job waits', 'jobs wait')})", "workers"
    return f"{plural(count, 'job waits', 'jobs wait')} on queue {name}, {queue.waiting} in all", ""


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""
