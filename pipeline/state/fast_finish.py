"""The two statements of every successful finish: the ledger row is closed, then the site counts it."""

from typing import Any

from django.db import models
from django.db.models import F
from django.utils import timezone

from pipeline.models import Status
from pipeline.state.attempt import Attempt
from pipeline.state.counters import zeroed
from pipeline.state.guards import in_hand, in_wave
from pipeline.state.prepared import Param, PreparedUpdate
from sites.stages import WORK_STAGES, Progress, Stage, wave_of

_SITE = Param("site", models.CharField())
_ROW = Param("row", models.BigIntegerField())
_RUN = Param("run", models.BigIntegerField())
_TOKEN = Param("token", models.UUIDField())
_NOW = Param("now", models.DateTimeField())
_FACTS = Param("facts", models.JSONField())
_ADDED = Param("added", models.IntegerField())


def values_of(attempt: Attempt, facts: dict[str, Any]) -> dict[str, Any]:
    """As the database takes them: made before the transaction begins, for both statements."""
    return {
        "site": attempt.site_id,
        "row": attempt.row_id,
        "run": attempt.run_id,
        "token": _TOKEN.adapt(attempt.token),
        "now": _NOW.adapt(timezone.now()),
        "facts": _FACTS.adapt({**facts, "seconds": attempt.elapsed()}),
    }


def close_processed(attempt: Attempt, values: dict[str, Any]) -> bool:
    """False when the row is in other hands."""
    close = _CLOSE_AFTER_FAILURES if attempt.number > 1 else _CLOSE_AT_ONCE
    return close(values) is not None


def count_completed(attempt: Attempt, values: dict[str, Any]) -> list[Progress]:
    """How far each stage of the wave is then; nothing when the site is not in it."""
    counters = _COUNT_COMPLETED[attempt.stage](values) or ()
    return [Progress(*counters[at : at + 3]) for at in range(0, len(counters), 3)]


def _completed_in(stage: Stage) -> PreparedUpdate:
    counts: dict[str, Any] = {
        f"{stage}_completed": F(f"{stage}_completed") + 1,
        f"{stage}_total": F(f"{stage}_total") + _ADDED,
    }
    counters = [name for each in wave_of(stage) for name in zeroed(each)]
    return PreparedUpdate(in_wave(_SITE, _RUN, stage), counters, updated_at=_NOW, **counts)


_PROCESSED: dict[str, Any] = {
    "status": Status.PROCESSED,
    "processed_at": _NOW,
    "updated_at": _NOW,
    "facts": _FACTS,
    "attempt_token": None,
}
# A first attempt has no error to clear, and SQLite would write that column's index again all the same.
_CLOSE_AT_ONCE = PreparedUpdate(in_hand(_ROW, _RUN, _TOKEN), ["id"], **_PROCESSED)
_CLOSE_AFTER_FAILURES = PreparedUpdate(
    in_hand(_ROW, _RUN, _TOKEN), ["id"], error_code=None, error_message=None, **_PROCESSED
)
_COUNT_COMPLETED = {stage: _completed_in(stage) for stage in WORK_STAGES}
