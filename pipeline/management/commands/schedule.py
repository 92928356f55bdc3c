"""`manage.py schedule`: how often each site is checked, and when next."""

import json as jsonlib
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.utils import timezone

from pipeline.management.terminal.base import (
    COULD_NOT,
    OperatorCommand,
    add_operator,
    finish,
    known_sites,
    whole_number,
)
from pipeline.models import Rhythm, Schedule
from pipeline.operations import scheduling
from pipeline.operations.interventions import Operator, for_each
from pipeline.reports.schedule import ScheduleFigures, rhythm_label, schedule_figures
from pipeline.reports.wording import clock, plural
from pipeline.schedule import plan
from sites.models import Site

RHYTHMS = ["default", *(rhythm.value for rhythm in Rhythm if rhythm)]


class Command(OperatorCommand):
    help = (
        "Show when sites are checked next, or say how often they are to be checked. The schedule runs beside "
        "`manage.py workers`. Each site has its own place in the period: they do not all come at once."
    )
    examples = """\
examples:
  manage.py schedule                                 # the next checks, the earliest first
  manage.py schedule alameda.ca --set weekly         # one site
  manage.py schedule --state CA --set weekdays       # all sites of a state
  manage.py schedule --all --set default             # as SCHEDULE_RHYTHM says (daily, unless set)
  manage.py schedule alameda.ca --now                # check it at the next look at the clock
  manage.py schedule --json | jq '.sites[] | select(.note != "")'

Rhythms: hourly, daily, weekdays, weekly; meetings (daily from 3 days before a known meeting to 2 days
after, otherwise weekly); adaptive (every 6 hours near a meeting, daily as a rule, every 3rd day after
45 days without a new document and weekly after 120); never. Days are those of the site's own time zone,
or of TIME_ZONE.
Exit code 0: done. 1: something was refused. 2: could not look.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sites", nargs="*", metavar="SITE", help="subdomains (default: all)")
        parser.add_argument("--all", action="store_true", help="with --set: every site")
        parser.add_argument("--state", metavar="XX", help="only sites of this state")
        act = parser.add_mutually_exclusive_group()
        act.add_argument("--set", dest="rhythm", choices=RHYTHMS, help="the new rhythm")
        act.add_argument("--now", action="store_true", help="make the next check of these sites due now")
        parser.add_argument("--dry-run", action="store_true", help="say which sites would change")
        parser.add_argument(
            "--limit", type=whole_number(1), default=20, metavar="N", help="lines (default 20)"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object with every site")
        add_operator(parser)

    def handle(self, *, rhythm: str | None, now: bool, dry_run: bool, **options: Any) -> None:
        chosen = self._chosen(must_choose=bool(rhythm) or now, **options)
        if not rhythm and not now:
            plan.add_missing(timezone.now())
            return self._show(Schedule.objects.filter(site__in=chosen), **options)
        names = list(chosen.values_list("pk", flat=True))
        if dry_run:
            self.stdout.write("\n".join(names))
            return self.stdout.write(f"Would change {plural(len(names), 'site', 'sites')} (dry-run)")
        operator = Operator(options["by"], options["reason"])
        wanted = "" if rhythm == "default" else rhythm or ""

        def act(site_id: str) -> Schedule:
            if now:
                return scheduling.check_now(site_id, operator)
            return scheduling.set_rhythm(site_id, wanted, operator)

        finish(self, for_each(names, act), line)

    def _chosen(
        self, *, must_choose: bool, sites: list[str], all: bool, state: str | None, **_: Any
    ) -> QuerySet[Site]:
        if must_choose and not (sites or all or state):
            raise CommandError("say which sites: name some, or --state, or --all", returncode=COULD_NOT)
        found = Site.objects.order_by("pk")
        if sites:
            found = found.filter(pk__in=known_sites(sites))
        return found.filter(state__iexact=state) if state else found

    def _show(self, found: QuerySet[Schedule], *, json: bool, limit: int, **_: Any) -> None:
        figures = schedule_figures()
        found = found.select_related("site").order_by("next_check_at", "pk")
        if json:
            return self.stdout.write(jsonlib.dumps(as_json(figures, found), cls=DjangoJSONEncoder, indent=2))
        planned = found.filter(next_check_at__isnull=False)
        for schedule in planned[:limit]:
            self.stdout.write(line(schedule))
        more = planned.count() - limit
        if more > 0:
            self.stdout.write(f"… and {more:,} more (--limit, or --json for all)")
        never = found.filter(next_check_at=None).count()
        self.stdout.write(
            f"{plural(planned.count(), 'site', 'sites')} with a next check, {never:,} without; "
            f"{figures.due:,} due now, {figures.running:,} of at most {figures.at_once:,} running"
        )


def line(schedule: Schedule) -> str:
    when = clock(schedule.next_check_at) if schedule.next_check_at else "no check planned"
    paused = "; paused" if schedule.site.paused_at else ""
    note = f"; last time not started: {schedule.note}" if schedule.note else ""
    return f"{when}  {schedule.site_id}  {rhythm_label(schedule.rhythm)}{paused}{note}"


def as_json(figures: ScheduleFigures, found: QuerySet[Schedule]) -> dict[str, Any]:
    return {
        "due": figures.due,
        "late": figures.late,
        "running": figures.running,
        "at_once": figures.at_once,
        "sites": [
            {
                "site": schedule.site_id,
                "rhythm": plan.rhythm_of(schedule.rhythm),
                "own_rhythm": bool(schedule.rhythm),
                "next_check_at": schedule.next_check_at,
                "last_check_at": schedule.last_check_at,
                "paused": schedule.site.paused_at is not None,
                "note": schedule.note,
            }
            for schedule in found
        ],
    }
