"""Runs, reconcile runs and interventions: to read, never to edit."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pipeline.admin import html, job_log
from pipeline.admin.base import ReadOnly, SearchedBySite, TitledAdmin
from pipeline.admin.html import site_link
from pipeline.models import (
    Intervention,
    ReconcileRun,
    Run,
    RunStage,
)
from pipeline.reports import wording


class RunStageInline(ReadOnly, admin.TabularInline):
    model = RunStage
    fields = ("stage", "opened_at", "finished_at", "total", "completed", "failed")
    readonly_fields = fields
    extra = 0
    verbose_name_plural = "stages"


@admin.register(Run)
class RunAdmin(ReadOnly, SearchedBySite, TitledAdmin):
    list_display = ("number", "site_name", "how", "rank", "started_by", "started", "took", "message")
    list_filter = ("status", "priority", ("started_at", admin.DateFieldListFilter))
    search_fields = ("started_by",)
    search_help_text = "A site's exact name, or who started it"
    fields = ("site_name", "how", "rank", "started_by", "started_at", "finished_at", "took", "message")
    readonly_fields = fields
    inlines = [RunStageInline]
    change_form_template = "admin/pipeline/run/change_form.html"  # type: ignore[misc]

    def page_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        return {**super().page_context(request, obj), **job_log.shown(run_id=obj.pk)}

    def title_of(self, obj: Run) -> str:
        return f"{obj.site_id}: run #{obj.pk}"

    @admin.display(description="run", ordering="id")
    def number(self, run: Run) -> str:
        return f"#{run.pk}"

    @admin.display(description="site", ordering="site")
    def site_name(self, run: Run) -> SafeString:
        return site_link(run.site_id)

    @admin.display(description="status", ordering="status")
    def how(self, run: Run) -> SafeString:
        return html.run_badge(run)

    @admin.display(description="priority", ordering="priority")
    def rank(self, run: Run) -> str:
        return str(run.get_priority_display())

    @admin.display(description="started", ordering="started_at")
    def started(self, run: Run) -> SafeString:
        return html.ago(run.started_at)

    @admin.display(description="took")
    def took(self, run: Run) -> str:
        if run.finished_at is None:
            return "-"
        return wording.duration((run.finished_at - run.started_at).total_seconds())


@admin.register(ReconcileRun)
class ReconcileRunAdmin(ReadOnly, TitledAdmin):
    list_display = ("started", "found", "recovered", "given_up", "took", "error")
    fields = ("started_at", "finished_at", "took", "found", "recovered", "given_up", "error", "did")
    readonly_fields = fields

    @admin.display(description="started", ordering="started_at")
    def started(self, run: ReconcileRun) -> SafeString:
        return html.ago(run.started_at)

    @admin.display(description="took")
    def took(self, run: ReconcileRun) -> str:
        if run.finished_at is None:
            return "not finished"
        return wording.duration((run.finished_at - run.started_at).total_seconds())

    @admin.display(description="repairs")
    def did(self, run: ReconcileRun) -> SafeString:
        lines = (
            format_html(
                "<li>{} {} {}: {}</li>",
                site_link(repair.get("site_id")),
                html.badge(repair.get("outcome", "")),
                repair.get("stage", ""),
                repair.get("action", ""),
            )
            for repair in run.repairs
        )
        return format_html('<ul class="plain">{}</ul>', html.joined(lines)) if run.repairs else html.NOTHING


@admin.register(Intervention)
class InterventionAdmin(ReadOnly, SearchedBySite, TitledAdmin):
    list_display = ("when", "by", "action", "site_name", "document", "reason", "freed")
    list_filter = ("action", "unstuck", ("at", admin.DateFieldListFilter))
    search_fields = ("by", "reason")
    search_help_text = "A site's exact name, a person, or words of a reason"
    list_select_related = ("document",)
    fields = ("at", "by", "action", "site_name", "document", "reason", "unstuck", "details")
    readonly_fields = fields

    @admin.display(description="unstuck", ordering="unstuck")
    def freed(self, act: Intervention) -> SafeString:
        return html.badge("unstuck it", "warn") if act.unstuck else html.NOTHING

    @admin.display(description="when", ordering="at")
    def when(self, act: Intervention) -> SafeString:
        return html.ago(act.at)

    @admin.display(description="site", ordering="site")
    def site_name(self, act: Intervention) -> SafeString:
        return site_link(act.site_id)
