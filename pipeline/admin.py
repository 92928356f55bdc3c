"""Runs, the ledger, repairs and interventions in the admin: to read, and to act on; never to edit."""

import json
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.db import models
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pipeline import acts, failures, marks
from pipeline.confirmation import Act, ActingAdmin
from pipeline.failures import title_of
from pipeline.models import (
    WITHOUT_TEXT,
    DocumentState,
    Intervention,
    ReconcileRun,
    Run,
    RunStage,
    Status,
    Webhook,
    WebhookDelivery,
)
from pipeline.pages import ReadOnly, SearchedBySite, TitledAdmin
from sites.models import Document

admin.site.site_header = "Clerk"
admin.site.site_title = "Clerk"
admin.site.index_title = "Everything"
admin.site.site_url = None
admin.site.enable_nav_sidebar = False


def site_link(site_id: str | None) -> SafeString:
    if not site_id:
        return marks.NOTHING
    return format_html('<a href="{}">{}</a>', reverse("admin:sites_site_change", args=[site_id]), site_id)


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

    @admin.display(description="run", ordering="id")
    def number(self, run: Run) -> str:
        return f"#{run.pk}"

    @admin.display(description="site", ordering="site")
    def site_name(self, run: Run) -> SafeString:
        return site_link(run.site_id)

    @admin.display(description="status", ordering="status")
    def how(self, run: Run) -> SafeString:
        return marks.badge(run.status)

    @admin.display(description="priority", ordering="priority")
    def rank(self, run: Run) -> str:
        return str(run.get_priority_display())

    @admin.display(description="started", ordering="started_at")
    def started(self, run: Run) -> SafeString:
        return marks.ago(run.started_at)

    @admin.display(description="took")
    def took(self, run: Run) -> str:
        if run.finished_at is None:
            return "-"
        return marks.duration((run.finished_at - run.started_at).total_seconds())


# Of each kind, by a search for words. Who has more is better served by a filter.
MOST_FOUND = 1_000


class ErrorCodeFilter(admin.SimpleListFilter):
    """The codes there are, with their counts, from the index of what failed."""

    title = "error code"
    parameter_name = "code"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        counts: dict[str, int] = {}
        for group in failures.errors_by_code(limit=None):
            counts[group.code] = counts.get(group.code, 0) + group.count
        return [(code, f"{code} ({count:,})") for code, count in sorted(counts.items())]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return (
            queryset.filter(error_code=self.value(), status__in=failures.FAILED) if self.value() else queryset
        )


