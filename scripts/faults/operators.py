"""People who do what the admin lets them do, at random."""

import random

from pipeline import flow
from pipeline.errors import Fenced
from pipeline.flow import Refused
from pipeline.models import Run
from pipeline.operations import interventions
from sites.models import Site

ANN = interventions.Operator("ann", "because the dice said so")


def act(site_id: str, dice: random.Random) -> bool:
    """One act; what does not fit where the site stands is refused, which is no act."""
    acts = (_pause, _resume, _begin_anew, _retry, _unstick, _restart)
    try:
        dice.choice(acts)(site_id)
    except (Refused, Fenced):
        return False
    return True


def _pause(site_id: str) -> None:
    interventions.pause(site_id, ANN)


def _resume(site_id: str) -> None:
    interventions.resume(site_id, ANN)


def _begin_anew(site_id: str) -> None:
    interventions.cancel(site_id, ANN)
    interventions.start(site_id, ANN)


def _retry(site_id: str) -> None:
    interventions.retry(site_id, ANN)


def _unstick(site_id: str) -> None:
    interventions.unstick([site_id], ANN)


def _restart(site_id: str) -> None:
    interventions.restart(site_id, ANN)


def go_home(site_ids: list[str]) -> None:
    """What they left paused goes on, and what they cancelled and could not start again begins."""
    for site in Site.objects.filter(pk__in=site_ids):
        if site.paused_at:
            flow.resume(site.pk)
        if not Run.objects.filter(pk=site.run_id or 0).exists():
            flow.start(site.pk, by="chaos")
