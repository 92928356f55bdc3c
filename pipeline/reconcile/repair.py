"""What is done about a site that has stopped: finish the counts, send what was lost, or call a person."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from pipeline import dispatch, flow
from pipeline.errors import Fenced
from pipeline.models import DocumentState, Run, Status
from pipeline.queue import sending
from pipeline.reconcile.find import Suspect
from pipeline.state.ledger import claim_coordinator
from pipeline.state.repair import (
    call_for_attention,
    clear_attention,
    end_lost_attempts,
    forget_recoveries,
    note_recovery,
    recount,
    release_claim,
    renew_lost_coordinator,
    renew_lost_rows,
    touch,
)
from sites.models import Site
from sites.stages import WORK_STAGES, Stage, wave_of

BY = "reconcile"
MOST_RECOVERIES = 3
MOST_NEW_RUNS = 3
NOT_TAKEN_OVER = "left by the old system and not taken over yet: run `manage.py adopt_sites`"

RECOVERED = "recovered"
WAITING = "waiting"
GIVEN_UP = "given up"
ERROR = "error"
LOCKED = "locked"
NOT_SENT = "the queue would not take what was repaired; the next pass sends it again"


@dataclass(frozen=True)
class Repair:
    site_id: str
    stage: str
    action: str
    outcome: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def plan(suspect: Suspect, now: datetime, threshold: timedelta) -> Repair:
    """What `repair_site` would do, as far as can be told without doing it."""
    if suspect.not_taken_over:
        return _about(suspect, NOT_TAKEN_OVER, WAITING)
    if suspect.is_running or suspect.site.current_stage == Stage.COMPLETED:
        return _plan_repair(suspect, now, threshold)
    if suspect.has_ended and not _may_run_again(suspect):
        return _about(suspect, _why_given_up(suspect), GIVEN_UP)
    return _about(suspect, f"a new run from {_first_stage(suspect)}", RECOVERED)


def _plan_repair(suspect: Suspect, now: datetime, threshold: timedelta) -> Repair:
    missing = _what_is_missing(suspect)
    if not missing:
        return _about(suspect, _waiting_words(suspect), WAITING)
    tired = _why_tired(suspect, missing)
    if tired and not _was_left_long_enough(suspect.site, now - threshold):
        return _about(suspect, tired, GIVEN_UP)
    return _about(suspect, missing, RECOVERED)


def repair_site(suspect: Suspect, now: datetime, threshold: timedelta) -> Repair | None:
    """Repair one site; None when it turned out to have moved by itself."""
    try:
        return _repair(suspect, now, threshold)
    except Fenced:
        return None


def _repair(suspect: Suspect, now: datetime, threshold: timedelta) -> Repair | None:
    if suspect.not_taken_over:
        return _about(suspect, NOT_TAKEN_OVER, WAITING)
    if suspect.is_running:
        return _repair_running(suspect, now, threshold)
    if suspect.site.current_stage == Stage.COMPLETED:
        return _recount_only(suspect)
    if suspect.has_ended:
        return _repair_ended(suspect)
    return _begin(suspect)


def repair_by_hand(suspect: Suspect, now: datetime) -> Repair | None:
    """The same because a person asks: it is done however often it was in vain, and the count begins anew."""
    if not suspect.is_running or not _what_is_missing(suspect):
        return repair_site(suspect, now, timedelta(0))
    with transaction.atomic():
        done = _carry_out(suspect, now, Delivery())
        forget_recoveries(suspect.site)
    return _about(suspect, done, RECOVERED) if done else None


# ---- A run that has lost something --------------------------------------------------------------------


def _repair_running(suspect: Suspect, now: datetime, threshold: timedelta) -> Repair | None:
    site, run_id = suspect.site, suspect.site.run_id
    assert run_id is not None  # it is running
    missing = _what_is_missing(suspect)
    if not missing:
        return _about(suspect, _waiting_words(suspect), WAITING)
    tired = _why_tired(suspect, missing)
    if tired and not _was_left_long_enough(site, now - threshold):
        if not site.attention_reason:
            call_for_attention(site.pk, run_id, tired)
        return _about(suspect, site.attention_reason or tired, GIVEN_UP)
    delivery = Delivery()
    with transaction.atomic():
        done = _carry_out(suspect, now, delivery)
    if not delivery.arrived:
        return _about(suspect, NOT_SENT, ERROR)
    # After the repair, in statements of their own: no lock on the site is held while others are waited for.
    if tired:
        call_for_attention(site.pk, run_id, tired)
    elif site.attention_reason:
        clear_attention(site.pk)
    if not done:
        return None
    note_recovery(run_id, suspect.progress)
    return _about(suspect, done, RECOVERED)


@dataclass
class Delivery:
    """What the queue made of what was sent to it after the commit."""

    arrived: bool = True

    def note(self, took: bool) -> None:
        self.arrived = self.arrived and took


def _carry_out(suspect: Suspect, now: datetime, delivery: Delivery) -> str:
    """Ledger first, then the site, as every finishing job does; what was done, in words."""
    site, run_id = suspect.site, suspect.site.run_id or 0
    ended = end_lost_attempts(suspect.lost, now)
    renewed = renew_lost_rows(suspect.unsent, now)
    recounted = recount(site.pk, run_id)
    released = release_claim(site.pk, run_id)
    seq = claim_coordinator(site.pk, run_id)
    if seq is None and suspect.coordinator_lost and not released:
        seq = renew_lost_coordinator(site)
    _send_after_commit(suspect, seq, now, delivery)
    done = {
        f"{ended} lost workers": ended,
        f"{renewed} jobs sent again": renewed,
        f"{recounted} counters corrected": recounted,
        "an early claim taken back": released,
        "coordinator sent": seq is not None,
    }
    if any(done.values()):
        touch(site.pk, run_id)
    return ", ".join(words for words, happened in done.items() if happened)


def _send_after_commit(suspect: Suspect, seq: int | None, now: datetime, delivery: Delivery) -> None:
    site_id, run_id = suspect.site.pk, suspect.site.run_id or 0
    if seq is not None:
        transaction.on_commit(lambda: delivery.note(sending.send_coordinator(site_id, run_id, seq)))
    # Those that were changed here and now; a row that its worker finished after all is not among them.
    renewed = DocumentState.objects.filter(
        site_id=site_id,
        run_id=run_id,
        status__in=Status.WAITING,
        updated_at=now,
    )
    if suspect.lost or suspect.unsent:
        due = renewed.order_by("pk")
        transaction.on_commit(lambda: delivery.note(dispatch.deliver_rows(due.iterator(chunk_size=1000))))


def _why_tired(suspect: Suspect, missing: str) -> str:
    """Empty while a repair may still help."""
    run = suspect.run
    if run is None or run.recoveries < MOST_RECOVERIES or run.recovered_at_progress != suspect.progress:
        return ""
    return f"recovered {MOST_RECOVERIES} times without progress ({suspect.progress}): {missing}"


def _was_left_long_enough(site: Site, flagged_before: datetime) -> bool:
    """Flagged so long ago that what was in the way may be gone: one more try."""
    return site.attention_at is not None and site.attention_at <= flagged_before


def _recount_only(suspect: Suspect) -> Repair | None:
    if suspect.site.run_id is None:
        return None
    with transaction.atomic():
        wrong = recount(suspect.site.pk, suspect.site.run_id)
    return _about(suspect, f"{wrong} counters corrected", RECOVERED) if wrong else None


# ---- A run that has failed, or none -------------------------------------------------------------------


def _repair_ended(suspect: Suspect) -> Repair | None:
    mended = _recount_only(suspect) if suspect.miscounted else None
    if mended and suspect.site.attention_reason:
        return mended
    if _may_run_again(suspect):
        return _begin(suspect)
    reason = _why_given_up(suspect)
    call_for_attention(suspect.site.pk, suspect.site.run_id, reason)
    return _about(suspect, reason, GIVEN_UP)


def _may_run_again(suspect: Suspect) -> bool:
    """At once a few times; then, once flagged, each time it is found again, which is seldom."""
    if not _failed_for_a_passing_reason(suspect.site):
        return False
    return bool(suspect.site.attention_reason) or _new_runs(suspect.site) < MOST_NEW_RUNS


def _failed_for_a_passing_reason(site: Site) -> bool:
    """Whether any job of the wave was tried as often as it may be, or never, as what was taken over.

    One that is bad for good is tried once.
    """
    tried_enough = Q(attempt_count__gte=settings.MAX_ATTEMPTS)
    never_tried = Q(attempt_count=0, facts__taken_over=True)
    return DocumentState.objects.filter(
        tried_enough | never_tried,
        site_id=site.pk,
        run_id=site.run_id or 0,
        pipeline__in=wave_of(site.current_stage or Stage.FETCH),
        status=Status.FAILED_TERMINAL,
    ).exists()


def _new_runs(site: Site) -> int:
    """How many of the latest runs were begun by reconcile, one after another."""
    latest = Run.objects.filter(site=site).order_by("-pk").values_list("started_by", flat=True)
    count = 0
    for by in latest[: MOST_NEW_RUNS + 1]:
        if by != BY:
            break
        count += 1
    return count


def _why_given_up(suspect: Suspect) -> str:
    why = (suspect.run.message if suspect.run else "") or "the run failed"
    if _failed_for_a_passing_reason(suspect.site):
        return f"{why} (again, after {MOST_NEW_RUNS} new runs)"
    return f"{why} (trying again would not help)"


def _begin(suspect: Suspect) -> Repair | None:
    """A new run from where the site stands. A person who began one meanwhile wins."""
    site, first = suspect.site, _first_stage(suspect)
    if not Site.objects.filter(pk=site.pk, run_id=site.run_id, updated_at=site.updated_at).exists():
        return None
    priority = suspect.run.priority if suspect.run else Run.Priority.NORMAL
    try:
        # A site that points at no run may still have one that was left running: that one is given up.
        flow.take_up(site, first=first, priority=priority, by=BY)
    except flow.Refused:
        return None
    return _about(suspect, f"a new run from {first}", RECOVERED)


def _first_stage(suspect: Suspect) -> Stage:
    """The site's own stage if what it works on is there; else the nearest one before it that can begin."""
    site = suspect.site
    if site.current_stage not in WORK_STAGES:
        return Stage.FETCH
    stage = wave_of(site.current_stage)[0]
    needed = {Stage.OCR: Stage.FETCH, Stage.COMPILATION: Stage.OCR, Stage.DEPLOY: Stage.COMPILATION}
    while stage in needed and not _has_passed(site, needed[stage]):
        stage = wave_of(needed[stage])[0]
    return stage


def _has_passed(site: Site, stage: Stage) -> bool:
    return DocumentState.objects.filter(site_id=site.pk, pipeline=stage, status=Status.PROCESSED).exists()


# ---- In words -----------------------------------------------------------------------------------------


def _what_is_missing(suspect: Suspect) -> str:
    signs = {
        f"{len(suspect.lost)} jobs whose worker is lost": suspect.lost,
        f"{len(suspect.unsent)} jobs that are in no queue": suspect.unsent,
        "counters unequal to the ledger": suspect.miscounted,
        "a coordinator that is in no queue": suspect.coordinator_lost,
        "all done and no coordinator": suspect.unclaimed,
    }
    return ", ".join(words for words, is_so in signs.items() if is_so)


def _waiting_words(suspect: Suspect) -> str:
    retry = suspect.standing.next_retry
    if retry:
        return f"waits until {retry:%Y-%m-%d %H:%M} UTC to try again what failed"
    return "untouched for long, and its jobs are in the queue: are there workers for it?"


def _about(suspect: Suspect, action: str, outcome: str) -> Repair:
    return Repair(suspect.site.pk, suspect.site.current_stage or "", action, outcome)
