"""How a site begins a run, moves on, ends, pauses and goes on."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from pipeline import dispatch, webhooks, workload
from pipeline.errors import Fenced
from pipeline.models import DocumentState, Run, Silence, SourceState, Status
from pipeline.order import STEPS
from pipeline.queue import sending
from pipeline.state import UnknownSite, runs
from pipeline.state.ledger import prepare_rows
from sites.models import Document, Site
from sites.stages import WAVES, Stage, wave_of

NO_PDF = "No PDF was found: the site may have none, or the fetch may have failed"
ALL_LEFT_OUT = "Every document of the site is left out on purpose: there is nothing to be done"
NOT_TAKEN_OVER = "has files in storage that are not taken over yet; run `manage.py adopt_sites` first"


class Refused(Exception):
    """What was asked does not fit where the site stands; nothing was changed."""


# ---- Beginning ----------------------------------------------------------------------------------------


def start(
    site_id: str, *, first: Stage = Stage.FETCH, priority: int = Run.Priority.NORMAL, by: str = ""
) -> Run:
    """Begin a run. A site that runs already is refused: restart it, or wait."""
    with _beginning(site_id) as (site, running):
        if running:
            raise Refused(
                f"{site_id} is in run {running.pk} ({site.current_stage}) already; restart it, or wait"
            )
        return _begin(site, first, priority, by)


def restart(
    site_id: str, *, first: Stage = Stage.FETCH, priority: int = Run.Priority.NORMAL, by: str = ""
) -> Run:
    """Give up the run the site is in, whose jobs can count and write no more, and begin another."""
    with _beginning(site_id) as (site, running):
        if running:
            _abandon(running, Run.Status.SUPERSEDED, f"restarted by {by or 'an operator'}")
        return _begin(site, first, priority, by)


def take_up(site: Site, *, first: Stage, priority: int, by: str) -> Run:
    """A new run for a site that is in none, as it was read: whoever began one since then wins."""
    sending.check()
    with transaction.atomic():
        running = _running(site)
        if running:
            _abandon(running, Run.Status.SUPERSEDED, f"restarted by {by}")
        return _begin(site, first, priority, by)


@contextmanager
def _beginning(site_id: str) -> Iterator[tuple[Site, Run | None]]:
    """One transaction, with the site and the run it is in; refused where Redis would not take the jobs."""
    sending.check()
    with transaction.atomic():
        site = find_site(site_id)
        yield site, _running(site)


def _begin(site: Site, first: Stage, priority: int, by: str) -> Run:
    if site.paused_at:
        raise Refused(f"{site.pk} is paused ({site.pause_reason or 'no reason given'}); resume it first")
    if not site.run_id and not workload.is_taken_over(site.pk):
        raise Refused(f"{site.pk} {NOT_TAKEN_OVER}")
    run = _new_run(site, priority, by)
    try:
        seq = runs.begin(site, run, {stage: workload.work_for(site.pk, stage) for stage in wave_of(first)})
    except Fenced as error:
        raise Refused(str(error)) from error
    transaction.on_commit(lambda: dispatch.deliver(site.pk, run.pk, seq))
    return run


def _new_run(site: Site, priority: int, by: str) -> Run:
    try:
        return Run.objects.create(site=site, priority=priority, started_by=by, started_at=timezone.now())
    except IntegrityError as error:  # a site has one running run
        raise Refused(f"{site.pk}: another run began at the same moment") from error


def cancel(site_id: str, *, by: str = "", reason: str = "") -> Run:
    """End the run where it is. Nothing of it is lost: a later run goes on from what is processed."""
    with transaction.atomic():
        site = find_site(site_id)
        running = _running(site)
        if running is None:
            raise Refused(f"{site_id} is in no run; there is nothing to cancel")
        _abandon(running, Run.Status.CANCELLED, reason or f"cancelled by {by or 'an operator'}")
        runs.leave_pipeline(site)
    return running


def _abandon(run: Run, status: str, message: str) -> None:
    try:
        runs.abandon(run, status, message)
    except Fenced as error:
        raise Refused(f"{run.site_id}: {error}") from error


def pause(site_id: str, *, reason: str = "") -> None:
    find_site(site_id)
    if not runs.pause(site_id, reason):
        raise Refused(f"{site_id} is paused already")


def resume(site_id: str) -> None:
    """Go on: whatever was skipped while the site stood still is queued again."""
    sending.check()
    with transaction.atomic():
        running = _running(find_site(site_id))
        if running:
            runs.renew_rows(site_id, running.pk)
        if not runs.resume(site_id):
            raise Refused(f"{site_id} is not paused")
        if running:
            seq = runs.renew_coordinator(site_id, running.pk)
            transaction.on_commit(lambda: dispatch.deliver(site_id, running.pk, seq))


def find_site(site_id: str) -> Site:
    try:
        return Site.objects.get(pk=site_id)
    except Site.DoesNotExist:
        raise UnknownSite(f"there is no site {site_id!r}") from None


def _running(site: Site) -> Run | None:
    return Run.objects.running().filter(site=site).first()


# ---- Moving on ----------------------------------------------------------------------------------------


def advance(site_id: str, run_id: int) -> None:
    """The coordinator: move the site to its next wave or its end. It writes only state, and only once."""
    _prepare(site_id, run_id)
    with transaction.atomic():
        site = Site.objects.get(pk=site_id)
        # Claimed when it is read: the wave is over then, and what is decided from its rows cannot change.
        if site.run_id != run_id or not site.coordinator_enqueued or site.current_stage not in STEPS:
            return
        try:
            seq = _advance(site, run_id, wave_of(site.current_stage))
        except Fenced:
            transaction.set_rollback(True)
            return
        transaction.on_commit(lambda: dispatch.deliver(site_id, run_id, seq))


def _prepare(site_id: str, run_id: int) -> None:
    """Most of the next wave's rows, before the one transaction that opens it: it is short then."""
    site = Site.objects.filter(pk=site_id, run_id=run_id, coordinator_enqueued=True).first()
    if site is None or site.current_stage not in STEPS or wave_of(site.current_stage) == WAVES[-1]:
        return
    for stage in WAVES[WAVES.index(wave_of(site.current_stage)) + 1]:
        documents = workload.work_for(site_id, stage).documents
        if documents is not None:
            prepare_rows(site_id, stage, documents)