class TextFilter(admin.SimpleListFilter):
    """Documents that OCR is done with and that have no text all the same."""

    title = "text"
    parameter_name = "text"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [("none", "processed without text")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(WITHOUT_TEXT) if self.value() == "none" else queryset


@admin.register(DocumentState)
class LedgerAdmin(ReadOnly, SearchedBySite, ActingAdmin):
    list_display = ("what", "stage", "state", "why", "tried")
    list_display_links = ("what",)
    list_filter = ("status", "pipeline", ErrorCodeFilter, TextFilter)
    search_fields = ("document__title", "error_message")
    search_help_text = "A site's exact name, or words of a title or of an error"
    list_select_related = ("document",)
    ordering = ("-updated_at",)
    acts = acts.LEDGER_ACTS
    fieldsets = (
        ("What happened", {"fields": ("state", "code", "error_message", "tried")}),
        ("Of what", {"fields": ("site_name", "document_name", "unit", "pipeline", "of_run")}),
        ("Reported by the work", {"fields": ("facts_shown", "processed_at")}),
        (
            "For debugging",
            {
                "classes": ("collapse",),
                "fields": ("rq_job_id", "enqueue_seq", "delivery", "retried", "intervention", "updated_at"),
            },
        ),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return flatten_fieldsets(self.fieldsets)

    def fits(self, act: Act, obj: DocumentState) -> bool:
        return acts.fits_row(act, obj)

    def search_words(
        self, request: HttpRequest, queryset: QuerySet[Any], words: str
    ) -> tuple[QuerySet[Any], bool]:
        """Titles among documents, errors among failures; then the rows by their keys, not by a scan."""
        if not words:
            return queryset, False
        titled = Document.objects.filter(title__icontains=words).values_list("pk", flat=True)
        failed = DocumentState.objects.filter(status__in=failures.FAILED, error_message__icontains=words)
        found = Q(document__in=list(titled.order_by("-pk")[:MOST_FOUND]))
        found |= Q(pk__in=list(failed.order_by().values_list("pk", flat=True)[:MOST_FOUND]))
        return queryset.filter(found), False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        failed = request.GET.get("status__exact") == Status.FAILED_TERMINAL or "code" in request.GET
        context = {"title": "Failures" if failed else "Ledger", "error_groups": failures.errors_by_code()}
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def title_of(self, obj: DocumentState) -> str:
        return f"{obj.site_id}: {title_of(obj)} @ {obj.pipeline}"

    @admin.display(description="document")
    def what(self, row: DocumentState) -> SafeString:
        return format_html('{}<br><small class="quiet">{}</small>', title_of(row), row.site_id)

    @admin.display(description="stage", ordering="pipeline")
    def stage(self, row: DocumentState) -> str:
        return row.pipeline

    @admin.display(description="site", ordering="site")
    def site_name(self, row: DocumentState) -> SafeString:
        return site_link(row.site_id)

    @admin.display(description="document")
    def document_name(self, row: DocumentState) -> SafeString:
        if row.document is None:
            return marks.NOTHING
        address = reverse("admin:sites_document_change", args=[row.document_id])
        return format_html('<a href="{}">{}</a>', address, row.document)

    @admin.display(description="run")
    def of_run(self, row: DocumentState) -> SafeString:
        if row.run_id is None:
            return marks.NOTHING
        return format_html(
            '<a href="{}">#{}</a>', reverse("admin:pipeline_run_change", args=[row.run_id]), row.run_id
        )

    @admin.display(description="status", ordering="status")
    def state(self, row: DocumentState) -> SafeString:
        again = format_html(", again {}", marks.ago(row.retry_at)) if row.retry_at else ""
        return format_html(
            '{}<br><small class="quiet">attempt {}/{}{}</small>',
            marks.badge(row.status),
            row.attempt_count,
            row.max_attempts,
            again,
        )

    @admin.display(description="error code", ordering="error_code")
    def code(self, row: DocumentState) -> SafeString:
        return format_html("<code>{}</code>", row.error_code) if row.error_code else marks.NOTHING

    @admin.display(description="why", ordering="error_code")
    def why(self, row: DocumentState) -> SafeString:
        if not row.error_code:
            return marks.NOTHING
        message = row.error_message or ""
        cut = message if len(message) <= 120 else f"{message[:119]}…"
        return format_html('<code>{}</code><br><small class="quiet">{}</small>', row.error_code, cut)

    @admin.display(description="last tried", ordering="last_attempt_at")
    def tried(self, row: DocumentState) -> SafeString:
        return marks.ago(row.last_attempt_at)

    @admin.display(description="facts")
    def facts_shown(self, row: DocumentState) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(row.facts, indent=2)) if row.facts else marks.NOTHING


@admin.register(ReconcileRun)
class ReconcileRunAdmin(ReadOnly, TitledAdmin):
    list_display = ("started", "found", "recovered", "given_up", "took", "error")
    fields = ("started_at", "finished_at", "took", "found", "recovered", "given_up", "error", "did")
    readonly_fields = fields

    @admin.display(description="started", ordering="started_at")
    def started(self, run: ReconcileRun) -> SafeString:
        return marks.ago(run.started_at)

    @admin.display(description="took")
    def took(self, run: ReconcileRun) -> str:
        if run.finished_at is None:
            return "not finished"
        return marks.duration((run.finished_at - run.started_at).total_seconds())

    @admin.display(description="repairs")
    def did(self, run: ReconcileRun) -> SafeString:
        lines = (
            format_html(
                "<li>{} {} {}: {}</li>",
                site_link(repair.get("site_id")),
                marks.badge(repair.get("outcome", "")),
                repair.get("stage", ""),
                repair.get("action", ""),
            )
            for repair in run.repairs
        )
        return format_html('<ul class="plain">{}</ul>', marks.joined(lines)) if run.repairs else marks.NOTHING


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
        return marks.badge("unstuck it", "warn") if act.unstuck else marks.NOTHING

    @admin.display(description="when", ordering="at")
    def when(self, act: Intervention) -> SafeString:
        return marks.ago(act.at)

    @admin.display(description="site", ordering="site")
    def site_name(self, act: Intervention) -> SafeString:
        return site_link(act.site_id)


@admin.register(Webhook)
class WebhookAdmin(TitledAdmin):
    list_display = ("url", "site", "events", "enabled")
    list_filter = ("enabled",)
    search_fields = ("url", "=site__subdomain")
    raw_id_fields = ("site",)
    fields = ("url", "site", "events", "secret", "enabled")
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnly, TitledAdmin):
    list_display = ("created", "event", "run", "webhook", "status", "attempts", "answer")
    list_filter = ("status", "event")
    search_fields = ("webhook__url", "=run__site__subdomain")
    list_select_related = ("webhook", "run")
    fields = (
        "created_at",
        "event",
        "run",
        "webhook",
        "status",
        "attempts",
        "answer",
        "last_attempt_at",
        "next_attempt_at",
        "delivered_at",
        "payload",
    )
    readonly_fields = fields

    @admin.display(description="created", ordering="created_at")
    def created(self, delivery: WebhookDelivery) -> SafeString:
        return marks.ago(delivery.created_at)
