"""One fault test: set the sites going, make trouble, let reconcile repair, wait for the end, judge."""

import random
import time
from typing import TYPE_CHECKING, Any

from django.core.management import call_command

from pipeline import flow
from pipeline.models import Run
from sites.models import Site, Source
from tests import trivial

from . import checks
from .crew import Crew
from .plan import FAILED, NOTHING_FOUND, Part, Plan
from .trouble import Trouble

if TYPE_CHECKING:
    from .stand import Stand

RECONCILE_SECONDS = 4


class Play:
    def __init__(self, stand: "Stand", plan: Plan) -> None:
        self.stand, self.plan = stand, plan
        self.crew = Crew(stand)
        self.parts = list(plan.cast())
        self.trouble = Trouble(stand, self.crew, self.parts)
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
            self.crew.stop()
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
        self.crew.start()
        for part in self.parts:
            flow.start(part.site_id, by="chaos")

    def _make_trouble(self) -> None:
        until = time.monotonic() + self.plan.seconds
        next_pass = 0.0
        dice = random.Random(self.plan.seed)
        # On a slow machine the clock alone would be over before much has happened.
        while time.monotonic() < until or sum(self.trouble.done.values()) < self.plan.seconds / 2:
            self.trouble.one(dice)
            if time.monotonic() >= next_pass:
                self._reconcile()
                next_pass = time.monotonic() + RECONCILE_SECONDS
            time.sleep(dice.uniform(0.1, 0.6))
        self.trouble.call_off()

    def _reconcile(self) -> None:
        self.crew.two_passes_at_once()
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
            self._reconcile()
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

    def _judge(self, settled: bool, seconds: float) -> dict[str, Any]:
        unfinished = [part.site_id for part in self.parts if not self._has_ended(part)]
        held = [checks.all_ended(unfinished), *checks.all_checks(self.crew.diary)]
        for name, count in sorted(self.trouble.done.items()):
            self._say(f"  done  {count:4} x {name}")
        died = self.crew.diary.counted("died")
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
