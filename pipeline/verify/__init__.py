"""Is everything as it should be? Read-only questions whose right answer is an empty list."""

from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils import timezone

from pipeline.models import Intervention, ReconcileRun
from pipeline.verify import files, ledger, query_plans, schema, search
from pipeline.verify.preflight import Criterion, preflight
from pipeline.verify.problem import Problem
from sites.models import Site

DROPS = ("sites.0004", "sites.0005")


@dataclass
class Verification:
    checked: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    # What is as it may be, and should not be forgotten.
    notes: list[str] = field(default_factory=list)
    preflight: list[Criterion] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems and all(criterion.ok for criterion in self.preflight)

    def as_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "checked": self.checked,
            "problems": [problem.as_json() for problem in self.problems],
            "mended": self.mended,
            "notes": self.notes,
            "preflight": [vars(criterion) for criterion in self.preflight],
        }


def verify(*, with_files: bool = False, fix: bool = False, with_preflight: bool = False) -> Verification:
    """Every check that the schema allows; the files and the pre-flight where asked for."""
    # Weeks may lie between the move and the drops, and nothing is wrong in them.
    report = Verification(checked=["schema"], problems=list(schema.problems(may_wait=DROPS)))
    report.notes += _pending_drops()
    if not schema.is_usable():
        why = "fix the schema first, then verify again"
        report.problems.append(Problem("the data could not be checked", 1, why))
        return report
    report.checked += ["ledger", "queries"]
    report.problems += [*ledger.problems(), *query_plans.problems()]
    if settings.SEARCH_INDEX:
        report.checked.append("search")
        report.problems += search.problems(thorough=with_files)
    if with_files:
        report.checked.append("files")
        _files(report, fix)
    if with_preflight:
        report.checked.append("preflight")
        report.preflight = preflight(Site, ReconcileRun, Intervention, now=timezone.now())
    return report


def _pending_drops() -> list[str]:
    pending = [name for name in schema.unapplied() if name.startswith(DROPS)]
    if not pending:
        return []
    return [f"not dropped yet: {', '.join(pending)}; `verify --preflight` says whether they may be"]


def _files(report: Verification, fix: bool) -> None:
    found = files.find()
    if fix:
        fixed = files.fix(found)
        report.mended = [f"{finding.check}: {finding}" for finding in fixed.mended]
        found = iter(fixed.left)
    report.problems += files.problems(found)
