"""Which sites have stopped, and what is missing: the ledger is read first, then the queue."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet

from pipeline.models import Adoption, DocumentState, Run, Status
from pipeline.queue import inspection, sending
from pipeline.state import counters
from pipeline.state.counters import Standing
from sites.models import Document, Site, untouched_since
from sites.stages import WORK_STAGES, Stage, wave_of

# How often a flagged run is tried again, for as long as it exists.
SLOWLY = timedelta(hours=6)
ROW = (
    "id",
    "site_id",
    "run_id",
    "pipeline",
    "status",
    "attempt_token",
    "enqueue_seq",
    "rq_job_id",
    "updated_at",
)


@dataclass
class Suspect:
    """A site as it was read, and what looked wrong. Every repair is guarded on exactly this."""

    site: Site
    run: Run | None = None
    lost: list[DocumentState] = field(default_factory=list)  # in progress, and no worker at it
    unsent: list[DocumentState] = field(default_factory=list)  # waiting, and no job for it
    coordinator_lost: bool = False
    unclaimed: bool = False
    miscounted: bool = False
    overdue: bool = False
    standing: Standing = field(default_factory=Standing)
    # Left by the old system, and Clerk does not know its documents yet: no repair could be right.
    not_taken_over: bool = False

    @property
    def progress(self) -> str:
        return f"{self.site.current_stage}, {self.standing}"

    @property
    def has_ended(self) -> bool:
        return self.run is not None and self.run.status == Run.Status.FAILED

    @property
    def is_running(self) -> bool:
        """In a stage that exists: from any other no job and no coordinator could take the site further."""
        running = self.run is not None and self.run.is_running
        return running and self.site.current_stage in WORK_STAGES


def grace() -> timedelta:
    return timedelta(seconds=settings.RECONCILE_GRACE_SECONDS)


def suspects(now: datetime, threshold: timedelta) -> list[Suspect]:
    quiet_since = now - grace()
    rows = list(_in_their_wave(DocumentState.objects.quiet(now, quiet_since)))
    quiet = {site.pk: site for site in _quiet(Site.objects.unfinished(), quiet_since)}
    miscounted = counters.sites_of(counters.differences(_quiet(Site.objects.in_pipeline(), quiet_since)))
    # Only now: a job that was queued or taken since then has changed the row it belongs to.
    live = inspection.live_job_ids(now, grace())
    dead = [row for row in rows if _job_of(row) not in live]

    found = {pk: _judge(site, live, now - threshold) for pk, site in quiet.items()}
    for pk, site in _by_id(({row.site_id for row in dead} | miscounted) - set(found)).items():
        found[pk] = Suspect(site)
    for pk in miscounted & set(found):
        found[pk].miscounted = True
    for row in dead:
        if row.site_id in found:
            _assign(found[row.site_id], row)
    return _with_runs([suspect for suspect in found.values() if _is_wrong(suspect)], now)


def _quiet(sites: QuerySet[Site], since: datetime) -> QuerySet[Site]:
    return sites.filter(untouched_since(since), paused_at=None)


def _in_their_wave(rows: QuerySet[DocumentState]) -> Iterable[DocumentState]:
    for *values, current in rows.values_list(*ROW, "site__current_stage").iterator(chunk_size=5000):
        row = DocumentState(**dict(zip(ROW, values, strict=True)))
        if row.pipeline in _wave(current):
            yield row


def _job_of(row: DocumentState) -> str:
    if row.status == Status.IN_PROGRESS and row.rq_job_id:
        return row.rq_job_id
    return sending.job_id(row.pipeline, row.pk, row.run_id, row.enqueue_seq)


def _judge(site: Site, live: set[str], overdue_since: datetime) -> Suspect:
    counted = all(
        site.progress(stage).done >= site.progress(stage).total for stage in _wave(site.current_stage)
    )
    job = sending.coordinator_job_id(site.run_id or 0, site.coordinator_seq)
    return Suspect(
        site,
        coordinator_lost=site.coordinator_enqueued and job not in live,
        unclaimed=counted and not site.coordinator_enqueued,
        overdue=site.updated_at is None or site.updated_at < overdue_since,
    )


def _wave(stage: str | None) -> tuple[Stage, ...]:
    """Empty for a stage that does not exist, as an adopted database may name one."""
    return wave_of(stage) if stage in WORK_STAGES else ()


def _by_id(site_ids: set[str]) -> dict[str, Site]:
    return Site.objects.in_bulk(list(site_ids)) if site_ids else {}


def _assign(suspect: Suspect, row: DocumentState) -> None:
    (suspect.lost if row.status == Status.IN_PROGRESS else suspect.unsent).append(row)


def _is_wrong(suspect: Suspect) -> bool:
    if suspect.lost or suspect.unsent or suspect.miscounted:
        return True
    no_run = suspect.site.run_id is None
    return no_run or suspect.coordinator_lost or suspect.unclaimed or suspect.overdue


def _with_runs(suspects: list[Suspect], now: datetime) -> list[Suspect]:
    """Read for all of them at once: no query here grows with their number."""
    runs = Run.objects.in_bulk([suspect.site.run_id for suspect in suspects if suspect.site.run_id])
    foreign = _not_taken_over([suspect.site for suspect in suspects if suspect.site.run_id is None])
    standings = counters.standings([suspect.site.pk for suspect in suspects], now)
    for suspect in suspects:
        suspect.run = runs.get(suspect.site.run_id or 0)
        suspect.standing = standings.get(suspect.site.pk, suspect.standing)
        suspect.not_taken_over = suspect.site.pk in foreign
    return [suspect for suspect in suspects if suspect.miscounted or not _is_handed_over(suspect, now)]


def _not_taken_over(sites: list[Site]) -> set[str]:
    """Of these, which are in no run: those that stand somewhere though Clerk knows nothing of them."""
    site_ids = [site.pk for site in sites]
    known = {*Adoption.objects.filter(pk__in=site_ids).values_list("pk", flat=True)}
    for model in (Run, Document):
        known |= {*model.objects.filter(site_id__in=site_ids).values_list("site_id", flat=True).distinct()}
    return set(site_ids) - known


def _is_handed_over(suspect: Suspect, now: datetime) -> bool:
    """A run that failed and was flagged for a person, for now: what was in its way may be gone one day."""
    flagged_at = suspect.site.attention_at
    if not suspect.has_ended or not suspect.site.attention_reason:
        return False
    return flagged_at is not None and flagged_at > now - SLOWLY
