"""Documents, each with its steps."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pipeline.admin import actions, correct, files, html, read_again
from pipeline.admin.base import ReadOnly, SearchedBySite
from pipeline.admin.confirm import ActingAdmin
from pipeline.admin.html import site_link
from pipeline.models import DocumentState
from pipeline.reports import documents, failures
from records.files import first_page
from sites.models import Document
from sites.stages import Stage

TEXT_SHOWN = 4000


class LedgerInline(ReadOnly, admin.TabularInline):
    model = DocumentState
    fields = ("stage", "status_shown", "error_code", "error_message", "attempt_count", "last_attempt_at")
    readonly_fields = fields
    extra = 0
    verbose_name_plural = "steps"

    def get_queryset(self, request: HttpRequest) -> QuerySet[DocumentState]:
        return super().get_queryset(request).select_related("document").order_by("created_at", "pk")

    @admin.display(description="step")
    def stage(self, row: DocumentState) -> SafeString:
        address = reverse("admin:pipeline_documentstate_change", args=[row.pk])
        return format_html('<a href="{}">{}</a>', address, row.pipeline)

    @admin.display(description="status")
    def status_shown(self, row: DocumentState) -> SafeString:
        return html.badge(failures.status_of(row))


class SkippedFilter(admin.SimpleListFilter):
    title = "skipped"
    parameter_name = "skipped"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [("yes", "skipped"), ("no", "wanted")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "yes":
            return queryset.filter(documents.LEFT_OUT & ~Q(skip_reason=""))
        return queryset.filter(skip_reason="") if self.value() == "no" else queryset


@admin.register(Document)
class DocumentAdmin(ReadOnly, SearchedBySite, ActingAdmin):
    list_display = ("what", "site_name", "kind", "meeting_date", "overall", "pages", "skip_reason")
    list_display_links = ("what",)
    list_filter = ("kind", SkippedFilter)
    search_fields = ("title", "meeting")
    search_help_text = "A site's exact name, or words of a title or a body"
    ordering = ("-id",)
    inlines = [LedgerInline]
    change_form_template = "admin/sites/document/change_form.html"  # type: ignore[misc]
    acts = actions.DOCUMENT_ACTS
    fieldsets = (
        ("In the records", {"fields": ("reader", "facts_read", "text_read", "readers_notes")}),
        (None, {"fields": ("site_name", "title", "body", "meeting_date", "kind", "overall", "skip_reason")}),
        (
            "The file",
            {"fields": ("link", "path", "content_type", "bytes_long", "pages", "sha256", "fetched_at")},
        ),
        ("Its versions", {"fields": ("source", "external_id", "version", "superseded_at", "created_at")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        return super().get_queryset(request).prefetch_related("ledger")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return flatten_fieldsets(self.fieldsets)

    def title_of(self, obj: Document) -> str:
        return str(obj)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<int:pk>/correct/", view(self.correct_view), name="sites_document_correct"),
            path("<int:pk>/read-again/", view(self.read_again_view), name="sites_document_read_again"),
            path("<int:pk>/file/", view(self.file_view), name="sites_document_file"),
            path("<int:pk>/page-<int:page>.webp", view(self.picture_view), name="sites_document_picture"),
            *super().get_urls(),
        ]

    def file_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return files.file_view(request, pk)

    def picture_view(self, request: HttpRequest, pk: int, page: int) -> HttpResponseBase:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return files.picture_view(request, pk, page)

    def correct_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        document = get_object_or_404(Document.objects.select_related("site"), pk=pk)
        return correct.page(request, document, self.admin_site.each_context(request))

    def read_again_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        document = get_object_or_404(Document.objects.select_related("site", "source"), pk=pk)
        return read_again.page(request, document, self.admin_site.each_context(request))

    @admin.display(description="reader")
    def reader(self, document: Document) -> SafeString:
        return html.document_in_records(document)

    @admin.display(description="facts")
    def facts_read(self, document: Document) -> str:
        """What extraction counted, by kind."""
        row = next((row for row in document.ledger.all() if row.pipeline == Stage.EXTRACTION), None)
        counts = (row.facts or {}).get("counts", {}) if row else {}
        return ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())) or "none"

    @admin.display(description="text of the first page")
    def text_read(self, document: Document) -> SafeString:
        text = first_page(document)
        return format_html('<pre class="page-text">{}</pre>', text[:TEXT_SHOWN]) if text else html.NOTHING

    @admin.display(description="notes of readers")
    def readers_notes(self, document: Document) -> SafeString:
        address = reverse("admin:records_note_changelist")
        open_notes = document.notes.filter(settled_at=None).count()
        words = f"{open_notes} open" if open_notes else "none open"
        return format_html('<a href="{}?document={}">{}</a>', address, document.pk, words)

    @admin.display(description="document")
    def what(self, document: Document) -> SafeString:
        name = document.body or document.meeting
        return format_html('{}<br><small class="quiet">{}</small>', name, document.title)

    @admin.display(description="site", ordering="site")
    def site_name(self, document: Document) -> SafeString:
        return site_link(document.site_id)

    @admin.display(description="status")
    def overall(self, document: Document) -> SafeString:
        return html.badge(documents.document_status(document))

    @admin.display(description="size")
    def bytes_long(self, document: Document) -> str:
        return filesizeformat(document.size) if document.size is not None else "-"

    @admin.display(description="published at")
    def link(self, document: Document) -> SafeString:
        # The address came from somebody else's page: it is a link only where it leads to one.
        if not document.url.startswith(("http://", "https://")):
            return format_html("{}", document.url or "-")
        return format_html('<a href="{}" rel="noreferrer">{}</a>', document.url, document.url)
