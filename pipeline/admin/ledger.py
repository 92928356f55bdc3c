"""The ledger: what happened to each document in each stage, grouped by error."""

import json
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pipeline.admin import actions, html, job_log
from pipeline.admin.base import MOST, ReadOnly, SearchedBySite
from pipeline.admin.confirm import ActingAdmin
from pipeline.admin.html import site_link
from pipeline.error_codes import explained
from pipeline.models import (
    LEFT_OUT,
    WITHOUT_TEXT,
    DocumentState,
    ErrorGroup,
    Status,
)
from pipeline.reports import failures, wording
from pipeline.reports.failures import title_of
from pipeline.reports.next_step import next_step
from sites.models import Document

# Of each kind, by a search for words. Who has more is better served by a filter.
MOST_FOUND = 1_000


# What an address says of a status where it is not the status itself.
STANDINGS: dict[str, str] = {Status.FAILED_TERMINAL: "failed", Status.FAILED_RETRYABLE: "retry"}


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
            queryset.filter(error_code=self.value(), status__in=Status.FAILED).exclude(LEFT_OUT)
            if self.value()
            else queryset
        )


class StandingFilter(admin.SimpleListFilter):
    """The statuses in the words of the badges; what is skipped on purpose is no failure."""

    title = "status"
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [(STANDINGS.get(status, status), word) for status, word in wording.STATUS_WORDS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case None:
                return queryset
            case "failed":
                return queryset.filter(status=Status.FAILED_TERMINAL).exclude(LEFT_OUT)
            case "skipped":
                return queryset.filter(LEFT_OUT, status=Status.FAILED_TERMINAL)
            case "retry":
                return queryset.filter(status=Status.FAILED_RETRYABLE)
        return queryset.filter(status=self.value())


class GroupFilter(admin.SimpleListFilter):
    """Rows of one error group, by its address; nothing is shown to choose from."""

    title = "error group"
    parameter_name = "group"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        chosen = request.GET.get(self.parameter_name)
        group = ErrorGroup.objects.filter(pk=chosen).first() if chosen else None
        return [(group.pk, str(group))] if group else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return (
            queryset.filter(error_group=self.value(), status__in=Status.FAILED) if self.value() else queryset
        )


class TextFilter(admin.SimpleListFilter):
    """Documents that OCR is done with and that have no text all the same."""

    title = "text"
    parameter_name = "text"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [("none", "processed without text")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(WITHOUT_TEXT) if self.value() == "none" else queryset


def _leads_somewhere(url: str) -> bool:
    """The address came from somebody else's page: it is a link only where it leads to one."""
    return url.startswith(("http://", "https://"))


@admin.register(DocumentState)
class LedgerAdmin(ReadOnly, SearchedBySite, ActingAdmin):
    list_display = ("what", "stage", "state", "why", "tried")
    list_display_links = ("what",)
    list_filter = (StandingFilter, "pipeline", ErrorCodeFilter, GroupFilter, TextFilter)
    search_fields = ("document__title", "error_message")
    search_help_text = "A site's exact name, or words of a title or of an error"
    list_select_related = ("document",)
    ordering = ("-updated_at",)
    acts = actions.LEDGER_ACTS
    change_form_template = "admin/pipeline/documentstate/change_form.html"  # type: ignore[misc]
    fieldsets = (
        ("Of what", {"fields": ("site_name", "document_name", "records", "part", "stage", "of_run")}),
        ("What the step reported", {"fields": ("facts_shown", "processed_at")}),
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

    def search_words(
        self, request: HttpRequest, queryset: QuerySet[Any], words: str
    ) -> tuple[QuerySet[Any], bool]:
        """Titles among documents, errors among failures; then the rows by their keys, not by a scan."""
        if not words:
            return queryset, False
        titled = Document.objects.filter(title__icontains=words).values_list("pk", flat=True)
        failed = DocumentState.objects.failed().filter(error_message__icontains=words)
        found = Q(document__in=list(titled.order_by("-pk")[:MOST_FOUND]))
        found |= Q(pk__in=list(failed.order_by().values_list("pk", flat=True)[:MOST_FOUND]))
        return queryset.filter(found), False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        failed = request.GET.get("standing") == "failed" or "code" in request.GET or "group" in request.GET
        context = {
            "title": "Failures" if failed else "Steps of documents",
            "groups": failures.open_groups(),
            "offers_retry": failed,
            "most": MOST,
        }
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def get_urls(self) -> list[URLPattern]:
        live = self.admin_site.admin_view(self.live_view)
        return [path("<int:pk>/live/", live, name="pipeline_documentstate_live"), *super().get_urls()]

    def live_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The part of the page that moves after a retry."""
        row = self.get_object(request, str(pk))
        if row is None or not self.has_view_permission(request, row):
            raise Http404
        return render(request, "pipeline/_failure.html", self.page_context(request, row))

    def page_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        document, status = obj.document, failures.status_of(obj)
        same = DocumentState.objects.failures().filter(error_group=obj.error_group)
        return {
            **super().page_context(request, obj),
            **job_log.shown(row_id=obj.pk),
            "failure_row": obj,
            "status": status,
            "attempts_words": wording.attempts(status, obj.attempt_count, obj.max_attempts, obj.retry_at),
            "known": explained(obj.error_code) if obj.error_code and status != Status.PROCESSED else None,
            "next_step": next_step(obj),
            "is_still": status not in Status.OPEN,
            "city_file": document.url if document and _leads_somewhere(document.url) else "",
            "group_count": same.count() if obj.error_group else 0,
        }

    def title_of(self, obj: DocumentState) -> str:
        return f"{obj.site_id}: {title_of(obj)}, {obj.get_pipeline_display()}"

    @admin.display(description="document")
    def what(self, row: DocumentState) -> SafeString:
        return format_html('{}<br><small class="quiet">{}</small>', title_of(row), row.site_id)

    @admin.display(description="stage", ordering="pipeline")
    def stage(self, row: DocumentState) -> str:
        return row.pipeline

    @admin.display(description="part of the site")
    def part(self, row: DocumentState) -> str:
        return title_of(row) if row.document is None else "-"

    @admin.display(description="records")
    def records(self, row: DocumentState) -> SafeString:
        document = row.document
        return html.document_in_records(document) if document else html.site_in_records(row.site_id)

    @admin.display(description="site", ordering="site")
    def site_name(self, row: DocumentState) -> SafeString:
        return site_link(row.site_id)

    @admin.display(description="document")
    def document_name(self, row: DocumentState) -> SafeString:
        if row.document is None:
            return html.NOTHING
        address = reverse("admin:sites_document_change", args=[row.document_id])
        return format_html('<a href="{}">{}</a>', address, row.document)

    @admin.display(description="run")
    def of_run(self, row: DocumentState) -> SafeString:
        if row.run_id is None:
            return html.NOTHING
        return format_html(
            '<a href="{}">#{}</a>', reverse("admin:pipeline_run_change", args=[row.run_id]), row.run_id
        )

    @admin.display(description="status", ordering="status")
    def state(self, row: DocumentState) -> SafeString:
        status = failures.status_of(row)
        told = wording.attempts(status, row.attempt_count, row.max_attempts, row.retry_at)
        return format_html('{}<br><small class="quiet">{}</small>', html.badge(status), told)

    @admin.display(description="why", ordering="error_code")
    def why(self, row: DocumentState) -> SafeString:
        if not row.error_code:
            return html.NOTHING
        message = row.error_message or ""
        cut = message if len(message) <= 120 else f"{message[:119]}…"
        return format_html('<code>{}</code><br><small class="quiet">{}</small>', row.error_code, cut)

    @admin.display(description="last tried", ordering="last_attempt_at")
    def tried(self, row: DocumentState) -> SafeString:
        return html.ago(row.last_attempt_at)

    @admin.display(description="facts")
    def facts_shown(self, row: DocumentState) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(row.facts, indent=2)) if row.facts else html.NOTHING
