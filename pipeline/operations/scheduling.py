"""Rhythms that people give to sites: recorded, and the next check planned by them at once."""

from django.db import transaction
from django.utils import timezone

from pipeline import flow
from pipeline.models import Schedule
from pipeline.operations.interventions import Operator, record
from pipeline.schedule import plan


def set_rhythm(site_id: str, rhythm: str, operator: Operator) -> Schedule:
    """Of the installation where the rhythm is empty."""
    now = timezone.now()
    with transaction.atomic():
        site = flow.find_site(site_id)
        record(site, "schedule", operator, rhythm=rhythm or "default")
        plan.set_rhythm(site, rhythm, now)
    return Schedule.objects.select_related("site").get(pk=site_id)


def check_now(site_id: str, operator: Operator) -> Schedule:
    """The next look at the clock finds it due, and starts it when there is room."""
    with transaction.atomic():
        site = flow.find_site(site_id)
        record(site, "check soon", operator)
        Schedule.objects.update_or_create(site=site, defaults={"next_check_at": timezone.now(), "note": ""})
    return Schedule.objects.select_related("site").get(pk=site_id)
