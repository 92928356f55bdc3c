"""The second factor: a code from an app, or a printed one. Off, for whoever wants it, or for all."""

import base64
from collections.abc import Callable
from typing import Any

import segno
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django_otp import devices_for_user, user_has_device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

OFF, OPTIONAL, REQUIRED = "off", "optional", "required"
RECOVERY_CODES = 10
GetResponse = Callable[[HttpRequest], HttpResponse]


class SecondFactor:
    """Middleware: whoever has a second factor, or must have one, gets no further without it."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        place = self._place_for(request)
        if place and not _is_open(request.path):
            if getattr(request, "htmx", False):
                return HttpResponse(status=204, headers={"HX-Refresh": "true"})
            return redirect(f"{reverse(place)}?{urlencode({'next': request.get_full_path()})}")
        return self._get_response(request)

    def _place_for(self, request: HttpRequest) -> str:
        user: Any = request.user
        if settings.TWO_FACTOR == OFF or not user.is_authenticated or user.is_verified():
            return ""
        if user_has_device(user):
            return "account:code"
        return "account:two_factor" if settings.TWO_FACTOR == REQUIRED else ""


def _is_open(path: str) -> bool:
    """Those pages themselves, and none below them: the second factor is not removed by who lacks it."""
    pages = map(reverse, ("account:code", "account:two_factor", "admin:logout"))
    return path in pages or path.startswith(f"/{settings.STATIC_URL.lstrip('/')}")


def prepared(user: Any) -> TOTPDevice:
    """A device that counts once its first code was right. One that was begun and left is used again."""
    device, _ = TOTPDevice.objects.get_or_create(user=user, confirmed=False, defaults={"name": "app"})
    return device


def picture(device: TOTPDevice) -> str:
    """The device's key as a picture that an app can read."""
    drawn = segno.make(device.config_url, error="m")
    svg = drawn.svg_inline(scale=5, border=3, light="#fff")
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def key_of(device: TOTPDevice) -> str:
    """For who cannot scan it."""
    return base64.b32encode(device.bin_key).decode().rstrip("=")


def confirm(device: TOTPDevice) -> list[str]:
    """From now on the code is asked for. The recovery codes are shown once."""
    device.confirmed = True
    device.save(update_fields=["confirmed"])
    StaticDevice.objects.filter(user=device.user).delete()
    printed = StaticDevice.objects.create(user=device.user, name="recovery codes", confirmed=True)
    codes = [StaticToken.random_token() for _ in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=printed, token=code) for code in codes)
    return codes


def remove(user: Any) -> None:
    for device in devices_for_user(user, confirmed=None):
        device.delete()
