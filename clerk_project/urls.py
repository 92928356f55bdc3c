"""Addresses: the records, the dashboard, the admin, and the queue pages."""

from django.conf import settings
from django.contrib import admin
from django.urls import URLPattern, include, path
from django_rq.urls import get_admin_urlpatterns, get_api_urlpatterns

from clerk_project.front import front
from pipeline.dashboard.views import queue_page
from records.api.service import api


def _gated(patterns: list[URLPattern]) -> list[URLPattern]:
    """django-rq asks for staff only; whoever may not look at the pipeline may not look at its queues."""
    for pattern in patterns:
        pattern.callback = queue_page(pattern.callback)
    return patterns


urlpatterns = [
    path("", front, name="front"),
    path("", include("pipeline.dashboard.urls")),
    path("", include("pipeline.monitoring.urls")),
    path("account/", include("clerk_project.account.urls")),
    *([path("oidc/", include("mozilla_django_oidc.urls"))] if settings.OIDC_NAME else []),
    path("admin/", admin.site.urls),
    path("queues/", include((_gated(get_admin_urlpatterns() + get_api_urlpatterns()), "django_rq"))),
    path("api/v1/", api.urls),
    # Last: a site has its home at its own name.
    path("", include("records.urls")),
]

handler400 = "clerk_project.refusals.bad_request"
