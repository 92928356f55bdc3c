"""Rhythms of sites: one by one on their page, many at once from the list of sites or of schedules."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from pipeline.admin import html
from pipeline.admin.base import TitledAdmin
from pipeline.admin.confirm import Act
from pipeline.models import Rhythm, Schedule
from pipeline.operations import scheduling
from pipeline.operations.bulk import Target
from pipeline.operations.interventions import Operator
from pipeline.permissions import OPERATE


def _sites(chosen: QuerySet[Any]) -> Iterable[Target]:
    return (Target(key) for key in chosen.order_by("pk").values_list("pk", flat=True))


def _act(rhythm: Rhythm) -> Act:
    return Act(
        f"rhythm-{rhythm.value or 'default'}",
        f"Check {rhythm.label}" if rhythm != Rhythm.ADAPTIVE else "Check as often as it pays (adaptive)",
        PROMISES.get(rhythm, "The next check of each is planned anew, each at its own time of the period."),
        _sites,
        # On a site's own page its schedule is one link away; here they would be eight buttons.
        fits=lambda standing: False,
    )


PROMISES = {
    Rhythm.DEFAULT: "Each follows SCHEDULE_RHYTHM from now on.",
    Rhythm.MEETINGS: "Daily from three days before a known meeting to two days after it, otherwise weekly.",
    Rhythm.ADAPTIVE: "Every six hours near a known meeting; daily as a rule; every third day after 45 days "
    "without a new document, weekly after 120.",
    Rhythm.NEVER: "No check begins by itself any more; a person can still start each.",
}
RHYTHM_ACTS = tuple(_act(rhythm) for rhythm in Rhythm)


@admin.register(Schedule)
class ScheduleAdmin(TitledAdmin):
    list_display = ("site", "rhythm", "next_check", "last_check", "note")
    list_editable = ("rhythm",)
    list_filter = ("rhythm", "site__state", ("note", admin.EmptyFieldListFilter))
    list_select_related = ("site",)
    search_fields = ("=site__subdomain", "site__name")
    search_help_text = "A site's exact key, or part of its name"
    ordering = ("next_check_at", "site")
    fields = ("site", "rhythm", "next_check", "last_check_at", "note")
    readonly_fields = ("site", "next_check", "last_check_at", "note")
    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.has_perm(OPERATE))

    def save_model(self, request: HttpRequest, obj: Schedule, form: Any, change: bool) -> None:
        """Recorded, and the next check planned by it: not the row as the page had it."""
        operator = Operator(request.user.get_username())
        planned = scheduling.set_rhythm(obj.site_id, obj.rhythm, operator)
        obj.next_check_at, obj.note = planned.next_check_at, planned.note

    @admin.display(description="next check", ordering="next_check_at")
    def next_check(self, schedule: Schedule) -> SafeString:
        return html.next_check(schedule.site)

    @admin.display(description="last check", ordering="last_check_at")
    def last_check(self, schedule: Schedule) -> SafeString:
        return html.ago(schedule.last_check_at)
