"""What stands at `/`: the readers' home where the records are public, else the operators' dashboard."""

from django.http import HttpRequest, HttpResponseBase

from pipeline.dashboard.views import dashboard
from records.access import is_public
from records.views import home


def front(request: HttpRequest) -> HttpResponseBase:
    return home.front(request) if is_public() else dashboard(request)
