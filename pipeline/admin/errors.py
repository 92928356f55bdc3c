"""Errors of one kind as one thing: how often, since when, whose it is; ignored or retried together."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pipeline.admin import actions, html
from pipeline.admin.base import ReadOnly
from pipeline.admin.confirm import ActingAdmin
from pipeline.error_codes import explained
from pipeline.models import DocumentState, ErrorGroup
from pipeline.permissions import OPERATE
from pipeline.reports.failures import FAILED_NOW

DAYS, ROWS_SHOWN = 14, 20


class OpenFilter(admin.SimpleListFilter):
    """Those that somebody should look at, unless others are asked for."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [("over", "over: nothing of it is failed now"), ("ignored", "ignored"), ("all", "all")]

    def choices(self, changelist: Any) -> Any:
        first, *others = super().choices(changelist)
        return [{**first, "display": "open"}, *others]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "all":
                return queryset
            case "ignored":
                return queryset.exclude(ignored_at=None)
            case "over":
                return queryset.filter(ignored_at=None, failed_now=0)
        return queryset.filter(ignored_at=None, failed_now__gt=0)


class DecisionForm(forms.Form):
    assignee = forms.ChoiceField(required=False)
    note = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    ignored = forms.BooleanField(required=False, label="Ignore: leave it out of the open errors")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = get_user_model().objects.filter(is_active=True, is_staff=True).order_by("username")
        people = [(name, name) for name in names.values_list("username", flat=True)]
        self.fields["assignee"].choices = [("", "nobody"), *people]  # type: ignore[attr-defined]


@admin.register(ErrorGroup)
class ErrorGroupAdmin(ReadOnly, ActingAdmin):
    list_display = ("what", "failed", "trend", "seen", "whose")
    list_display_links = ("what",)
    list_filter = (OpenFilter, "stage", "platform")
    search_fields = ("code", "message", "note", "assignee")
    search_help_text = "A code, words of the message or of a note, a person"
    acts = actions.GROUP_ACTS
    fields = ()
    change_form_template = "admin/pipeline/errorgroup/change_form.html"  # type: ignore[misc]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ErrorGroup]:
        # Not the queryset of the admin, which would be sorted by the count before it is there.
        return ErrorGroup.objects.annotate(failed_now=FAILED_NOW).prefetch_related("days")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        return ("-failed_now", "-last_seen")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.decide_view)
        return [path("<slug:pk>/decide/", view, name="pipeline_errorgroup_decide"), *super().get_urls()]

    def decide_view(self, request: HttpRequest, pk: str) -> HttpResponse:
        """Whose it is, what is known of it, and whether to leave it alone."""
        if not request.user.has_perm(OPERATE):
            raise PermissionDenied
        group, form = ErrorGroup.objects.filter(pk=pk).first(), DecisionForm(request.POST)
        if group is None or request.method != "POST" or not form.is_valid():
            raise Http404
        values = form.cleaned_data
        ignored_at = (group.ignored_at or timezone.now()) if values["ignored"] else None
        ErrorGroup.objects.filter(pk=pk).update(
            assignee=values["assignee"], note=values["note"], ignored_at=ignored_at
        )
        messages.success(request, "Kept.")
        return redirect("admin:pipeline_errorgroup_change", pk)

    def page_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        rows = DocumentState.objects.failures().filter(error_group=obj.pk).select_related("document")
        initial = {"assignee": obj.assignee, "note": obj.note, "ignored": obj.ignored_at is not None}
        return {
            **super().page_context(request, obj),
            "known": explained(obj.code),
            "failed_now": obj.failed_now,
            "rows": list(rows.order_by("-updated_at")[:ROWS_SHOWN]),
            "decision": DecisionForm(initial=initial) if request.user.has_perm(OPERATE) else None,
            "trend": _bars(obj, 30),
        }

    def title_of(self, obj: ErrorGroup) -> str:
        return explained(obj.code).meaning

    @admin.display(description="error", ordering="code")
    def what(self, group: ErrorGroup) -> SafeString:
        where = f"{group.stage}{f', {group.platform}' if group.platform else ''}"
        return format_html(
            '{}<br><small class="quiet"><code>{}</code> in {}: {}</small>',
            explained(group.code).meaning,
            group.code,
            where,
            group.message[:160],
        )

    @admin.display(description="failed now", ordering="failed_now")
    def failed(self, group: Any) -> SafeString:
        address = f"{reverse('admin:pipeline_documentstate_changelist')}?group={group.pk}&standing=failed"
        words = f"{group.failed_now:,}"
        return (
            format_html('<a class="bad" href="{}">{}</a>', address, words)
            if group.failed_now
            else html.NOTHING
        )

    @admin.display(description=f"last {DAYS} days")
    def trend(self, group: ErrorGroup) -> SafeString:
        return _bars(group, DAYS)

    @admin.display(description="first and last seen", ordering="last_seen")
    def seen(self, group: ErrorGroup) -> SafeString:
        return format_html("{}<br>{}", html.ago(group.first_seen), html.ago(group.last_seen))

    @admin.display(description="whose", ordering="assignee")
    def whose(self, group: ErrorGroup) -> SafeString:
        ignored = html.badge("ignored") if group.ignored_at else ""
        return (
            format_html("{} {}", group.assignee or "", ignored) if group.assignee or ignored else html.NOTHING
        )


def _bars(group: ErrorGroup, days: int) -> SafeString:
    today = timezone.localdate()
    counts = {day.day: day.count for day in group.days.all()}
    return html.day_bars([counts.get(today - timedelta(days=days - 1 - back), 0) for back in range(days)])
