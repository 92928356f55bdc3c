"""Sites that nobody wants any more: archived (kept as they are) or removed (from readers, then for good)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from pipeline import flow
from pipeline.errors import PipelineError
from pipeline.flow import Refused
from pipeline.models import Retirement, Run
from pipeline.operations.interventions import Operator, record
from pipeline.queue import sending
from pipeline.redaction import redact
from pipeline.stages.deploy import withdraw_site
from sites.stages import Stage

What = Retirement.What


@dataclass(frozen=True)
class Retired:
    site_id: str
    # When files and rows go, too; None where they stay.
    purge_at: datetime | None = None
    # What is left to do by hand, in words.
    left: str = ""


def archive(site_id: str, operator: Operator) -> Retired:
    """No run begins any more. Files, records and pages stay as they are, for readers, too."""
    with transaction.atomic():
        _retire(site_id, What.ARCHIVED, operator)
    return Retired(site_id)


def remove(site_id: str, operator: Operator) -> Retired:
    """Readers lose the site now. Its files and rows stay for a while, and then `prune` deletes them."""
    if not operator.reason.strip():
        raise Refused("a site is removed for a reason; give one")
    with transaction.atomic():
        archived = Retirement.objects.active().filter(subdomain=site_id, what=What.ARCHIVED)
        archived.update(lifted_at=timezone.now(), lifted_by=operator.by[:150])
        retirement = _retire(site_id, What.REMOVED, operator)
    left = withdraw_now(retirement)
    return Retired(site_id, purge_at(retirement), left)


def purge_at(retirement: Retirement) -> datetime:
    return retirement.at + timedelta(days=settings.KEEP_REMOVED_DAYS)


def _retire(site_id: str, what: str, operator: Operator) -> Retirement:
    site = flow.find_site(site_id)
    try:
        with transaction.atomic():
            retirement = Retirement.objects.create(
                subdomain=site_id, what=what, reason=operator.reason, by=operator.by[:150]
            )
    except IntegrityError as error:
        active = Retirement.objects.active().get(subdomain=site_id)
        raise Refused(f"{site_id} is {active.what} already, by {active.by or 'somebody'}") from error
    word = "archive" if what == What.ARCHIVED else "remove"
    record(site, word, operator)
    if Run.objects.running().filter(site=site).exists():
        flow.cancel(site_id, by=operator.by, reason=f"the site was {what}")
    if not site.paused_at:
        flow.pause(site_id, reason=f"{what} by {operator.by}: {operator.reason}".rstrip(": "))
    return retirement


def withdraw_now(retirement: Retirement) -> str:
    """Take the site from readers; what could not be done is noted, and `prune` tries it again."""
    try:
        beyond = withdraw_site(retirement.subdomain)
        left = f"take it away yourself where commands published it: {', '.join(beyond)}" if beyond else ""
    except (PipelineError, OSError) as error:
        left = f"not yet withdrawn everywhere ({error}); `manage.py prune` tries again"
    retirement.details["left"] = redact(left)
    retirement.save(update_fields=["details"])
    return redact(left)


def restore(site_id: str, operator: Operator) -> Run | None:
    """Take an archived or removed site up again. The run publishes anew what was taken from readers."""
    with transaction.atomic():
        site = flow.find_site(site_id)
        active = Retirement.objects.active().select_for_update().filter(subdomain=site_id).first()
        if active is None:
            raise Refused(f"{site_id} is neither archived nor removed")
        active.lifted_at, active.lifted_by = timezone.now(), operator.by[:150]
        active.save(update_fields=["lifted_at", "lifted_by"])
        note = record(site, f"restore {active.what}", operator)
        flow.resume(site_id)
        if active.what == What.ARCHIVED or not site.last_completed_at:
            return None
        sending.check()
        run = flow.start(site_id, first=Stage.COMPILATION, by=operator.by)
        note.details["run"] = run.pk
        note.save(update_fields=["details"])
        return run
