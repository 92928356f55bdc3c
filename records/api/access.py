"""Who may use the API and how much: everyone where the records are public, whoever has a token elsewhere."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja.errors import HttpError
from ninja.security import HttpBearer

from pipeline.permissions import LOOK
from records.access import is_public, is_staff, may_read
from records.limits import address_of, count, seconds_left
from records.models import ApiToken


class TooMany(HttpError):
    """`wait` is how many seconds until the next minute."""

    def __init__(self, most: int) -> None:
        self.wait = seconds_left()
        super().__init__(429, f"More than {most} requests in a minute. Please wait {self.wait} seconds.")


class Reader(HttpBearer):
    """`Authorization: Bearer <token>`. Without one: where the records are public, and for staff."""

    openapi_name = "Token"

    def __call__(self, request: HttpRequest) -> Any:
        if request.headers.get("Authorization"):
            return super().__call__(request)
        if not may_read(request):
            return None
        if not is_staff(request):
            allow(address_of(request), settings.RECORDS_API_PER_MINUTE)
        return "reader"

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        found = ApiToken.objects.active(token)
        if found is not None and found.owner and not (is_public() or found.owner.has_perm(LOOK)):
            return None
        if found is not None:
            allow(f"token {found.pk}", found.per_minute)
            ApiToken.objects.note_use(found)
        return found


def allow(who: str, most: int) -> None:
    """Refuses what is too much in this minute."""
    if most and count("api", who) > most:
        raise TooMany(most)
