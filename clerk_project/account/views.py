"""The pages of one's own account."""

from typing import Any

import django_otp
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from clerk_project.account import two_factor
from records.models import ApiToken

TOKENS_PER_PERSON = 20
PER_MINUTE = 600


def _page(request: HttpRequest, template: str, title: str, **context: Any) -> HttpResponse:
    return render(request, template, {**admin.site.each_context(request), "title": title, **context})


@never_cache
@login_required
def home(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    return _page(
        request,
        "account/home.html",
        "Your account",
        tokens=ApiToken.objects.filter(owner=user, revoked_at=None),
        two_factor=settings.TWO_FACTOR,
        has_second_factor=django_otp.user_has_device(user),
        groups=user.groups.all(),
    )


# ---- Tokens -------------------------------------------------------------------------------------------


@require_POST
@login_required
def make_token(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    name = request.POST.get("name", "").strip()[:100]
    mine = ApiToken.objects.filter(owner=user, revoked_at=None)
    if not name:
        messages.error(request, "Say what the token is for.")
    elif mine.count() >= TOKENS_PER_PERSON:
        messages.error(request, "You have many tokens already; revoke one first.")
    else:
        _, secret = ApiToken.objects.issue(name, user.get_username(), PER_MINUTE, owner=user)
        messages.warning(request, f"Your new token, shown only now: {secret}")
    return redirect("account:home")


@require_POST
@login_required
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=pk, owner=request.user)
    ApiToken.objects.revoke(token.pk)
    messages.success(request, f"{token.name} is revoked.")
    return redirect("account:home")


# ---- The second factor --------------------------------------------------------------------------------


@never_cache
@login_required
def set_up(request: HttpRequest) -> HttpResponse:
    """Shows the key, and the recovery codes once the app's first code was right."""
    user: Any = request.user
    if settings.TWO_FACTOR == two_factor.OFF or django_otp.user_has_device(user):
        return redirect("account:home")
    device = two_factor.prepared(user)
    if request.method == "POST":
        if device.verify_token(_code(request)):
            codes = two_factor.confirm(device)
            django_otp.login(request, device)
            return _page(request, "account/recovery_codes.html", "Your recovery codes", codes=codes)
        messages.error(request, "That is not the code the app shows now.")
    return _page(
        request,
        "account/two_factor.html",
        "Set up the second factor",
        picture=two_factor.picture(device),
        key=two_factor.key_of(device),
        required=settings.TWO_FACTOR == two_factor.REQUIRED,
    )


@never_cache
@login_required
def enter_code(request: HttpRequest) -> HttpResponse:
    """Behind the password. Wrong codes are answered slower and slower, by the device itself."""
    user: Any = request.user
    if request.method == "POST":
        device = django_otp.match_token(user, _code(request))
        if device is not None:
            django_otp.login(request, device)
            return redirect(_next(request))
        messages.error(request, "That code is not right, or was used before. After several wrong ones, wait.")
    return _page(request, "account/code.html", "The code of your second factor", next=_next(request))


@require_POST
@login_required
def remove_second_factor(request: HttpRequest) -> HttpResponse:
    """Only from a session that has shown it: the middleware lets no other one here."""
    user: Any = request.user
    two_factor.remove(user)
    messages.success(request, "The second factor is removed.")
    return redirect("account:home")


def _code(request: HttpRequest) -> str:
    return request.POST.get("code", "").replace(" ", "")[:40]


def _next(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    hosts, secure = {request.get_host()}, request.is_secure()
    if url_has_allowed_host_and_scheme(wanted, allowed_hosts=hosts, require_https=secure):
        return wanted
    return reverse("dashboard")


# ---- Invited ------------------------------------------------------------------------------------------


class ChoosePassword(PasswordResetConfirmView):
    """Where an invitation leads. The link works once, and for PASSWORD_RESET_TIMEOUT."""

    template_name = "account/choose_password.html"
    success_url = reverse_lazy("admin:login")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {
            **admin.site.each_context(self.request),
            **super().get_context_data(**kwargs),
            "title": "Choose a password",
        }

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, "Your password is set. Log in with your mail address.")
        return super().form_valid(form)
