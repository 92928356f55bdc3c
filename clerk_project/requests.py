"""Every request has an id: in every line that is logged for it, and in the answer's X-Request-ID."""

import re
import uuid
from collections.abc import Callable

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse

HEADER = "X-Request-ID"
# Pages of records need nothing of the device.
PERMISSIONS = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"
_SOUND = re.compile(r"[\w.-]{8,64}")
GetResponse = Callable[[HttpRequest], HttpResponse]


class RequestId:
    """Middleware. An id that came with the request is kept where a proxy of ours wrote it."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        told = request.headers.get(HEADER, "") if settings.BEHIND_TLS_PROXY else ""
        request_id = told if _SOUND.fullmatch(told) else uuid.uuid4().hex[:16]
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request=request_id)
        # Not cleared at the end: what Django logs of the answer comes after this.
        response = self._get_response(request)
        response.headers[HEADER] = request_id
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        return response
