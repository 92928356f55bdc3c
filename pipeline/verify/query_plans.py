"""Whether the scheduler's queries find their rows by an index; asked of PostgreSQL's own planner."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from pipeline.models import DocumentState, Run, Status
from pipeline.verify.problem import Problem, among
from sites.models import Site
from sites.stages import Stage


def queries() -> dict[str, QuerySet[Any, Any]]:
    """What workers, coordinators, reconcile and the start of sites ask for all day."""
    now = timezone.now()
    rows = DocumentState.objects.filter(pipeline=Stage.OCR)
    return {
        "rows that have gone quiet": DocumentState.objects.quiet(now, now - timedelta(minutes=5)),
        "waiting rows of a run": DocumentState.objects.filter(site_id="a.site", run_id=1).waiting(),
        "rows of a run": DocumentState.objects.filter(site_id="a.site", run_id=1),
        "retryable rows, longest ago first": rows.filter(
            status=Status.FAILED_RETRYABLE, last_attempt_at__lt=now
        ).order_by("last_attempt_at"),
        "pending rows, oldest first": rows.filter(status=Status.PENDING).order_by("created_at"),
        "a document's row in a stage": rows.filter(document_id=1),
        "rows with an error code": DocumentState.objects.filter(error_code="worker_lost"),
        "latest changes of rows": DocumentState.objects.order_by("-updated_at")[:100],
        "stuck sites": Site.objects.stuck(now),
        "sites in a stage": Site.objects.filter(current_stage=Stage.OCR),
        "a site's running run": Run.objects.running().filter(site="a.site"),
    }


def problems() -> Iterator[Problem]:
    """A small table is read whole whatever indexes it has, so that way is made dear for the planner first."""
    if connection.vendor != "postgresql":
        return
    without = []
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
        for name, query in queries().items():
            if "Seq Scan" in query.explain():
                without.append(name)
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = on")
    yield from among("queries that no index serves", without, "see the missing indexes; ANALYZE the tables")
