"""What monitors ask for: health as JSON, the badge, and the figures."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from pipeline.monitoring import metrics
from pipeline.monitoring.access import monitors
from pipeline.monitoring.badge import badge
from pipeline.queue import inspection
from pipeline.reports import health, machine
from pipeline.reports.health import Level
from pipeline.reports.scrape import read_scrape
from pipeline.reports.sites import site_totals


@require_safe
@monitors
def health_json(request: HttpRequest) -> JsonResponse:
    """What `manage.py health --json` says. 503 when it is unhealthy, for monitors that read no JSON."""
    totals = site_totals()
    found = [*health.checks(totals, inspection.read_workforce()), *machine.checks()]
    level = health.worst(found)
    return JsonResponse(
        {"version": settings.CLERK_VERSION, **health.as_json(found, totals.health)},
        status=503 if level is Level.UNHEALTHY else 200,
        json_dumps_params={"indent": 2},
    )


@require_safe
def badge_svg(request: HttpRequest) -> HttpResponse:
    if settings.STATUS_BADGE_PUBLIC:
        return _badge(request)
    return monitors(_badge)(request)


def _badge(request: HttpRequest) -> HttpResponse:
    level = health.worst(health.checks(site_totals(), inspection.read_workforce()))
    return HttpResponse(
        badge(level, health.LEVELS[level]),
        content_type="image/svg+xml",
        headers={"Cache-Control": "max-age=60"},
    )


@require_safe
@monitors
def figures(request: HttpRequest) -> HttpResponse:
    body, content_type = metrics.rendered(
        read_scrape(), settings.CLERK_VERSION, request.headers.get("Accept", "")
    )
    return HttpResponse(body, content_type=content_type)
