"""One fault test: set the sites going, make trouble, let reconcile mend, wait for the end, judge."""

import os
import random
import signal
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import django_rq
from django.core.management import call_command
from django.db import connections

from pipeline import flow, reconcile
from pipeline.models import Run
from sites.models import Site, Source
from tests import trivial

from . import checks
from .diary import Diary
from .plan import FAILED, NOTHING_FOUND, Part, Plan
from .trouble import Trouble
from .workers import work

if TYPE_CHECKING:
    from .stand import Stand

RECONCILE_SECONDS = 4
# A site that was recovered three times in vain is tried again after this time.
THRESHOLD = timedelta(seconds=15)


class Play:
    def __init__(self, stand: "Stand", plan: Plan) -> None:
        self.stand, self.plan = stand, plan
        self.diary = Diary(stand.folder / "diary")
        self.orders = stand.folder / "orders"
        self.orders.mkdir()
        self.parts = list(plan.cast())
        self.trouble = Trouble(stand, plan, self.orders, self.parts)
        self.supervisor = 0
        self.passes = 0

    def run(self) -> dict[str, Any]:
        self._say(f"seed {self.plan.seed}: {self.plan.sites} sites x {self.plan.docs} documents")
        began = time.monotonic()
        try:
            self._set_up()
            self._make_trouble()
            self._say(f"the trouble is over; {self._unfinished()} sites to go")
            settled = self._wait_for_the_end()
        finally:
            self._stop_workers()
        return self._judge(settled, time.monotonic() - began)

    def _say(self, line: str) -> None:
        print(f"{self.stand.database}: {line}", flush=True)

    def _set_up(self) -> None:
        call_command("migrate", verbosity=0)
        trivial.install()
        for part in self.parts:
            site = Site.objects.create(subdomain=part.site_id)
            Source.objects.create(
                site=site, platform="generic", url=f"http://{part.site_id}/", options={"titles": part.titles}
            )
        self.supervisor = self._fork(lambda: work(self.orders, self.diary, self.stand.folder / "workers.log"))
        self.trouble.supervisor = self.supervisor
        for part in self.parts:
            flow.start(part.site_id, by="chaos")

    def _fork(self, task: Any) -> int:
        connections.close_all()
        django_rq.get_connection("high").connection_pool.disconnect()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                task()
                code = 0
            finally:
                os._exit(code)
        self.stand.janitor.started(pid, signal.SIGTERM)
        return pid

    def _make_trouble(self) -> None:
        until = time.monotonic() + self.plan.seconds
        next_pass = 0.0
        dice = random.Random(self.plan.seed)
        # On a slow machine the clock alone would be over before much has happened.
        while time.monotonic() < until or sum(self.trouble.done.values()) < self.plan.seconds / 2:
            self.trouble.one(dice)
            if time.monotonic() >= next_pass:
                self._two_passes_at_once()
                next_pass = time.monotonic() + RECONCILE_SECONDS
            time.sleep(dice.uniform(0.1, 0.6))
        self.trouble.call_off()

    def _two_passes_at_once(self) -> None:
        def one_pass() -> None:
            reconcile.reconcile(threshold=THRESHOLD)

        for child in [self._fork(one_pass), self._fork(one_pass)]:
            os.waitpid(child, 0)
            self.stand.janitor.stopped(child)
        self.passes += 1

    def _wait_for_the_end(self) -> bool:
        """Until every site is where it belongs; no clock but that of standing still."""
        seen, moved = None, time.monotonic()
        while self._unfinished():
            standing = list(Site.objects.order_by("pk").values_list())
            if standing != seen:
                seen, moved = standing, time.monotonic()
            if time.monotonic() - moved > self.plan.patience:
                return False
            self._two_passes_at_once()
            time.sleep(RECONCILE_SECONDS / 2)
        return True

    def _unfinished(self) -> int:
        return sum(not self._has_ended(part) for part in self.parts)

    def _has_ended(self, part: Part) -> bool:
        site = Site.objects.get(pk=part.site_id)
        run = Run.objects.get(pk=site.run_id or 0)
        if part.end == FAILED:
            return run.status == Run.Status.FAILED and bool(site.attention_reason)
        nothing = site.last_error_stage == "fetch" and site.ocr_total == 0
        return (
            site.current_stage == "completed"
            and run.status == Run.Status.COMPLETED
            and (part.end != NOTHING_FOUND or nothing)
        )

    def _stop_workers(self) -> None:
        if not self.supervisor:
            return
        os.kill(self.supervisor, signal.SIGTERM)
        os.waitpid(self.supervisor, 0)
        self.stand.janitor.stopped(self.supervisor)

    def _judge(self, settled: bool, seconds: float) -> dict[str, Any]:
        unfinished = [part.site_id for part in self.parts if not self._has_ended(part)]
        held = [checks.all_ended(unfinished), *checks.all_checks(self.diary)]
        for name, count in sorted(self.trouble.done.items()):
            self._say(f"  done  {count:4} x {name}")
        died = self.diary.counted("died")
        self._say(f"  done  {sum(died.values()):4} x death at a boundary ({len(died)} different)")
        self._say(f"  done  {self.passes:4} x two reconciles at once")
        for check in held:
            self._say(f"  {'held ' if check.ok else 'BROKE'}  {check.name}: {check.detail}")
        return {
            "ok": settled and all(check.ok for check in held),
            "seconds": round(seconds, 1),
            "trouble": sum(self.trouble.done.values()) + sum(died.values()),
            "boundaries": len(died),
            **{check.key: check.value for check in held},
        }
