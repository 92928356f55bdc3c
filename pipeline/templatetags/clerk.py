"""The small pieces for templates."""

from django import template

from pipeline.admin import html
from pipeline.reports import failures, wording

register = template.Library()

register.filter("badge", html.badge)
register.filter("ago", html.ago)
register.filter("status_of", failures.status_of)
register.filter("title_of", failures.title_of)
register.filter("duration", wording.duration)
register.filter("stage_bars", html.stage_bars)
register.filter("document_status", html.document_status)
register.simple_tag(html.meter)
register.simple_tag(html.site_state)
register.simple_tag(html.next_check)


@register.filter
def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1f} %"
