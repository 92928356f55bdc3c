"""Sites and their sources: who they are can be edited, where they stand cannot."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pipeline.admin import actions, add_site, html, scheduling
from pipeline.admin.base import SearchedBySite, TitledAdmin
from pipeline.admin.confirm import Act, ActingAdmin
from pipeline.admin.html import site_link
from pipeline.models import DocumentState, Retirement, Run, Silence, SourceState
from pipeline.reports.overview import still_sites
from pipeline.reports.site import report_on
from pipeline.reports.sites import failed_sites
from pipeline.work.fetch.registry import fetchers
from sites.models import Site, Source
from sites.stages import WORK_STAGES

# Of every run, as the list that the number opens has them; counted for the sites that are shown.
FAILURES = Coalesce(
    Subquery(
        DocumentState.objects.failures()
        .filter(site=OuterRef("pk"))
        .order_by()
        .values("site")
        .annotate(count=Count("*"))
        .values("count")
    ),
    0,
)


class ConditionFilter(admin.SimpleListFilter):
    """What an operator looks for first."""

    title = "condition"
    parameter_name = "condition"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [
            ("attention", "needs a person"),
            ("failed", "cannot pass its stage"),
            ("stuck", "stuck for two hours"),
            ("silent", "source silent"),
            ("still", "stands still, for whatever reason"),
            ("failures", "with failed documents"),
            ("running", "running"),
            ("paused", "paused"),
            ("never", "never run"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        running = Run.objects.running().filter(site=OuterRef("pk"))
        match self.value():
            case "attention":
                return queryset.exclude(attention_reason="")
            case "failed":
                return queryset.filter(pk__in=failed_sites().values("pk"))
            case "still":
                return queryset.filter(pk__in=still_sites().values("pk"))
            case "stuck":
                return queryset.filter(pk__in=Site.objects.stuck().values("pk"))
            case "silent":
                silent = SourceState.objects.filter(state__in=Silence.amber(), source__enabled=True)
                return queryset.filter(pk__in=silent.values("source__site_id"))
            case "failures":
                return queryset.filter(pk__in=DocumentState.objects.failures().order_by().values("site"))
            case "running":
                return queryset.filter(Exists(running))
            case "paused":
                return queryset.filter(paused_at__isnull=False)
            case "never":
                return queryset.filter(current_stage=None)
        return queryset


def platforms() -> list[tuple[str, str]]:
    return sorted(((name, fetcher.label) for name, fetcher in fetchers().items()), key=lambda pair: pair[1])


class SourceForm(forms.ModelForm):
    """The platform from a list; one that is installed no more stays where it is."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known, mine = platforms(), self.instance.platform
        if mine and mine not in dict(known):
            known.append((mine, f"{mine} (not installed)"))
        self.fields["platform"] = forms.ChoiceField(choices=[("", "---------"), *known])

    class Meta:
        model = Source
        fields = ("site", "platform", "url", "options", "enabled")
        widgets = {
            "url": forms.URLInput(attrs={"size": 44}),
            "options": forms.Textarea(attrs={"rows": 2, "cols": 26}),
        }


class SourceInline(admin.StackedInline):
    model = Source
    form = SourceForm
    fields = (("platform", "url", "enabled"), ("options", "listed", "warning"))
    readonly_fields = ("listed", "warning")
    extra = 0
    show_change_link = True

    @admin.display(description="last listed")
    def listed(self, source: Source) -> SafeString:
        if source.last_listed_at is None:
            return html.NOTHING
        return format_html("{}, {} documents", html.ago(source.last_listed_at), source.last_count)


