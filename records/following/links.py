"""Links in mails. They are signed: who has one may do what it says, and nobody can make one up."""

from django.conf import settings
from django.core import signing
from django.urls import reverse

CONFIRM_SECONDS = 7 * 24 * 60 * 60
CONFIRM, STOP, MANAGE = "confirm", "stop", "manage"


def absolute(path: str) -> str:
    return f"{settings.PUBLIC_URL}{path}"


def to_confirm(search_id: int) -> str:
    return absolute(reverse("records:confirm", args=[_signed(search_id, CONFIRM)]))


def to_stop(search_id: int) -> str:
    return absolute(reverse("records:stop", args=[_signed(search_id, STOP)]))


def to_manage(email: str) -> str:
    return absolute(reverse("records:followed", args=[_signed(email, MANAGE)]))


def search_to_confirm(token: str) -> int | None:
    return _number(_told(token, CONFIRM, CONFIRM_SECONDS))


def search_to_stop(token: str) -> int | None:
    """Without a time limit: whoever finds an old mail may end it."""
    return _number(_told(token, STOP))


def address_to_manage(token: str) -> str | None:
    told = _told(token, MANAGE)
    return told if isinstance(told, str) else None


def _signed(value: object, purpose: str) -> str:
    return signing.dumps(value, salt=_salt(purpose))


def _told(token: str, purpose: str, seconds: int | None = None) -> object:
    try:
        told: object = signing.loads(token, salt=_salt(purpose), max_age=seconds)
    except signing.BadSignature:
        return None
    return told


def _number(told: object) -> int | None:
    return told if isinstance(told, int) else None


def _salt(purpose: str) -> str:
    return f"records.following.{purpose}"
