"""The only writers of state; here, the atomic operations on the counters of a site."""

from typing import Any

from django.db.models import F
from django.utils import timezone

from pipeline.state.counters import CURRENT_WAVE_COUNTED, all_counted, last_error, one_more, zeroed
from sites.models import Site
from sites.stages import WORK_STAGES, Stage, current_stage_of, wave_of


class UnknownSite(LookupError):
    """No such subdomain."""


class UnknownStage(ValueError):
    """Not a stage with jobs."""


def initialize_stage(subdomain: str, stage: str, total_jobs: int) -> None:
    """Set the total and zero the counts, before any job of the stage can run."""
    wave = wave_of(_known(stage))
    if total_jobs < 0:
        raise ValueError(f"{subdomain}: {stage} cannot have {total_jobs} jobs")
    now = timezone.now()
    _update_site(
        subdomain,
        current_stage=current_stage_of(wave),
        coordinator_enqueued=False,
        started_at=now,
        updated_at=now,
        **zeroed(stage, total_jobs),
    )


def increment_completed(subdomain: str, stage: str) -> None:
    _update_site(subdomain, **one_more(_known(stage), "completed"))


def increment_failed(subdomain: str, stage: str, error_message: str, error_class: str) -> None:
    _update_site(
        subdomain,
        **one_more(_known(stage), "failed"),
        **last_error(stage, f"{error_class}: {error_message}"),
    )


def should_trigger_coordinator(subdomain: str, stage: str) -> bool:
    """Whether every job of the stage's wave is counted and nobody has claimed the coordinator yet."""
    wave = wave_of(_known(stage))
    if not Site.objects.filter(pk=subdomain).exists():
        raise UnknownSite(_no_site(subdomain))
    return Site.objects.filter(all_counted(wave), pk=subdomain, coordinator_enqueued=False).exists()


def claim_coordinator_enqueue(subdomain: str) -> bool:
    """True for exactly one caller, once every job of the current wave is counted."""
    claimed = Site.objects.filter(CURRENT_WAVE_COUNTED, pk=subdomain, coordinator_enqueued=False).update(
        coordinator_enqueued=True, coordinator_seq=F("coordinator_seq") + 1, updated_at=timezone.now()
    )
    if not claimed and not Site.objects.filter(pk=subdomain).exists():
        raise UnknownSite(_no_site(subdomain))
    return claimed == 1


def _known(stage: str) -> Stage:
    if stage not in WORK_STAGES:
        raise UnknownStage(f"unknown stage {stage!r}: expected one of {', '.join(WORK_STAGES)}")
    return Stage(stage)


def _no_site(subdomain: str) -> str:
    return f"there is no site {subdomain!r}"


def _update_site(subdomain: str, **values: Any) -> None:
    if not Site.objects.filter(pk=subdomain).update(**values):
        raise UnknownSite(_no_site(subdomain))
