"""How much one reader may ask for in a minute, so that a crawler does not take the records from everybody."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import django_rq
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from redis.exceptions import RedisError

from records.access import is_staff

WINDOW_SECONDS = 60
View = Callable[..., HttpResponseBase]


def limited(what: str, setting: str) -> Callable[[View], View]:
    """At most so many requests per minute and address; staff ask as much as they like."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            most = int(getattr(settings, setting))
            if most and not is_staff(request) and count(what, address_of(request)) > most:
                return _too_many()
            return view(request, *args, **kwargs)

        return wrapper

    return decorate


def address_of(request: HttpRequest) -> str:
    """Behind our own proxy the last address it names is the reader's; those before it anybody may write."""
    if settings.BEHIND_TLS_PROXY:
        named = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
        if named:
            return named[:64]
    return str(request.META.get("REMOTE_ADDR", ""))


def count(what: str, who: str) -> int:
    """How often this reader asked in this minute. Without Redis nobody counts, and nobody is refused."""
    key = f"clerk:limit:{what}:{who}:{int(time.time() // WINDOW_SECONDS)}"
    try:
        with django_rq.get_connection("high").pipeline(transaction=False) as pipe:
            pipe.incr(key)
            pipe.expire(key, 2 * WINDOW_SECONDS)
            return int(pipe.execute()[0])
    except RedisError:
        return 0


def seconds_left() -> int:
    """Until the next minute begins."""
    return WINDOW_SECONDS - int(time.time()) % WINDOW_SECONDS


def _too_many() -> HttpResponse:
    wait = seconds_left()
    return HttpResponse(
        f"Too many requests from your address. Please wait {wait} seconds.\n",
        status=429,
        content_type="text/plain; charset=utf-8",
        headers={"Retry-After": str(wait), "Cache-Control": "no-store"},
    )
