"""Rows that may be changed: found by their key, and only while they stand as the caller believes."""

from typing import Any

from django.db.models import BooleanField, Case, Q, QuerySet, Value, When

from pipeline.models import DocumentState, Status
from sites.models import Site
from sites.stages import Stage, current_stage_of, wave_of


def only_if(*conditions: Q, **values: Any) -> Case:
    """A condition that no index serves, so that the row is always found by its key.

    PostgreSQL may take a ledger that is being filled for empty, when a VACUUM comes in between. It then looks
    for a row by its run and status, through all those of the site.
    """
    holds = When(Q(*conditions, **values), then=Value(True))
    return Case(holds, default=Value(False), output_field=BooleanField())


def in_hand(row_id: Any, run_id: Any, token: Any) -> QuerySet[DocumentState]:
    """The row, while this attempt is the one that works on it."""
    guard = only_if(run_id=run_id, attempt_token=token, status=Status.IN_PROGRESS)
    return DocumentState.objects.filter(guard, pk=row_id)


def in_wave(site_id: Any, run_id: Any, stage: Stage) -> QuerySet[Site]:
    """The site, while this run is in the wave of this stage."""
    guard = only_if(run_id=run_id, current_stage=current_stage_of(wave_of(stage)))
    return Site.objects.filter(guard, pk=site_id)
