"""When sites are checked next, and whether anybody looks at the clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min
from django.utils import timezone

from pipeline.models import Rhythm, Schedule
from pipeline.schedule import due
from pipeline.schedule.plan import rhythm_of

# A check that is so late was started by nobody.
LATE = timedelta(minutes=30)


@dataclass(frozen=True)
class ScheduleFigures:
    """`next_at` is the earliest check that is planned; `late` sites should have begun half an hour ago."""

    planned: int
    due: int
    late: int
    running: int
    at_once: int
    next_at: datetime | None


def schedule_figures(now: datetime | None = None) -> ScheduleFigures:
    now = now or timezone.now()
    planned = Schedule.objects.filter(next_check_at__isnull=False, site__paused_at=None)
    return ScheduleFigures(
        planned=planned.count(),
        due=due.due_now(now).count(),
        late=due.overdue(now, LATE).count(),
        running=due.running_now(now),
        at_once=settings.SCHEDULE_AT_ONCE,
        next_at=planned.aggregate(next=Min("next_check_at"))["next"],
    )


def rhythm_label(rhythm: str) -> str:
    """In words; where the site follows the installation, what that says."""
    label = Rhythm(rhythm_of(rhythm)).label
    return label if rhythm else f"{label} (as the installation)"
