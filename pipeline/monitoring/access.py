"""Who may read the figures: staff who may look, whoever has the token, and the networks that are named."""

import ipaddress
import secrets
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from pipeline.permissions import LOOK

View = Callable[..., HttpResponse]


def monitors(view: View) -> View:
    """A monitor that may not is told so in one line; it has no use for a login page."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if _has_token(request) or _is_near(request) or _may_look(request):
            response = view(request, *args, **kwargs)
            response.headers.setdefault("Cache-Control", "no-store")
            return response
        return HttpResponse(
            "Send the token of MONITORING_TOKEN as `Authorization: Bearer`, ask from one of "
            "MONITORING_NETWORKS, or log in.\n",
            status=401,
            content_type="text/plain; charset=utf-8",
            headers={"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"},
        )

    return wrapper


def _has_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    wanted = settings.MONITORING_TOKEN
    if not wanted or scheme.lower() != "bearer":
        return False
    return secrets.compare_digest(token.strip().encode(), wanted.encode())


def _is_near(request: HttpRequest) -> bool:
    """Behind our own proxy the asker is the last address it names; anybody may write those before."""
    address = str(request.META.get("REMOTE_ADDR", ""))
    if settings.BEHIND_TLS_PROXY:
        address = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    try:
        asker = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(asker in network for network in settings.MONITORING_NETWORKS)


def _may_look(request: HttpRequest) -> bool:
    user = request.user
    return user.is_active and user.is_staff and user.has_perm(LOOK)
