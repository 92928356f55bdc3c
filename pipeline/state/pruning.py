"""Old runs leave the ledger: its rows stay, and no longer say in which run they were last worked on."""

from collections.abc import Sequence

from pipeline.models import DocumentState, LogLine, Run, RunStage


def forget_runs(site_id: str, run_ids: Sequence[int]) -> int:
    """Delete runs of one site. What refers to them elsewhere has gone before; how many there were."""
    DocumentState.objects.filter(site_id=site_id, run_id__in=run_ids).update(run=None)
    LogLine.objects.filter(run_id__in=run_ids)._raw_delete("default")
    RunStage.objects.filter(run_id__in=run_ids)._raw_delete("default")
    return Run.objects.filter(pk__in=run_ids, site_id=site_id)._raw_delete("default")
