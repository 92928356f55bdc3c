"""Who may read the records: everyone where the operator says so, else those who may look at the pipeline."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.cache import patch_cache_control

from pipeline.permissions import LOOK

PUBLIC_SECONDS = 60

View = Callable[..., HttpResponseBase]


def is_public() -> bool:
    return bool(settings.RECORDS_PUBLIC)


def is_staff(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_staff


def may_read(request: HttpRequest) -> bool:
    return is_public() or (is_staff(request) and request.user.has_perm(LOOK))


def readers(view: View) -> View:
    """For those who may read. Whoever may not learns nothing, not even whether there is such a page."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if may_read(request):
            return _with_cache_headers(request, view(request, *args, **kwargs))
        if is_staff(request):
            raise PermissionDenied
        return redirect_to_login(request.get_full_path(), reverse("admin:login"))

    return wrapper


def _with_cache_headers(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """A page for everyone may be kept by whoever stands in front; one for staff by nobody else."""
    if not response.has_header("Cache-Control"):
        if is_public() and request.user.is_anonymous:
            patch_cache_control(response, public=True, max_age=PUBLIC_SECONDS)
        else:
            patch_cache_control(response, private=True, no_cache=True)
    return response
