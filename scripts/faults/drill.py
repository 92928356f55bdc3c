"""What one loss at a time costs: a work-horse behind a long queue, a worker, the whole of Redis."""

import statistics
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import django_rq
from django.core.management import call_command

from pipeline import flow
from pipeline.models import DocumentState, Status
from pipeline.workers.staying import StayingWorker
from sites.models import Site, Source
from sites.stages import Stage
from tests import trivial

from .crew import Crew
from .plan import REAL_TIME_DRILL, Plan
from .play import RECONCILE_SECONDS
from .workers import HastyWorker

if TYPE_CHECKING:
    from .stand import Stand

CRON_SECONDS = 15 * 60
HORSE_SECONDS = 1.0


class Drill:
    def __init__(self, stand: "Stand", plan: Plan) -> None:
        self.stand, self.plan = stand, plan
        self.crew = Crew(stand)
        real = plan.mode == REAL_TIME_DRILL
        self.worker: type = StayingWorker if real else HastyWorker
        self.interval = CRON_SECONDS if real else RECONCILE_SECONDS
        self.rounds = 1 if real else 3
        self.last_pass = time.monotonic()
        self.longest_pass = 0.0

    def run(self) -> dict[str, Any]:
        call_command("migrate", verbosity=0)
        trivial.install()
        self.crew.start(self.worker)
        try:
            horses = self._killed(["killer-once"] * 5)
            workers = self._killed(["worker-killer-once"] * self.rounds)
            flushes = [self._flushed(f"flush{number}.test") for number in range(self.rounds)]
        finally:
            self.crew.stop()
        one_pass = self.interval + self.plan.grace + self.longest_pass
        costs = {
            "horse": self._judged("a killed work-horse", horses, HORSE_SECONDS),
            "worker": self._judged("a killed worker", workers, one_pass),
            "redis": self._judged("a flushed Redis", flushes, one_pass),
        }
        return {"ok": all(cost["ok"] for cost in costs.values()), **costs}

    def _killed(self, deadly: list[str]) -> list[float]:
        """From the attempt that died to the next one at the same document, others waiting behind it."""
        titles = [*deadly, *["ok"] * self.plan.docs]
        site_id = self._start(f"{deadly[0]}.test", titles)
        self._until_completed(site_id)
        rows = self._ocr_rows(site_id).filter(document__title=deadly[0])
        return [self._gap(row.pk) for row in rows]

    def _gap(self, row_id: int) -> float:
        first, second = self._worked(row_id)[:2]
        return second - first

    def _flushed(self, site_id: str) -> float:
        """From the flush to the first attempt at a document whose job it took."""
        self._start(site_id, ["ok"] * self.plan.docs)
        while not self._ocr_rows(site_id).filter(status=Status.PROCESSED).exists():
            time.sleep(0.05)
        django_rq.get_connection("high").flushall()
        flushed = time.time()
        # A worker may have had the next job in its hands.
        time.sleep(0.5)
        lost = list(self._ocr_rows(site_id).filter(status=Status.PENDING))
        self._until_completed(site_id)
        return min(self._worked(row.pk)[0] for row in lost) - flushed

    def _start(self, site_id: str, titles: list[str]) -> str:
        site = Site.objects.create(subdomain=site_id)
        Source.objects.create(site=site, platform="generic", url="http://x/", options={"titles": titles})
        flow.start(site_id, by="drill")
        return site_id

    def _until_completed(self, site_id: str) -> None:
        while Site.objects.get(pk=site_id).current_stage != Stage.COMPLETED:
            if time.monotonic() - self.last_pass >= self.interval:
                self.last_pass = time.monotonic()
                self.crew.two_passes_at_once()
                self.longest_pass = max(self.longest_pass, time.monotonic() - self.last_pass)
            time.sleep(0.1)

    def _ocr_rows(self, site_id: str) -> Any:
        return DocumentState.objects.filter(site_id=site_id, pipeline=Stage.OCR)

    def _worked(self, row_id: int) -> list[float]:
        lines = self.crew.diary.read("worked")
        return [float(moment) for row, _, moment in lines if int(row) == row_id]

    def _judged(self, what: str, seconds: Sequence[float], bound: float) -> dict[str, Any]:
        median, most = statistics.median(seconds), max(seconds)
        words = f"median {median:.2f} s, most {most:.2f} s of {len(seconds)}; at most {bound:.1f} s"
        print(f"{self.stand.database}: {what}: {words}", flush=True)
        figures = {"median": round(median, 3), "most": round(most, 3), "bound": round(bound, 3)}
        return {"ok": most <= bound, **figures}
