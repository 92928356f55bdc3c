"""Who may import whom: arrows never turn back, inside functions neither. And who may write state."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sites.models import WORK_STAGES

ROOT = Path(__file__).resolve().parent.parent
OURS = ("sites", "pipeline", "records", "clerk_project")
# From the bottom up. A module belongs to the longest name here that begins its own; one that is not named is
# at the bottom if it knows nobody, else among those that ask and repair. A layer imports only from those
# below it, and some within themselves.
ASKING, TOP = "asking", "top"
LAYERS: tuple[tuple[str, ...], ...] = (
    ("sites.models", "sites.storage", "sites.storage_s3", "pipeline.errors", "pipeline.indexes"),
    ("pipeline.work",),
    ("pipeline.models",),
    ("pipeline.queue",),
    ("pipeline.webhooks",),
    ("pipeline.counters", "pipeline.guards"),
    ("pipeline.attempts",),
    ("pipeline.statements",),
    ("pipeline.state",),
    ("pipeline.runs", "pipeline.overrides", "pipeline.recovery", "pipeline.old_history"),
    ("pipeline.flow",),
    ("pipeline.protocol",),
    ("pipeline.catalog",),
    ("pipeline.fetching",),
    ("pipeline.records",),
    ("pipeline.jobs",),
    (ASKING,),
    (
        TOP,
        "pipeline.management",
        "pipeline.admin",
        "pipeline.views",
        "pipeline.urls",
        "sites.admin",
        "records",
        "clerk_project",
    ),
)
RANKS = {name: rank for rank, names in enumerate(LAYERS) for name in names}
MAY_IMPORT_WITHIN = {RANKS["pipeline.work"], RANKS[ASKING], RANKS[TOP]}


def rank_of(module: str) -> int:
    owners = [name for name in RANKS if module == name or module.startswith(f"{name}.")]
    return RANKS[max(owners, key=len)] if owners else 0 if knows_nobody(module) else RANKS[ASKING]


def knows_nobody(module: str) -> bool:
    path = (ROOT / module.replace(".", "/")).with_suffix(".py")
    return path.exists() and not imported_by(path.read_text())


def modules() -> Iterator[tuple[str, Path]]:
    for package in OURS:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            if ".migrations" not in name:
                yield name, path


def imported_by(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from pipeline import flow` names a module, `from pipeline.flow import start` something in one.
            found |= {
                f"{node.module}.{alias.name}" if node.module in OURS else node.module for alias in node.names
            }
    return {name for name in found if name.split(".")[0] in OURS}


def allowed(importer: str, imported: str) -> bool:
    mine, other = rank_of(importer), rank_of(imported)
    if mine == RANKS["pipeline.work"]:
        return imported.startswith(("pipeline.errors", "pipeline.work"))
    return other < mine or (other == mine and mine in MAY_IMPORT_WITHIN)


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=[name for name, _ in modules()])
def test_a_module_imports_only_from_below(name: str, path: Path) -> None:
    upward = {imported for imported in imported_by(path.read_text()) if not allowed(name, imported)}

    assert upward == set()


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("pipeline.state", "from pipeline import flow"),
        ("pipeline.flow", "def start():\n    from pipeline.jobs import ocr_document"),
        ("pipeline.work.ocr.document", "from sites.models import Document"),
        ("pipeline.reconcile", "import pipeline.management.commands.reconcile"),
        ("sites.models", "from pipeline.models import Run"),
    ],
)
def test_an_arrow_that_turns_back_is_seen(importer: str, source: str) -> None:
    assert not all(allowed(importer, imported) for imported in imported_by(source))


# ---- State has few writers ----------------------------------------------------------------------------

WRITERS = {
    f"pipeline.{name}"
    for name in ("attempts", "statements", "state", "runs", "overrides", "recovery", "old_history")
}
STATE_COLUMNS = {
    *(f"{stage}_{part}" for stage in WORK_STAGES for part in ("total", "completed", "failed")),
    *("current_stage", "coordinator_enqueued", "coordinator_seq", "run_id", "paused_at", "attention_reason"),
    *("attempt_token", "attempt_count", "enqueue_seq", "rq_job_id", "delivery", "retry_at", "processed_at"),
}
WRITING_CALLS = {"update", "bulk_update", "bulk_create", "update_or_create"}
WRITING_SQL = re.compile(r"\b(UPDATE|INSERT INTO)\s+(sites|document_pipeline_state)\b")


def state_written_by(source: str) -> set[str]:
    """What the source writes of the state: into a column by name, or into the ledger at all."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in WRITING_CALLS:
                found |= {keyword.arg for keyword in node.keywords if keyword.arg} & STATE_COLUMNS
                names = {name.id for name in ast.walk(node.func) if isinstance(name, ast.Name)}
                found |= names & {"DocumentState"}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found |= {node.func.id} & {"PreparedUpdate"}
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= {node.attr} & STATE_COLUMNS
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= {match.group() for match in WRITING_SQL.finditer(node.value)}
    return found


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=[name for name, _ in modules()])
def test_nobody_but_the_state_modules_writes_state(name: str, path: Path) -> None:
    assert name in WRITERS or state_written_by(path.read_text()) == set()


@pytest.mark.parametrize(
    "source",
    [
        "Site.objects.filter(pk=1).update(current_stage='ocr')",
        "sites.update(ocr_failed=F('ocr_failed') + 1)",
        "DocumentState.objects.filter(pk=1).update(status='pending')",
        "DocumentState.objects.bulk_create(rows)",
        "PreparedUpdate(row, [], status='pending')",
        "site.coordinator_enqueued = True",
        "cursor.execute('UPDATE sites SET run_id = NULL')",
    ],
)
def test_a_write_of_state_is_seen(source: str) -> None:
    assert state_written_by(source)
