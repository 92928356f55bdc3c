"""What the pages of the admin have in common: plain titles, nothing to edit, and lists too long to count."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property
from django.utils.text import capfirst

from sites.models import Site

MOST = 10_000


class BoundedPaginator(Paginator):
    """Counts no further than `MOST`. Beyond that a filter or a search is the way, not the 400th page."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[:MOST].count())


class ReadOnly:
    """What the pipeline writes, people only read. Nobody edits it, so it has no history of edits."""

    change_form_template: Any = "admin/pipeline/acting_form.html"

    def has_add_permission(self, *arguments: Any) -> bool:
        return False

    def has_change_permission(self, *arguments: Any) -> bool:
        return False

    def has_delete_permission(self, *arguments: Any) -> bool:
        return False


class SearchedBySite:
    """A site's exact name finds its rows by their index. Only what is no site is looked for as words."""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        name = search_term.strip()
        if name and Site.objects.filter(pk=name).exists():
            return queryset.filter(site_id=name), False
        return self.search_words(request, queryset, name)

    def search_words(
        self, request: HttpRequest, queryset: QuerySet[Any], words: str
    ) -> tuple[QuerySet[Any], bool]:
        return super().get_search_results(request, queryset, words)  # type: ignore[misc]


class TitledAdmin(admin.ModelAdmin):
    """A list is called by what it lists, and a page by what it is about."""

    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        title = capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        obj = self.get_object(request, unquote(object_id))
        context = self.page_context(request, obj) if obj is not None else {}
        return super().change_view(request, object_id, form_url, {**context, **(extra_context or {})})

    def page_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        """What the template of one object's page needs beside the object."""
        return {"title": self.title_of(obj), "subtitle": None}

    def title_of(self, obj: Any) -> str:
        return capfirst(str(obj))
