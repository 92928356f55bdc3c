"""The dashboard page."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from csp.constants import UNSAFE_INLINE
from csp.decorators import csp_update
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from redis.exceptions import RedisError

from pipeline.dashboard import charts
from pipeline.permissions import LOOK, OPERATE
from pipeline.queue import inspection
from pipeline.redaction import redact
from pipeline.reports.dashboard import Board, read_board
from pipeline.reports.health import Check, Level
from pipeline.reports.wording import plural

View = Callable[..., HttpResponse]


def staff(view: View) -> View:
    """Those who may look. A page that refreshes itself is sent to the login as a whole."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not (request.user.is_active and request.user.is_staff):
            if getattr(request, "htmx", False):
                return HttpResponse(status=204, headers={"HX-Refresh": "true"})
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        if not request.user.has_perm(LOOK):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return wrapper


# django-rq's templates have their scripts between the tags of a page.
scripted: Any = csp_update({"script-src": [UNSAFE_INLINE]})


def no_redis(request: HttpRequest, error: RedisError) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        "title": "The queue cannot be reached",
        "error": redact(str(error)),
    }
    return render(request, "pipeline/no_redis.html", context, status=503)


def queue_page(view: View) -> View:
    """The queue's own pages: to look for those who may look, to act for those who may act."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method not in ("GET", "HEAD") and not request.user.has_perm(OPERATE):
            raise PermissionDenied
        try:
            return staff(view)(request, *args, **kwargs)
        except RedisError as error:
            return no_redis(request, error)

    page: View = scripted(wrapper)
    return page


@never_cache
@staff
def dashboard(request: HttpRequest) -> HttpResponse:
    found = read_board()
    context = {
        "board": found,
        "needs": needs(found),
        "ring": charts.ring(found.overview.score.percent),
        "chart": charts.hour_chart(found.hours),
        "steps": first_steps(found),
        "spans": charts.spans(found.overview.steps),
    }
    if getattr(request, "htmx", False):
        return render(request, "pipeline/_dashboard.html", context)
    page = {**admin.site.each_context(request), "title": "Dashboard", **context}
    return render(request, "pipeline/dashboard.html", page)


@never_cache
@staff
def help_workers(request: HttpRequest) -> HttpResponse:
    """How to start workers, and which queues have none."""
    force = inspection.read_workforce()
    context = {
        **admin.site.each_context(request),
        "title": "Start workers",
        "force": force,
        "unserved": [queue for queue in force.queues if not queue.workers],
        "folder": settings.BASE_DIR,
    }
    return render(request, "pipeline/help_workers.html", context)


@dataclass(frozen=True)
class FirstStep:
    """One of the three things that a new installation needs; it ticks itself."""

    title: str
    words: str
    done: bool
    url: str = ""
    button: str = ""


def first_steps(found: Board) -> list[FirstStep]:
    """Until the first run has completed."""
    sites, force = found.overview.sites, found.overview.force
    if found.has_records:
        return []
    served = force.reachable and all(queue.workers for queue in force.queues)
    return [
        FirstStep(
            "Start the workers",
            "They fetch, read and publish. Every queue needs at least one.",
            served,
            reverse("help_workers"),
            "How to start them",
        ),
        FirstStep(
            "Add your first city",
            "From the address of its agendas and minutes; what is found is shown before anything is saved.",
            bool(sites.total),
            reverse("admin:sites_site_add"),
            "Add a city",
        ),
        FirstStep(
            "Run it",
            "Its documents are fetched, read and made searchable. You can watch, or leave.",
            False,
            reverse("admin:sites_site_changelist") if sites.total else "",
            "Look at the first run" if sites.running else "Start its first run",
        ),
    ]


@dataclass(frozen=True)
class Need:
    """Something that a person should know of or do, and where."""

    tone: str
    message: str
    command: str
    url: str
    # What a button does about it: `repair` at once, `workers` explains.
    act: str = ""


# Where each check is looked at: an address of the admin, and its filter.
PLACES = {
    "stuck": ("admin:sites_site_changelist", "condition=stuck"),
    "attention": ("admin:sites_site_changelist", "condition=attention"),
    "failed": ("admin:sites_site_changelist", "condition=failed"),
    "paused": ("admin:sites_site_changelist", "condition=paused"),
    "failures": ("admin:pipeline_documentstate_changelist", "standing=failed"),
    "sources": ("admin:sites_source_changelist", "warning__isempty=0"),
    "reconcile": ("admin:pipeline_reconcilerun_changelist", ""),
    "workers": ("django_rq:home", ""),
    "schedule": ("admin:pipeline_schedule_changelist", ""),
    "silent": ("admin:sites_site_changelist", "condition=silent"),
    "channels": ("admin:pipeline_channel_changelist", ""),
    "scheduler": ("django_rq:home", ""),
}
# The command that a check names, as a button.
ACTS = {"reconcile": "repair", "workers": "workers", "retry_failed --dry-run": "failures"}
TONES = {Level.UNHEALTHY: "bad", Level.DEGRADED: "warn", Level.NOTE: "quiet"}


def needs(found: Board) -> list[Need]:
    """The worst first; a failed document is no alarm, but somebody may want to look."""
    checks = sorted((check for check in found.overview.checks if check.level), key=lambda check: -check.level)
    # The score says in percent what the number of stuck sites says already.
    wanted = [_need(check) for check in checks if check.name != "score"]
    failed = found.overview.failure_count
    if failed:
        words = plural(failed, "failure", "failures")
        wanted.append(_need(Check("failures", Level.NOTE, words, "retry_failed --dry-run")))
    return wanted


def _need(check: Check) -> Need:
    name, query = PLACES.get(check.name, ("", ""))
    url = f"{reverse(name)}{'?' if query else ''}{query}" if name else ""
    return Need(TONES[check.level], check.message, check.command, url, ACTS.get(check.command, ""))