@admin.register(Site)
class SiteAdmin(ActingAdmin):
    list_display = ("site", "stands", "progress", "failures", "in_stage", "last_success", "next_check")
    list_filter = (ConditionFilter, "current_stage", "state", "kind")
    search_fields = ("subdomain", "name")
    search_help_text = "Part of a name"
    inlines = [SourceInline]
    acts = (*actions.SITE_ACTS, *scheduling.RHYTHM_ACTS)
    change_form_template = "admin/sites/site/change_form.html"
    formfield_overrides = {models.TextField: {"widget": forms.Textarea(attrs={"rows": 2, "cols": 60})}}
    fieldsets = (
        (
            "Who it is",
            {"fields": (("key", "records"), ("name", "kind"), ("state", "country"), ("lat", "lng"))},
        ),
        ("How it is read", {"fields": (("start_year", "languages", "time_zone"), "scraper", "extra")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Site]:
        failed = Run.objects.filter(pk=OuterRef("run_id"), status=Run.Status.FAILED)
        sites = super().get_queryset(request).select_related("schedule")
        silent = SourceState.objects.filter(source__site=OuterRef("pk"), source__enabled=True)
        silent = silent.filter(state__in=Silence.amber())
        return sites.annotate(has_failed=Exists(failed), is_silent=Exists(silent), failures_now=FAILURES)

    def get_readonly_fields(self, request: HttpRequest, obj: Site | None = None) -> tuple[str, ...]:
        return ("key", "records") if obj else ("records",)

    def get_fieldsets(self, request: HttpRequest, obj: Site | None = None) -> Any:
        """A key is typed once, and is shown from then on."""
        (title, who), *others = super().get_fieldsets(request, obj)
        first = ("key" if obj else "subdomain", "records")
        return [(title, {**who, "fields": (first, *who["fields"][1:])}), *others]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name == "subdomain":
            field.label = "Key"
        return field

    def get_urls(self) -> list[URLPattern]:
        live = self.admin_site.admin_view(self.live_view)
        look = self.admin_site.admin_view(self.look_view)
        return [
            path("add/look/<int:pk>/", look, name="sites_site_look"),
            path("<path:object_id>/live/", live, name="sites_site_live"),
            *super().get_urls(),
        ]

    def look_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """What the page of a new site shows while a job looks at its address."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return add_site.live(request, pk)

    def standing_of(self, obj: Site) -> actions.SiteStanding:
        return actions.SiteStanding(
            obj,
            running=Run.objects.running().filter(site=obj).exists(),
            retired=Retirement.objects.active()
            .filter(subdomain=obj.pk)
            .values_list("what", flat=True)
            .first()
            or "",
            failed=DocumentState.objects.failed().filter(site=obj, pipeline__in=WORK_STAGES).exists(),
        )

    def acts_on(self, obj: Site, request: HttpRequest) -> list[tuple[Act, str]]:
        offered = super().acts_on(obj, request)
        return sorted(offered, key=lambda offer: offer[0].name not in actions.FIRST_AID)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """From an address, unless somebody wants to type it all."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if "by_hand" in request.GET:
            return super().add_view(request, form_url, {"title": "Add site", **(extra_context or {})})
        return add_site.page(request, {**self.admin_site.each_context(request), "title": "Add site"})

    def page_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        report = {"report": report_on(obj), "show_save_and_add_another": False}
        return {**super().page_context(request, obj), **report}

    def save_model(self, request: HttpRequest, obj: Site, form: Any, change: bool) -> None:
        # Only what was edited: a whole save would put the counters back to when the page was opened.
        obj.save(update_fields=form.changed_data if change else None)

    def title_of(self, obj: Site) -> str:
        return f"{obj.name} ({obj.pk})" if obj.name and obj.name != obj.pk else obj.pk

    def live_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The part of the page that moves while a run does."""
        site = self.get_object(request, object_id)
        if site is None or not self.has_view_permission(request, site):
            raise Http404
        context = {"report": report_on(site), "acts": self.acts_on(site, request)}
        return render(request, "pipeline/_site.html", context)

    @admin.display(description="key")
    def key(self, site: Site) -> str:
        return site.pk

    @admin.display(description="records")
    def records(self, site: Site) -> SafeString:
        return html.site_in_records(site.pk) if site.pk else html.NOTHING

    @admin.display(description="site", ordering="subdomain")
    def site(self, site: Site) -> SafeString:
        return format_html('{}<br><small class="quiet">{}</small>', site.pk, site.name or "")

    @admin.display(description="where it stands", ordering="current_stage")
    def stands(self, site: Any) -> SafeString:
        return html.site_state(site, site.has_failed)

    @admin.display(description="progress of the run")
    def progress(self, site: Site) -> SafeString:
        return html.stage_bars(site)

    @admin.display(description="failures", ordering="failures_now")
    def failures(self, site: Any) -> SafeString:
        if not site.failures_now:
            return html.NOTHING
        address = reverse("admin:pipeline_documentstate_changelist")
        return format_html(
            '<a class="bad" href="{}?q={}&amp;standing=failed">{}</a>',
            address,
            site.pk,
            intcomma(site.failures_now),
        )

    @admin.display(description="in stage since", ordering="started_at")
    def in_stage(self, site: Site) -> SafeString:
        return html.ago(site.started_at if site.current_stage else None)

    @admin.display(description="last success", ordering="last_completed_at")
    def last_success(self, site: Site) -> SafeString:
        return html.ago(site.last_completed_at)

    @admin.display(description="next check", ordering="schedule__next_check_at")
    def next_check(self, site: Site) -> SafeString:
        return html.next_check(site)


@admin.register(Source)
class SourceAdmin(SearchedBySite, TitledAdmin):
    list_display = ("url", "site_name", "platform", "enabled", "listed", "last_count", "warning")
    list_filter = ("enabled", "platform", ("warning", admin.EmptyFieldListFilter))
    search_fields = ("url",)
    search_help_text = "A site's exact name, or part of an address"
    form = SourceForm
    autocomplete_fields = ("site",)
    readonly_fields = ("cursor", "last_listed_at", "last_count", "warning", "created_at")

    def title_of(self, obj: Source) -> str:
        return str(obj)

    @admin.display(description="site", ordering="site")
    def site_name(self, source: Source) -> SafeString:
        return site_link(source.site_id)

    @admin.display(description="last listed", ordering="last_listed_at")
    def listed(self, source: Source) -> SafeString:
        return html.ago(source.last_listed_at)
