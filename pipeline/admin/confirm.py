"""Acts in the admin: offered to those who may, confirmed on a page that says what will happen, recorded."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from pipeline.admin.base import TitledAdmin
from pipeline.flow import Refused
from pipeline.operations import bulk
from pipeline.operations.bulk import Target
from pipeline.operations.interventions import ActOutcome, Operator
from pipeline.permissions import OPERATE
from pipeline.queue.sending import QueueUnavailable

SHOWN = 8


@dataclass(frozen=True)
class Act:
    """Something a person may do: what it is called, what it promises, when it fits, and what it is done to.

    What it does is found by its name in `pipeline.operations.bulk`, unless it does it `here` and at once.
    """

    name: str
    label: str
    promise: str
    targets: Callable[[QuerySet[Any]], Iterable[Target]] = lambda chosen: ()
    preview: Callable[[QuerySet[Any]], Iterable[str]] = lambda chosen: ()
    # Whether it makes sense for one object as it stands; what is asked is `ActingAdmin.standing_of` of it.
    fits: Callable[[Any], bool] = lambda standing: True
    needs_reason: bool = False
    danger: bool = False
    here: Callable[[QuerySet[Any], Operator], ActOutcome] | None = None


class ActingAdmin(TitledAdmin):
    """Acts on many rows from the list, on one from its page; both by way of the confirmation."""

    acts: tuple[Act, ...] = ()

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        if not request.user.has_perm(OPERATE):
            return {}
        return {act.name: (partial(_confirm, act=act), act.name, act.label) for act in self.acts}

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_act"
        view = self.admin_site.admin_view(self.act_view)
        return [path("<path:object_id>/act/<slug:name>/", view, name=name), *super().get_urls()]

    def acts_on(self, obj: Any, request: HttpRequest) -> list[tuple[Act, str]]:
        """The acts that fit this object, with their addresses."""
        if not request.user.has_perm(OPERATE):
            return []
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_act"
        standing = self.standing_of(obj)
        return [(act, reverse(name, args=[obj.pk, act.name])) for act in self.acts if act.fits(standing)]

    def standing_of(self, obj: Any) -> Any:
        """What an act must know of the object to say whether it fits."""
        return obj

    def act_view(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        act = next((act for act in self.acts if act.name == name), None)
        obj = self.get_object(request, unquote(object_id))
        if act is None or obj is None:
            raise Http404
        chosen = self.model._default_manager.filter(pk=obj.pk)
        back = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[obj.pk])
        return _confirm(self, request, chosen, act=act, back=back) or redirect(back)

    def page_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        return {**super().page_context(request, obj), "acts": self.acts_on(obj, request)}


def _confirm(
    model_admin: ActingAdmin, request: HttpRequest, chosen: QuerySet[Any], *, act: Act, back: str = ""
) -> HttpResponse | None:
    if not request.user.has_perm(OPERATE):
        raise PermissionDenied
    reason = request.POST.get("reason", "").strip()
    if request.POST.get("confirmed") and (reason or not act.needs_reason):
        return _apply(request, act, chosen, reason)
    count = chosen.count()
    context = {
        **model_admin.admin_site.each_context(request),
        "title": f"{act.label}?",
        "act": act,
        "opts": model_admin.opts,
        "count": count,
        "shown": list(chosen[:SHOWN]),
        "more": max(count - SHOWN, 0),
        "preview": list(act.preview(chosen)),
        "in_background": count > bulk.AT_ONCE,
        "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
        "select_across": request.POST.get("select_across", "0"),
        "missing_reason": bool(request.POST.get("confirmed")),
        "back": back or request.get_full_path(),
    }
    return TemplateResponse(request, "admin/pipeline/confirm.html", context)


def _apply(request: HttpRequest, act: Act, chosen: QuerySet[Any], reason: str) -> HttpResponse | None:
    """A few at once; many by a job, whose page shows how far it is."""
    operator = Operator(request.user.get_username(), reason)
    try:
        if act.here is not None:
            _report(request, act, act.here(chosen, operator))
            return None
        targets = list(act.targets(chosen))
        if len(targets) > bulk.AT_ONCE:
            begun = bulk.begin(act.name, act.label, targets, operator)
            return redirect("admin:pipeline_bulkact_change", begun.pk)
        _report(request, act, bulk.at_once(act.name, targets, operator))
    except (Refused, QueueUnavailable) as error:
        messages.error(request, str(error))
    return None


def _report(request: HttpRequest, act: Act, outcome: ActOutcome) -> None:
    if outcome.done:
        messages.success(request, f"{act.label}: done for {len(outcome.done):,}.")
    for _, why in outcome.refused[:SHOWN]:
        messages.warning(request, why)
    if len(outcome.refused) > SHOWN:
        messages.warning(request, f"… and {len(outcome.refused) - SHOWN:,} more were refused.")
    if outcome.error:
        return messages.error(request, f"{outcome.error} ({outcome.left:,} left)")
    if not outcome.done and not outcome.refused and not outcome.left:
        messages.info(request, f"{act.label}: there was nothing to do.")
