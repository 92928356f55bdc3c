"""Acts on many that a job works off: how far each is, what was refused, and the button that stops it."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString

from pipeline.admin import html
from pipeline.admin.base import ReadOnly, TitledAdmin
from pipeline.models import BulkAct, BulkItem
from pipeline.operations import bulk
from pipeline.operations.bulk import EVERYTHING, Target
from pipeline.operations.interventions import Operator
from pipeline.permissions import OPERATE
from pipeline.queue import inspection
from pipeline.queue.sending import COORDINATOR_QUEUE, QueueUnavailable

REFUSED_SHOWN = 50


def page_of(act: BulkAct) -> str:
    return reverse("admin:pipeline_bulkact_change", args=[act.pk])


@admin.register(BulkAct)
class BulkActAdmin(ReadOnly, TitledAdmin):
    list_display = ("what", "state", "total", "by", "began", "reason")
    list_filter = ("status", "act")
    search_fields = ("by", "reason")
    search_help_text = "A person, or words of a reason"
    fields = ()
    change_form_template = "admin/pipeline/bulkact/change_form.html"  # type: ignore[misc]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("repair/", view(self.repair_view), name="pipeline_bulkact_repair"),
            path("<int:pk>/live/", view(self.live_view), name="pipeline_bulkact_live"),
            path("<int:pk>/stop/", view(self.stop_view), name="pipeline_bulkact_stop"),
            path("<int:pk>/go-on/", view(self.go_on_view), name="pipeline_bulkact_go_on"),
            *super().get_urls(),
        ]

    def page_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        return {
            **super().page_context(request, obj),
            **standing(obj),
            "may_act": request.user.has_perm(OPERATE),
        }

    def title_of(self, obj: BulkAct) -> str:
        return obj.label

    def live_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        act = self.get_object(request, str(pk))
        if act is None or not self.has_view_permission(request, act):
            raise Http404
        context = {**standing(act), "original": act, "may_act": request.user.has_perm(OPERATE)}
        return render(request, "pipeline/_bulk.html", context)

    def stop_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        _only_post(request)
        if bulk.stop(pk):
            messages.success(request, "Stopped. What was done stays done; what waits is left alone.")
        return redirect("admin:pipeline_bulkact_change", pk)

    def go_on_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        _only_post(request)
        try:
            bulk.go_on(pk)
        except QueueUnavailable as error:
            messages.error(request, str(error))
        return redirect("admin:pipeline_bulkact_change", pk)

    def repair_view(self, request: HttpRequest) -> HttpResponse:
        """What reconcile does, now and in the background."""
        _only_post(request)
        operator = Operator(request.user.get_username(), "Repair now")
        try:
            act = bulk.begin("repair", "Repair now", [Target(EVERYTHING)], operator)
        except QueueUnavailable as error:
            messages.error(request, str(error))
            return redirect("dashboard")
        return redirect(page_of(act))

    @admin.display(description="act", ordering="label")
    def what(self, act: BulkAct) -> str:
        return act.label

    @admin.display(description="status", ordering="status")
    def state(self, act: BulkAct) -> SafeString:
        return html.badge(act.status)

    @admin.display(description="began", ordering="began_at")
    def began(self, act: BulkAct) -> SafeString:
        return html.ago(act.began_at)


def _only_post(request: HttpRequest) -> None:
    if not request.user.has_perm(OPERATE):
        raise PermissionDenied
    if request.method != "POST":
        raise Http404(HttpResponseNotAllowed(["POST"]).reason_phrase)


def standing(act: BulkAct) -> dict[str, Any]:
    """How far it is, and why it does not move where it does not."""
    found = bulk.counts(act)
    ended = found[BulkItem.Status.DONE] + found[BulkItem.Status.REFUSED]
    refused = act.items.filter(status=BulkItem.Status.REFUSED)
    running = act.status == BulkAct.Status.RUNNING
    force = inspection.read_workforce() if running else None
    return {
        "bulk": act,
        "counts": found,
        "ended": ended,
        "share": ended / act.total if act.total else 1.0,
        "failed_share": found[BulkItem.Status.REFUSED] / act.total if act.total else 0.0,
        "refused": list(refused[:REFUSED_SHOWN]),
        "no_worker": force is not None and not force.queue(COORDINATOR_QUEUE).workers,
    }
