"""The figures of one scrape in Prometheus' own words."""

from collections.abc import Callable, Iterator
from datetime import datetime

from django.utils import timezone
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder

from pipeline.queue.inspection import QueueFacts
from pipeline.queue.tally import KINDS, Kind, Series
from pipeline.reports.scrape import Scrape

REGISTRIES = ("waiting", "started", "scheduled", "deferred", "failed")


class Figures:
    """A collector of the client library: the families of one scrape."""

    def __init__(self, scrape: Scrape, version: str) -> None:
        self._scrape, self._version = scrape, version

    def collect(self) -> Iterator[Metric]:
        info = GaugeMetricFamily("clerk_build_info", "Which version of Clerk runs", labels=["version"])
        info.add_metric([self._version], 1)
        yield info
        yield from self._sites()
        yield from self._ledger()
        yield from self._queues()
        yield from self._reconcile()
        yield from self._machine()
        yield from self._tally()
        yield _gauge("clerk_scrape_seconds", "How long reading these figures took", self._scrape.seconds)

    def _sites(self) -> Iterator[Metric]:
        found = self._scrape.sites
        yield _gauges("clerk_sites", "Sites by where they stand", "stage", found.by_stage)
        yield _gauges("clerk_sites_condition", "Sites of which this is true", "condition", found.conditions)

    def _ledger(self) -> Iterator[Metric]:
        taken = self._scrape.snapshot
        if taken is None:
            return
        yield _gauge(
            "clerk_snapshot_age_seconds", "How old the figures are that a scheduler takes", taken.age()
        )
        yield _gauge("clerk_snapshot_seconds", "How long taking them took", taken.seconds)
        rows = GaugeMetricFamily(
            "clerk_ledger_rows",
            "Ledger rows by stage and status, of the snapshot",
            labels=["stage", "status"],
        )
        for stage, status, count in taken.ledger:
            rows.add_metric([stage, status], count)
        yield rows
        jobs = GaugeMetricFamily(
            "clerk_run_jobs", "The counters of every site's current run, added up", labels=["stage", "count"]
        )
        for stage, part, count in taken.counters:
            jobs.add_metric([stage, part], count)
        yield jobs
        ages = {stage: max(taken.at + taken.age() - since, 0) for stage, since in taken.pending_since.items()}
        yield _gauges(
            "clerk_pending_oldest_seconds", "For how long the oldest pending row has waited", "stage", ages
        )
        yield _gauge("clerk_published_pages", "Pages that readers can read", taken.published_pages)
        if taken.published_at is not None:
            yield _gauge(
                "clerk_published_timestamp_seconds", "When the last deploy published", taken.published_at
            )

    def _queues(self) -> Iterator[Metric]:
        force = self._scrape.force
        yield _gauge("clerk_redis_up", "Whether Redis answers", float(force.reachable))
        if not force.reachable:
            return
        jobs = GaugeMetricFamily(
            "clerk_queue_jobs", "Jobs by queue and where they are", labels=["queue", "state"]
        )
        for queue in force.queues:
            for state in REGISTRIES:
                jobs.add_metric([queue.name, state], getattr(queue, state))
        yield jobs
        for name, meaning, value in QUEUE_FIGURES:
            yield _gauges(name, meaning, "queue", {queue.name: value(queue) for queue in force.queues})
        busy = sum(worker.alive and bool(worker.current_job) for worker in force.workers)
        yield _gauge("clerk_workers_busy", "Workers with a job in hand", busy)

    def _reconcile(self) -> Iterator[Metric]:
        last = self._scrape.reconcile
        if last is None:
            return
        yield _gauge("clerk_reconcile_age_seconds", "Since the last pass of reconcile ended", last.age)
        yield _gauge("clerk_reconcile_last_seconds", "How long that pass took", last.seconds)
        yield _gauge("clerk_reconcile_last_failed", "Whether that pass could not finish", float(last.failed))
        found = {"found": last.found, "recovered": last.recovered, "given_up": last.given_up}
        yield _gauges("clerk_reconcile_last_sites", "What that pass found and did", "count", found)

    def _machine(self) -> Iterator[Metric]:
        disks = self._scrape.disks
        free = {name: disk.free for name, disk in disks.items()}
        total = {name: disk.total for name, disk in disks.items()}
        yield _gauges("clerk_disk_free_bytes", "Free where this folder lies", "folder", free)
        yield _gauges("clerk_disk_bytes", "Size of the disk where this folder lies", "folder", total)
        index = self._scrape.index
        if index is None:
            return
        yield _gauge("clerk_index_pages", "Pages in the search index", index.pages)
        yield _gauge("clerk_index_bytes", "Size of the search index", index.bytes)
        yield _gauge(
            "clerk_index_written_timestamp_seconds", "When the search index last changed", index.written_at
        )

    def _tally(self) -> Iterator[Metric]:
        for name, series in self._scrape.tally.items():
            yield (
                _histogram(name, KINDS[name], series)
                if KINDS[name].buckets
                else _counter(name, KINDS[name], series)
            )


def _oldest(queue: QueueFacts) -> float:
    at: datetime | None = queue.oldest_at
    return max((timezone.now() - at).total_seconds(), 0.0) if at and queue.waiting else 0.0


QUEUE_FIGURES: tuple[tuple[str, str, Callable[[QueueFacts], float]], ...] = (
    ("clerk_queue_oldest_seconds", "For how long the first job of the queue has waited", _oldest),
    ("clerk_workers", "Workers that serve the queue", lambda queue: queue.workers),
    ("clerk_queue_scheduler", "Whether a scheduler sends its retries", lambda queue: float(queue.scheduler)),
)


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(name, meaning, value=value)


def _gauges(name: str, meaning: str, label: str, values: dict[str, int] | dict[str, float]) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family


def _counter(name: str, kind: Kind, series: dict[tuple[str, ...], Series]) -> Metric:
    family = CounterMetricFamily(name, kind.meaning, labels=kind.labels)
    for values, found in sorted(series.items()):
        family.add_metric(values, found.value)
    return family


def _histogram(name: str, kind: Kind, series: dict[tuple[str, ...], Series]) -> Metric:
    family = HistogramMetricFamily(name, kind.meaning, labels=kind.labels)
    for values, found in sorted(series.items()):
        family.add_metric(values, buckets=found.cumulative(kind.buckets), sum_value=found.value)
    return family


def rendered(scrape: Scrape, version: str, accept: str = "") -> tuple[bytes, str]:
    """The page and its content type: OpenMetrics for who asks for it, else Prometheus' text."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures(scrape, version))
    encoder, content_type = choose_encoder(accept)
    return encoder(registry), content_type
