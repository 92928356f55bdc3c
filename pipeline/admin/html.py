"""Small pieces of HTML that say the same thing the same way on every page: badges, bars, times."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from pipeline.models import Run, Silence, SourceState, Status
from pipeline.reports import wording
from pipeline.reports.schedule import rhythm_label
from pipeline.stages.documents import stable_id
from records.published import database_of, opened
from sites.models import Document, Site
from sites.stages import WORK_STAGES, Progress, Stage

TONES = {
    Status.PENDING: "quiet",
    Status.IN_PROGRESS: "busy",
    Status.PROCESSED: "good",
    Status.FAILED_RETRYABLE: "warn",
    Status.FAILED_TERMINAL: "bad",
    Run.Status.RUNNING: "busy",
    Run.Status.COMPLETED: "good",
    Run.Status.FAILED: "bad",
    Run.Status.CANCELLED: "quiet",
    Run.Status.SUPERSEDED: "quiet",
    "finished": "good",
    "stopped": "warn",
    "refused": "warn",
    "warning": "warn",
    "error": "bad",
    "processing": "busy",
    "skipped": "quiet",
    "recovered": "good",
    "delivered": "good",
    "given up": "bad",
}
NOTHING = mark_safe('<span class="quiet">-</span>')
BAR, GAP, HEIGHT = 26, 3, 8


def badge(text: object, tone: str = "") -> SafeString:
    key = str(text)
    return format_html(
        '<span class="badge {}">{}</span>',
        tone or TONES.get(key, "quiet"),
        wording.STATUS_WORDS.get(key, key),
    )


def ago(moment: datetime | None) -> SafeString:
    if moment is None:
        return NOTHING
    local = timezone.localtime(moment)
    exact = f"{local:%Y-%m-%d %H:%M:%S %Z}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat(), exact, wording.ago(moment)
    )


def stage_bars(site: Site) -> SafeString:
    """Five small bars, one per stage: how much of this run is done, and how much of that failed."""
    progress = [(stage, site.progress(stage)) for stage in WORK_STAGES]
    words = (
        "; ".join(_stage_words(stage, part) for stage, part in progress if part.total) or "no work counted"
    )
    bars = format_html_join(
        "",
        "{}",
        ((_stage_bar(number * (BAR + GAP), part),) for number, (_, part) in enumerate(progress)),
    )
    width = len(WORK_STAGES) * (BAR + GAP) - GAP
    return format_html(
        '<svg class="stages" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">'
        "<title>{}</title>{}</svg>",
        words,
        width,
        HEIGHT,
        width,
        HEIGHT,
        words,
        bars,
    )


def _stage_bar(x: int, part: Progress) -> SafeString:
    done = BAR * min(part.done / part.total, 1) if part.total else 0
    failed = min(max(BAR * part.failed / part.total, 2), done) if part.total and part.failed else 0
    return format_html(
        "{}{}{}",
        _rect("track", x, BAR, HEIGHT, 2),
        _rect("done", x, done, HEIGHT, 2),
        _rect("failed", x + done - failed, failed, HEIGHT, 2),
    )


def _rect(name: str, x: float, width: float, height: float, radius: float = 0, y: float = 0) -> SafeString:
    return format_html(
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="{}"/>',
        name,
        f"{x:.1f}",
        y,
        f"{width:.1f}",
        height,
        radius,
    )


def _stage_words(stage: Stage, part: Progress) -> str:
    failed = f", {part.failed} failed" if part.failed else ""
    return f"{stage} {part.done} of {part.total}{failed}"


def meter(share: float, failed: float = 0.0, label: str = "") -> SafeString:
    """One bar over the whole width of its cell; `share` and `failed` are of 1."""
    done = 100 * min(max(share, 0.0), 1.0)
    broken = min(100 * failed, done) if failed else 0.0
    if failed and broken < 1:
        broken = min(1.0, done)
    return format_html(
        '<svg class="meter" {} viewBox="0 0 100 8" preserveAspectRatio="none">{}{}{}</svg>',
        format_html('role="img" aria-label="{}"', label) if label else mark_safe('aria-hidden="true"'),
        _rect("track", 0, 100, 8),
        _rect("done", 0, done, 8),
        _rect("failed", done - broken, broken, 8),
    )


def day_bars(counts: Sequence[int]) -> SafeString:
    """A bar a day, the last one today."""
    most, total, days = max(counts, default=0), sum(counts), len(counts)
    words = f"{wording.plural(total, 'time', 'times')} in {days} days"
    bars = (
        (_rect("failed", day * 7, 5, round(20 * count / most) or 1, 0, 20 - (round(20 * count / most) or 1)),)
        for day, count in enumerate(counts)
        if count
    )
    return format_html(
        '<svg class="days" role="img" aria-label="{}" width="{}" height="20"><title>{}</title>{}{}</svg>',
        words,
        days * 7,
        words,
        _rect("track", 0, days * 7, 1, 0, 19),
        format_html_join("", "{}", bars),
    )


def site_state(site: Site, failed: bool = False) -> SafeString:
    """Where the site stands: its stage, and what is unusual about it."""
    stage = site.current_stage
    parts = [
        badge(stage or "never run", "good" if stage == Stage.COMPLETED else "busy" if stage else "quiet")
    ]
    if _may_miss_things(site):
        parts.append(badge("source silent", "warn"))
    if site.paused_at:
        why = f"{site.pause_reason}, " if site.pause_reason else ""
        parts.append(badge("paused", "warn"))
        parts.append(format_html('<span class="quiet">{}{}</span>', why, ago(site.paused_at)))
    if site.attention_reason:
        parts.append(badge("needs a person", "bad"))
    if failed:
        parts.append(badge("failed", "bad"))
    elif site.is_stuck and not site.paused_at:
        parts.append(badge("stuck", "bad"))
    return joined(parts)


def next_check(site: Site) -> SafeString:
    """When the schedule comes to the site, by which rhythm, and why it did not start it the last time."""
    schedule = getattr(site, "schedule", None)
    if schedule is None:
        return format_html('<span class="quiet">{}</span>', "not planned yet")
    if site.paused_at:
        when = format_html('<span class="quiet">{}</span>', "when it is resumed")
    elif schedule.next_check_at is None:
        when = format_html('<span class="quiet">{}</span>', "never by itself")
    else:
        when = (
            ago(schedule.next_check_at)
            if schedule.next_check_at > timezone.now()
            else badge("due now", "busy")
        )
    note = (
        format_html('<br><small class="quiet">passed over: {}</small>', schedule.note)
        if schedule.note
        else ""
    )
    return format_html('{}<br><small class="quiet">{}</small>{}', when, rhythm_label(schedule.rhythm), note)


def _may_miss_things(site: Site) -> bool:
    """Lists have asked for all their sites at once."""
    asked: bool | None = getattr(site, "is_silent", None)
    if asked is not None:
        return asked
    states = SourceState.objects.filter(source__site=site, source__enabled=True)
    return states.filter(state__in=Silence.amber()).exists()


def run_badge(run: Run) -> SafeString:
    """How the run went; one that ended with nothing, or over a silent source, is no plain success."""
    plain = run.message in ("", "completed") or run.message.startswith("completed;")
    if run.status == Run.Status.COMPLETED and not plain:
        return badge("completed, but", "warn")
    return badge(run.status)


def joined(parts: Iterable[SafeString]) -> SafeString:
    return format_html_join(" ", "{}", ((part,) for part in parts))


def site_link(site_id: str | None) -> SafeString:
    if not site_id:
        return NOTHING
    return format_html('<a href="{}">{}</a>', reverse("admin:sites_site_change", args=[site_id]), site_id)


def site_in_records(site_id: str) -> SafeString:
    if database_of(site_id) is None:
        return format_html('<span class="quiet">{}</span>', "nothing is published yet")
    return format_html('<a href="{}">Read its records</a>', reverse("records:site", args=[site_id]))


def document_in_records(document: Document) -> SafeString:
    """A link to where readers read it, when it is published."""
    published_id = stable_id(document)
    with opened(document.site_id) as records:
        if records is None or records.document(published_id) is None:
            return format_html('<span class="quiet">{}</span>', "not published")
    address = reverse("records:document", args=[document.site_id, published_id])
    return format_html('<a href="{}">Read it as readers do</a>', address)
