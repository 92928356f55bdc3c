"""What readers leave, and what people decided: notes, tokens, saved searches, corrections, takedowns."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pipeline.admin import html
from pipeline.admin.base import ReadOnly, TitledAdmin
from pipeline.admin.confirm import Act, ActingAdmin
from pipeline.admin.html import site_link
from pipeline.models import Correction, Takedown
from pipeline.operations.interventions import ActOutcome, Operator
from records import notes
from records.models import Alert, ApiToken, Note, SavedSearch


def _settle(chosen: QuerySet[Any], operator: Operator) -> ActOutcome:
    return ActOutcome(tuple(notes.settle(chosen, operator.by, operator.reason)), ())


def _revoke(chosen: QuerySet[Any], operator: Operator) -> ActOutcome:
    return ActOutcome(tuple(ApiToken.objects.revoke(*chosen.values_list("pk", flat=True))), ())


class OpenFilter(admin.SimpleListFilter):
    title = "settled"
    parameter_name = "settled"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [("no", "open"), ("yes", "settled")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        return queryset.filter(settled_at__isnull=self.value() == "no")


@admin.register(Note)
class NoteAdmin(ReadOnly, ActingAdmin):
    list_display = ("about", "text", "where", "site_name", "left", "settled_by")
    list_filter = (OpenFilter, "about")
    search_fields = ("text", "=site__subdomain")
    acts = (
        Act(
            "settle",
            "Settle",
            "It is closed, with what you did about it.",
            here=_settle,
            needs_reason=True,
            fits=lambda note: note.settled_at is None,
        ),
    )
    fields = ("about", "text", "where", "its_document", "site_name", "email", "at", "answer", "settled_by")
    readonly_fields = fields

    @admin.display(description="page")
    def where(self, note: Note) -> SafeString:
        address = reverse("records:page", args=[note.site_id, note.published_id, note.page])
        return format_html('<a href="{}">page {}</a>', address, note.page)

    @admin.display(description="document")
    def its_document(self, note: Note) -> SafeString:
        if note.document is None:
            return html.NOTHING
        address = reverse("admin:sites_document_change", args=[note.document.pk])
        return format_html('<a href="{}">{}</a>', address, note.document)

    @admin.display(description="site")
    def site_name(self, note: Note) -> SafeString:
        return site_link(note.site_id)

    @admin.display(description="left", ordering="at")
    def left(self, note: Note) -> SafeString:
        return html.ago(note.at)


@admin.register(ApiToken)
class ApiTokenAdmin(ActingAdmin):
    list_display = ("name", "owner", "per_minute", "created_by", "created_at", "last_used_at", "revoked_at")
    fields = ("name", "owner", "per_minute")
    list_select_related = ("owner",)
    change_form_template = "admin/pipeline/acting_form.html"
    acts = (
        Act(
            "revoke",
            "Revoke",
            "Whoever uses it is refused from now on.",
            here=_revoke,
            danger=True,
            fits=lambda token: token.revoked_at is None,
        ),
    )

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:
        if change:
            return super().save_model(request, obj, form, change)
        by = request.user.get_username()
        token, secret = ApiToken.objects.issue(obj.name, by, obj.per_minute, obj.owner)
        obj.pk = token.pk
        messages.warning(request, f"Its secret, shown only now: {secret}")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # revoked, so that who had one stays known


@admin.register(SavedSearch)
class SavedSearchAdmin(ReadOnly, TitledAdmin):
    list_display = ("query", "email", "frequency", "confirmed_at", "ended_at")
    list_filter = ("frequency",)
    search_fields = ("email", "query")


@admin.register(Alert)
class AlertAdmin(ReadOnly, TitledAdmin):
    list_display = ("created_at", "search", "total", "status", "attempts", "answer")
    list_filter = ("status",)
    list_select_related = ("search",)


@admin.register(Correction)
class CorrectionAdmin(ReadOnly, TitledAdmin):
    list_display = ("external_id", "site", "meeting_date", "body", "kind", "by", "reason", "at")
    search_fields = ("external_id", "=site__subdomain")


@admin.register(Takedown)
class TakedownAdmin(ReadOnly, TitledAdmin):
    list_display = ("external_id", "site", "reason", "by", "at", "lifted_by", "lifted_at")
    search_fields = ("external_id", "=site__subdomain")
