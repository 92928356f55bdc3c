"""Start sites, and watch them."""

import json as jsonlib
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Exists, OuterRef, QuerySet

from pipeline.management.terminal import follow, screen
from pipeline.management.terminal.base import (
    COULD_NOT,
    FAILED,
    PRIORITIES,
    STAGES,
    OperatorCommand,
    add_operator,
    known_sites,
    stop_if_lost,
    whole_number,
)
from pipeline.management.terminal.follow import Follow
from pipeline.models import Run
from pipeline.operations import interventions
from pipeline.operations.interventions import ActOutcome, Operator
from pipeline.queue import sending
from pipeline.reports.beginning import Beginning, look_ahead
from pipeline.reports.wording import plural
from sites.models import Document, Site
from sites.stages import Stage

INTERRUPTED = 130
NAMED = 10


class Command(OperatorCommand):
    help = (
        "Start runs: of the sites named, of all that are idle, or of the N that have waited longest. "
        "What is processed already is not done again. Shows live progress until every run has ended."
    )
    examples = """\
examples:
  manage.py run_pipeline alameda.ca berkeley.ca
  manage.py run_pipeline --stale 20 --no-wait        # from cron: never-run sites first, then the oldest
  manage.py run_pipeline --all --dry-run
  manage.py run_pipeline alameda.ca --priority high  # its jobs go before those of other sites
  manage.py run_pipeline alameda.ca --restart        # give up the run it is in, and begin again
  manage.py run_pipeline alameda.ca --from ocr       # not from fetch
  manage.py run_pipeline alameda.ca --from deploy --force --reason "the city withdrew them"

Exit code 0: every run completed (or was started, with --no-wait). 1: one failed or was refused. 2: could not
start. 130: you stopped watching; the runs go on.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sites", nargs="*", metavar="SITE", help="subdomains, e.g. alameda.ca")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--all", action="store_true", help="every site that is idle and not paused")
        which.add_argument(
            "--stale", type=whole_number(1), metavar="N", help="the N idle sites that have waited longest"
        )
        parser.add_argument("--restart", action="store_true", help="also sites that are in a run: give it up")
        parser.add_argument(
            "--from", dest="first", choices=STAGES, default="fetch", help="the first stage (default fetch)"
        )
        parser.add_argument(
            "--priority", choices=PRIORITIES, default="normal", help="high: before the jobs of other sites"
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="with --from deploy: publish although it is much less than is published now (recorded)",
        )
        parser.add_argument("--no-wait", action="store_true", help="start, and leave")
        parser.add_argument("--dry-run", action="store_true", help="say what would be started, start nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object at the end, and no progress")
        add_operator(parser)

    def handle(self, *, json: bool, dry_run: bool, no_wait: bool, **options: Any) -> None:
        chosen = choose(**options)
        if dry_run:
            return self._would(chosen, json)
        sending.check()
        if chosen and not json:
            self._say_beginning(look_ahead(chosen), options["first"])
        outcome = interventions.for_each(chosen, starter(**options))
        runs = [run.pk for run in outcome.done]
        if not json:
            self._say_started(outcome)
        console = None if json else screen.console(self.stdout)
        found = follow.progress_of(runs) if no_wait else follow.follow(runs, console)
        if json:
            self.stdout.write(jsonlib.dumps(as_json(found, outcome), indent=2))
        self._end(found, outcome, no_wait)

    def _would(self, chosen: list[str], json: bool) -> None:
        if json:
            return self.stdout.write(jsonlib.dumps({"dry_run": True, "sites": chosen}, indent=2))
        for site_id in chosen:
            self.stdout.write(site_id)
        self.stdout.write(f"Would start {len(chosen)} site{'s' * (len(chosen) != 1)} (dry-run)")

    def _say_beginning(self, ahead: Beginning, first: str) -> None:
        sites, known = plural(ahead.sites, "site", "sites"), plural(ahead.documents, "document", "documents")
        self.stdout.write(
            f"Starting {sites} from {first}: {known} known, {ahead.read:,} read, {ahead.to_read:,} to read"
        )
        if ahead.resumed:
            more = len(ahead.resumed) - NAMED
            named = ", ".join(ahead.resumed[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
            self.stdout.write(f"Resuming where they stopped: {named}")

    def _say_started(self, outcome: ActOutcome) -> None:
        for _, why in outcome.refused:
            self.stderr.write(f"refused: {why}")
        started = f"{len(outcome.done)} run{'s' * (len(outcome.done) != 1)} started"
        idle = outcome.done or outcome.refused
        self.stdout.write(started if idle else f"{started}: no site is idle, or there is none yet")

    def _end(self, found: list[Follow], outcome: ActOutcome, no_wait: bool) -> None:
        stop_if_lost(outcome)
        failed = sum(one.ended and one.run.status != Run.Status.COMPLETED for one in found)
        if not no_wait and not all(one.ended for one in found):
            going = sum(not one.ended for one in found)
            words = f"{plural(going, 'run goes', 'runs go')} on in the workers"
            raise CommandError(
                f"stopped watching; {words}. `pipeline_status` shows them, `cancel_run` ends one",
                returncode=INTERRUPTED,
            )
        if failed or outcome.refused:
            raise CommandError(
                f"{failed} runs did not complete, {len(outcome.refused)} were refused", returncode=FAILED
            )


def choose(
    *, sites: list[str], all: bool, stale: int | None, restart: bool, first: str, **_: Any
) -> list[str]:
    if bool(sites) + all + (stale is not None) != 1:
        raise CommandError("say which sites: name some, or --all, or --stale N", returncode=COULD_NOT)
    if sites:
        return known_sites(sites)
    waiting = Site.objects.filter(paused_at=None).most_stale_first()
    if not restart:
        waiting = waiting.filter(~Exists(_running()))
    if first != Stage.FETCH:  # a site without documents has nothing there, and says so already
        waiting = waiting.filter(Exists(Document.objects.filter(site=OuterRef("pk"))))
    names = waiting.values_list("pk", flat=True)
    return list(names[:stale])


def _running() -> QuerySet[Run]:
    return Run.objects.running().filter(site=OuterRef("pk"))


def starter(
    *, restart: bool, first: str, priority: str, by: str, reason: str, force: bool, **_: Any
) -> Callable[[str], Run]:
    if force:
        return _forced(Operator(by, reason), restart, first, PRIORITIES[priority])
    act, operator = interventions.restart if restart else interventions.start, Operator(by, reason)
    return lambda site_id: act(site_id, operator, first=Stage(first), priority=PRIORITIES[priority])


def _forced(operator: Operator, restart: bool, first: str, priority: int) -> Callable[[str], Run]:
    if first != Stage.DEPLOY or restart:
        raise CommandError("--force goes with --from deploy, and not with --restart", returncode=COULD_NOT)
    return lambda site_id: interventions.publish_less(site_id, operator, priority=priority)


def as_json(found: list[Follow], outcome: ActOutcome) -> dict[str, Any]:
    return {
        "started": len(outcome.done),
        "refused": [{"site": site_id, "reason": why} for site_id, why in outcome.refused],
        "runs": [
            {
                "run": one.run.pk,
                "site": one.site.pk,
                "status": one.run.status,
                "stage": one.site.current_stage,
                "message": one.run.message,
            }
            for one in found
        ],
    }
