"""The small pieces for templates."""

from django import template

from pipeline import marks

register = template.Library()

register.filter("badge", marks.badge)
register.filter("ago", marks.ago)
register.filter("duration", marks.duration)
register.filter("stage_bars", marks.stage_bars)
register.filter("document_status", marks.document_status)
register.simple_tag(marks.meter)
register.simple_tag(marks.site_state)


@register.filter
def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1f} %"
