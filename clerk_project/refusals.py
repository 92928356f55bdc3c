"""What people read who cannot get in because of the settings: over plain HTTP, by an unknown name."""

from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.views.csrf import csrf_failure as djangos_own
from django.views.defaults import bad_request as djangos_bad_request

# Browsers take these for safe and keep cookies that are marked `Secure`.
NEAR = {"localhost", "127.0.0.1", "[::1]"}
COOKIES = (
    "You cannot log in here: this page came over plain HTTP, and Clerk's cookies travel over HTTPS only. "
    "Whoever runs Clerk can put TLS in front (deploy/nginx.conf, deploy/Caddyfile) and set "
    "BEHIND_TLS_PROXY=1, or, on a network of your own, set SECURE_COOKIES=0."
)


def cookies_are_lost(request: HttpRequest) -> bool:
    """The browser will not send back what it is given here."""
    host = request.get_host().rpartition(":")[0] or request.get_host()
    return bool(settings.SESSION_COOKIE_SECURE) and not request.is_secure() and host not in NEAR


def login_warning(request: HttpRequest) -> dict[str, Any]:
    """For the login page, before somebody types a password in vain; for the pages behind it, the version."""
    if request.resolver_match is None or request.resolver_match.url_name != "login":
        return {"clerk_version": settings.CLERK_VERSION}
    return {"login_warning": COOKIES if cookies_are_lost(request) else "", "oidc": settings.OIDC_NAME}


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    if cookies_are_lost(request):
        return HttpResponse(f"{COOKIES}\n", status=403, content_type="text/plain; charset=utf-8")
    return djangos_own(request, reason)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, DisallowedHost):
        return HttpResponse(
            "Clerk is not served under this name. Whoever runs it can add the name to ALLOWED_HOSTS.\n",
            status=400,
            content_type="text/plain; charset=utf-8",
        )
    return djangos_bad_request(request, exception)
