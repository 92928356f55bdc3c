"""The small pieces for templates."""

from typing import Any

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pipeline.admin import html
from pipeline.models import DocumentState
from pipeline.reports import documents, failures, wording

register = template.Library()
# Jobs whose first argument is a number of something else.
NOT_OF_A_ROW = {"deliver_webhook", "work_off_bulk", "look_at_address"}

register.filter("badge", html.badge)
register.filter("run_badge", html.run_badge)
register.filter("ago", html.ago)
register.filter("status_of", failures.status_of)
register.filter("title_of", failures.title_of)
register.filter("duration", wording.duration)
register.filter("stage_bars", html.stage_bars)
register.filter("document_status", documents.document_status)
register.simple_tag(html.meter)
register.simple_tag(html.site_state)
register.simple_tag(html.next_check)


@register.simple_tag
def ask_whom() -> str:
    """The last sentence of a page that cannot help any further."""
    contact = settings.OPERATOR_CONTACT
    return f"Ask {contact}." if contact else "Ask whoever runs this installation."


@register.simple_tag
def job_subject(job: Any) -> SafeString:
    """The site and the step that a job of the queue is for, by its first argument."""
    arguments = job.args or ()
    row_id = arguments[0] if arguments and isinstance(arguments[0], int) else None
    row = DocumentState.objects.select_related("document").filter(pk=row_id).first() if row_id else None
    if row is not None and (job.func_name or "").rpartition(".")[2] not in NOT_OF_A_ROW:
        address = reverse("admin:pipeline_documentstate_change", args=[row.pk])
        return format_html(
            '{}: <a href="{}">{}</a>', html.site_link(row.site_id), address, failures.title_of(row)
        )
    site_id = arguments[0] if arguments and isinstance(arguments[0], str) else None
    return html.site_link(site_id)


@register.filter
def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1f} %"
