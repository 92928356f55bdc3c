"""What must hold when the dust has settled."""

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.models import DocumentState, Run, RunStage, Status
from pipeline.state import counters
from pipeline.verify import verify
from sites.models import Document, Site
from sites.stages import WORK_STAGES

from .diary import Diary

MOST_WORKED_TWICE_PERCENT = 10
# Of fewer documents one unlucky one is too large a share to say anything.
FEWEST_TO_JUDGE = 100


@dataclass(frozen=True)
class Check:
    key: str
    name: str
    ok: bool
    value: float
    detail: str


def nothing(key: str, name: str, found: list[str]) -> Check:
    detail = f"{len(found)}: {'; '.join(found[:5])}" if found else "0"
    return Check(key, name, not found, len(found), detail)


def all_ended(unfinished: list[str]) -> Check:
    return nothing("unfinished", "sites that are not in their rightful end state", unfinished)


def all_checks(diary: Diary) -> Iterator[Check]:
    wrong = [str(difference) for difference in counters.differences(Site.objects.all())]
    yield nothing("unequal", "counters unequal to the ledger", wrong)
    in_progress = DocumentState.objects.filter(status=Status.IN_PROGRESS)
    yield nothing("orphans", "orphaned in_progress rows", [str(row) for row in in_progress])
    yield nothing("twice_left", "waves left more than once", _more_than_once(diary, "left"))
    yield nothing(
        "twice_finished", "rows finished more than once in a run", _more_than_once(diary, "finished")
    )
    yield nothing("odd_histories", "runs whose history is not whole", list(_odd_histories()))
    yield nothing("verify", "findings of verify", [str(problem) for problem in verify().problems])
    yield _worked_twice(diary)


def _more_than_once(diary: Diary, kind: str) -> list[str]:
    return [what for what, count in diary.counted(kind).items() if count > 1]


def _odd_histories() -> Iterator[str]:
    """A run that went through entered and left each stage once; its last counts are those of the ledger."""
    for run in Run.objects.filter(status=Run.Status.COMPLETED).prefetch_related("stages"):
        stages = [stage.stage for stage in run.stages.all()]
        whole = [stage.value for stage in WORK_STAGES] if len(stages) > 1 else ["fetch"]
        begun = whole[whole.index(stages[0]) :] if stages and stages[0] in whole else whole
        if stages != begun or any(stage.finished_at is None for stage in run.stages.all()):
            yield f"{run}: {stages}"
    for stage in RunStage.objects.filter(run__status=Run.Status.RUNNING):
        yield f"{stage} still runs"


def _worked_twice(diary: Diary) -> Check:
    """Documents without an injected failure that were worked on more than once in one run and stage."""
    plain = Document.objects.filter(title="ok").values("pk")
    rows = {str(pk) for pk in DocumentState.objects.filter(document__in=plain).values_list("pk", flat=True)}
    counts = [count for what, count in diary.counted("worked").items() if what.split()[0] in rows]
    twice = sum(count > 1 for count in counts)
    percent = 100 * twice / len(counts) if counts else 0.0
    detail = f"{percent:.1f} % ({twice} of {len(counts)})"
    ok = percent <= MOST_WORKED_TWICE_PERCENT or len(counts) < FEWEST_TO_JUDGE
    return Check("worked_twice_percent", "documents worked more than once", ok, round(percent, 2), detail)
