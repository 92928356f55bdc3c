"""How much of a site readers can read, and the question that is asked before they would read much less."""

from pathlib import Path

from django.conf import settings
from django.utils import timezone

from pipeline.errors import StageError
from pipeline.models import Intervention, Publication
from pipeline.work.database.schema import Extent, counts_in

# The act of a person that lets one run publish less.
FORCE = "publish less"


def published_now(site_id: str, databases: Path) -> Extent | None:
    """What the served database holds; where it lies elsewhere, what the last deploy or take-over noted."""
    served = counts_in(databases / f"{site_id}.db")
    if served is not None:
        return served
    noted = Publication.objects.filter(pk=site_id).first()
    return Extent(noted.pages, noted.documents) if noted else None


def refuse_much_less(site_id: str, now: Extent | None, then: Extent) -> None:
    """A finding for a person: a loss that nobody wanted looks just like this."""
    if now is None:
        return
    falls = [
        f"{was} {what} to {will_be}"
        for what, was, will_be in (
            ("pages", now.pages, then.pages),
            ("documents", now.documents, then.documents),
        )
        if _is_much_less(was, will_be)
    ]
    if falls:
        raise StageError(
            f"{site_id}: this deploy would publish much less than is published now:"
            f" from {', from '.join(falls)}. If that is right,"
            f" `manage.py run_pipeline {site_id} --from deploy --force` publishes it",
            code="publishes_less",
        )


def _is_much_less(was: int, will_be: int) -> bool:
    allowed = was * (100 - settings.DEPLOY_MAX_SHRINK_PERCENT) / 100
    return was > 0 and (will_be == 0 or will_be < allowed)


def is_forced(site_id: str, run_id: int) -> bool:
    return Intervention.objects.filter(site_id=site_id, action=FORCE, details__run=run_id).exists()


def record(site_id: str, published: Extent, version: str) -> None:
    values = {"pages": published.pages, "documents": published.documents, "version": version}
    Publication.objects.update_or_create(site_id=site_id, defaults=values | {"at": timezone.now()})
