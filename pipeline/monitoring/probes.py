"""`/healthz` and `/readyz`: answered before hosts, sessions or redirects are looked at.

A probe asks by an address that is in no ALLOWED_HOSTS, and over plain HTTP.
"""

import time
from collections.abc import Callable

import django_rq
import structlog
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from redis.exceptions import RedisError

from pipeline.redaction import redact
from pipeline.reports import machine
from pipeline.reports.health import Level

log = structlog.get_logger()
# Everybody may ask, so what is looked at is remembered for a moment.
KEPT_SECONDS = 5.0
GetResponse = Callable[[HttpRequest], HttpResponse]


class Probes:
    """Middleware, the first of all."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response
        self._answer: tuple[float, dict[str, str]] = (0.0, {})

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path == "/healthz":
            return HttpResponse("ok\n", content_type="text/plain", headers={"Cache-Control": "no-store"})
        if request.path == "/readyz":
            return self._ready()
        return self._get_response(request)

    def _ready(self) -> HttpResponse:
        """What is wrong goes to the log; whoever asks learns only which part it is."""
        at, faults = self._answer
        if time.monotonic() - at > KEPT_SECONDS:
            faults = find_faults()
            self._answer = (time.monotonic(), faults)
            if faults:
                log.warning("not ready", **faults)
        parts = {part: "failed" if part in faults else "ok" for part in PARTS}
        return JsonResponse(
            {"ready": not faults, "checks": parts},
            status=503 if faults else 200,
            headers={"Cache-Control": "no-store"},
        )


PARTS = ("database", "redis", "migrations", "storage")


def find_faults() -> dict[str, str]:
    """By part. Without a database nobody knows of its migrations."""
    found = {}
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        migrations = machine.migrations()
        if migrations.level is not Level.OK:
            found["migrations"] = migrations.message
    except (DatabaseError, InterfaceError) as error:
        connection.close()
        found["database"] = found["migrations"] = redact(f"{type(error).__name__}: {error}")
    try:
        django_rq.get_connection("high").ping()
    except RedisError as error:
        found["redis"] = redact(str(error))
    storage = machine.storage()
    if storage.level is not Level.OK:
        found["storage"] = storage.message
    return found
