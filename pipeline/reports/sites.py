"""Sites in numbers."""

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from pipeline.models import Run
from pipeline.reports.filters import ALL, Filters
from sites.models import Site
from sites.stages import Stage


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
    counts = filters.of_sites(Site.objects.all()).aggregate(
        total=Count("pk"),
        never_run=Count("pk", filter=Q(current_stage=None)),
        completed=Count("pk", filter=Q(current_stage=Stage.COMPLETED)),
        paused=Count("pk", filter=Q(paused_at__isnull=False)),
        attention=Count("pk", filter=~Q(attention_reason="")),
        in_pipeline=Count("pk", filter=Q(current_stage__isnull=False)),
    )
    stuck = filters.of_sites(Site.objects.stuck()).count()
    failed = filters.of_sites(failed_sites()).count()
    running = Run.objects.running()
    if filters.sites:
        running = running.filter(site_id__in=filters.sites)
    return SiteTotals(running=running.count(), stuck=stuck, failed=failed, **counts)


def failed_sites() -> QuerySet[Site]:
    """Sites whose run has ended at a stage that they cannot pass."""
    ended = Run.objects.filter(status=Run.Status.FAILED)
    claimed = Site.objects.unfinished().filter(coordinator_enqueued=True)
    return claimed.filter(run_id__in=ended.values("pk"))