def _advance(site: Site, run_id: int, wave: tuple[Stage, ...]) -> int | None:
    blocked = _why_blocked(site, wave)
    nothing = "" if blocked else _why_nothing_is_to_do(site, wave)
    if blocked:
        stage, message = blocked
        runs.fail(site.pk, run_id, wave, stage, message)
    elif nothing:
        runs.complete(site.pk, run_id, wave, nothing, error=f"StageError: {nothing}")
    elif wave == WAVES[-1]:
        runs.complete(site.pk, run_id, wave, _how_it_went(site))
    else:
        after = WAVES[WAVES.index(wave) + 1]
        return runs.move_on(
            site.pk, run_id, wave, {stage: workload.work_for(site.pk, stage) for stage in after}
        )
    webhooks.announce(run_id)
    return None


def _why_blocked(site: Site, wave: tuple[Stage, ...]) -> tuple[Stage, str] | None:
    wanted = workload.wanted_documents(site.pk).count() if wave in WAVES[:2] else 0
    if wave in WAVES[:2] and not workload.has_passed(site.pk, Stage.FETCH):
        return _why_not_fetched(site, wanted)
    if wave == (Stage.OCR,) and wanted and not workload.has_text(site.pk):
        failed = site.progress(Stage.OCR).failed
        return Stage.OCR, f"StageError: not one document gave text ({failed} failed OCR); nothing to compile"
    for stage in wave:
        if STEPS[stage].required and site.progress(stage).failed:
            return stage, _own_error(site, stage) or f"StageError: {stage} failed"
    return None


def _why_not_fetched(site: Site, wanted: int) -> tuple[Stage, str] | None:
    """Nothing was brought home of what is known to be there: that is no site without documents."""
    if wanted:
        return Stage.FETCH, f"StageError: not one of {wanted} documents could be fetched"
    if not Document.objects.filter(site=site).exists() and workload.has_files(site.pk):
        return Stage.FETCH, f"StageError: {site.pk} {NOT_TAKEN_OVER}"
    return None


def _own_error(site: Site, stage: Stage) -> str:
    """Of this stage: the site shows the last one, which may be another's."""
    failed = DocumentState.objects.filter(
        site_id=site.pk, run_id=site.run_id or 0, pipeline=stage, status=Status.FAILED_TERMINAL
    )
    return failed.order_by("-updated_at").values_list("error_message", flat=True).first() or ""


def _why_nothing_is_to_do(site: Site, wave: tuple[Stage, ...]) -> str:
    """Empty unless the site ends here, with nothing to compile."""
    if wave not in WAVES[:2] or workload.wanted_documents(site.pk).exists():
        return ""
    if Document.objects.filter(site=site).exists():
        return "" if workload.has_text(site.pk) else ALL_LEFT_OUT
    # In OCR only where a site was taken over from the old system and its storage turned out to be empty.
    failed = site.progress(Stage.FETCH).failed
    return f"{NO_PDF} ({failed} of {site.fetch_total} fetch jobs failed)" if failed else NO_PDF


def _how_it_went(site: Site) -> str:
    rows = DocumentState.objects.filter(site=site, run_id=site.run_id or 0)
    parts = {"failed": _by_stage(rows.failures()), "skipped": _by_stage(rows.left_out())}
    told = [f"{word}: {counts}" for word, counts in parts.items() if counts]
    return "; ".join([_with_silence(site), *told])


def _with_silence(site: Site) -> str:
    """A run that went through although a source may be missing things does not read as if all were well."""
    states = SourceState.objects.filter(
        source__site=site, source__enabled=True, state__in=Silence.amber()
    ).select_related("source")
    said = [f"{state.source.platform} source {state.get_state_display()}" for state in states]
    return f"completed, but {', '.join(said)}" if said else "completed"


def _by_stage(rows: QuerySet[DocumentState]) -> str:
    counts = dict(rows.order_by().values_list("pipeline").annotate(count=Count("*")))
    return ", ".join(f"{counts[stage]} in {stage}" for stage in STEPS if stage in counts)
