"""What jobs wrote: the last lines on the pages of runs and failures, all of them in a list to search."""

import json
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pipeline.admin import html
from pipeline.admin.base import ReadOnly, TitledAdmin
from pipeline.models import LogLine

SHOWN = 30


def shown(**of: Any) -> dict[str, Any]:
    """For a page: the latest lines, and where the others are."""
    query = urlencode({f"{name}__exact": value for name, value in of.items()})
    return {
        "log_lines": list(LogLine.objects.filter(**of)[:SHOWN]),
        "log_url": f"{reverse('admin:pipeline_logline_changelist')}?{query}",
        "log_days": settings.LOG_DAYS,
    }


@admin.register(LogLine)
class LogLineAdmin(ReadOnly, TitledAdmin):
    list_display = ("when", "state", "stage", "event", "told", "of_run")
    list_display_links = None
    list_filter = ("level", "stage")
    search_fields = ("event", "fields", "job_id")
    search_help_text = "Words of a line or of what it tells, or a job"
    list_per_page = 100

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        return lookup in ("run_id__exact", "row_id__exact") or super().lookup_allowed(lookup, value, request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[LogLine]:
        return super().get_queryset(request).select_related("run")

    @admin.display(description="when", ordering="id")
    def when(self, line: LogLine) -> SafeString:
        return html.ago(line.at)

    @admin.display(description="level", ordering="level")
    def state(self, line: LogLine) -> SafeString:
        return html.badge(line.level)

    @admin.display(description="what it tells")
    def told(self, line: LogLine) -> SafeString:
        return format_html(
            '<small class="quiet">{}</small>', json.dumps(line.fields, ensure_ascii=False)[:600]
        )

    @admin.display(description="run", ordering="run")
    def of_run(self, line: LogLine) -> SafeString:
        address = reverse("admin:pipeline_run_change", args=[line.run_id])
        return format_html('<a href="{}">#{} {}</a>', address, line.run_id, line.run.site_id)
