"""Who may import whom: arrows never turn back, inside functions neither. And who may write state."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db.migrations.loader import MigrationLoader

from sites.stages import WORK_STAGES

ROOT = Path(__file__).resolve().parent.parent
OURS = ("sites", "pipeline", "records", "clerk_project")
# The rooms and what each may import, from the bottom up. Inside a room imports are free, but for cycles,
# which Python refuses itself. A module belongs to the longest name here that begins its own.
ARROWS: dict[str, tuple[str, ...]] = {
    "sites": (),
    "pipeline.redaction": (),
    "pipeline.short_names": (),
    "pipeline.errors": ("pipeline.redaction",),
    "pipeline.error_codes": (),
    "pipeline.indexes": (),
    "pipeline.permissions": (),
    "pipeline.work": ("pipeline.errors", "pipeline.redaction"),
    "pipeline.models": ("sites", "pipeline.indexes", "pipeline.redaction"),
    "pipeline.queue": ("pipeline.redaction",),
    "pipeline.state": ("sites", "pipeline.errors", "pipeline.models"),
    "pipeline.order": ("sites",),
    "pipeline.webhooks": (
        "sites",
        "pipeline.errors",
        "pipeline.models",
        "pipeline.queue",
        "pipeline.redaction",
        "pipeline.work.webhook",
    ),
    "pipeline.stages": (
        "pipeline.redaction",
        "sites",
        "pipeline.errors",
        "pipeline.models",
        "pipeline.queue",
        "pipeline.work",
        "pipeline.state",
    ),
    "pipeline.workload": ("sites", "pipeline.models", "pipeline.order", "pipeline.state"),
    "pipeline.dispatch": ("sites", "pipeline.models", "pipeline.order", "pipeline.queue"),
    "pipeline.flow": (
        *("pipeline.workload", "pipeline.dispatch"),
        *(
            "sites",
            "pipeline.errors",
            "pipeline.models",
            "pipeline.order",
            "pipeline.queue",
            "pipeline.state",
        ),
        "pipeline.webhooks",
    ),
    # What a job writes to the log, kept.
    "pipeline.job_log": ("pipeline.errors", "pipeline.models", "pipeline.redaction"),
    "pipeline.protocol": (
        *(
            "pipeline.job_log",
            "sites",
            "pipeline.errors",
            "pipeline.queue",
            "pipeline.state",
            "pipeline.dispatch",
            "pipeline.flow",
        ),
    ),
    "pipeline.alarms": (
        *("sites", "pipeline.errors", "pipeline.models", "pipeline.queue", "pipeline.redaction"),
        *("pipeline.reconcile", "pipeline.reports", "pipeline.work.notify"),
    ),
    "pipeline.jobs": (
        "pipeline.alarms",
        *(
            "sites",
            "pipeline.errors",
            "pipeline.state",
            "pipeline.protocol",
            "pipeline.stages",
            "pipeline.flow",
        ),
        "pipeline.webhooks",
        # Acts on many are worked off by a job; nothing in the operations imports the jobs.
        "pipeline.operations",
    ),
    "pipeline.reconcile": (
        "pipeline.redaction",
        *("sites", "pipeline.errors", "pipeline.models", "pipeline.queue", "pipeline.state"),
        *("pipeline.dispatch", "pipeline.flow", "pipeline.webhooks"),
    ),
    "pipeline.verify": (
        *("sites", "pipeline.errors", "pipeline.models", "pipeline.state"),
        *(
            "pipeline.stages.deploy",
            "pipeline.stages.documents",
            "pipeline.stages.identity",
            "pipeline.work.index",
        ),
    ),
    "pipeline.takeover": (
        *("sites", "pipeline.errors", "pipeline.models", "pipeline.state", "pipeline.queue"),
        *("pipeline.work.ocr", "pipeline.work.database", "pipeline.work.files"),
    ),
    "pipeline.schedule": (
        "sites",
        "pipeline.models",
        "pipeline.queue",
        "pipeline.flow",
        "pipeline.reconcile",
    ),
    "pipeline.workers": (
        "sites",
        "pipeline.alarms",
        "pipeline.operations",
        "pipeline.reconcile",
        "pipeline.schedule",
        "pipeline.jobs",
        "pipeline.reports",
        "pipeline.queue",
        "pipeline.redaction",
        "pipeline.work.ocr",
    ),
    "pipeline.reports": (
        "pipeline.work.index.generations",
        "pipeline.work.ocr.process",
        "pipeline.error_codes",
        *(
            "sites",
            "pipeline.errors",
            "pipeline.models",
            "pipeline.order",
            "pipeline.queue",
            "pipeline.state",
        ),
        *("pipeline.dispatch", "pipeline.flow", "pipeline.reconcile", "pipeline.schedule", "pipeline.stages"),
    ),
    "pipeline.operations": (
        "pipeline.job_log",
        "pipeline.redaction",
        *(
            "sites",
            "pipeline.errors",
            "pipeline.models",
            "pipeline.order",
            "pipeline.queue",
            "pipeline.state",
        ),
        *("pipeline.dispatch", "pipeline.flow", "pipeline.reconcile", "pipeline.reports", "pipeline.stages"),
        *("pipeline.alarms", "pipeline.schedule", "pipeline.work"),
    ),
    "pipeline.backup": (
        *("sites", "pipeline.redaction", "pipeline.queue", "pipeline.stages", "pipeline.work"),
    ),
    "records": (
        *(
            "sites",
            "pipeline.errors",
            "pipeline.models",
            "pipeline.queue.tally",
            "pipeline.work",
            "pipeline.stages",
            "pipeline.reports",
        ),
        *("pipeline.operations", "pipeline.permissions"),
    ),
}
# What people use imports from everywhere below, and from one another only what is named.
TOP: dict[str, tuple[str, ...]] = {
    "pipeline.admin": (),
    "pipeline.dashboard": ("pipeline.admin",),
    "pipeline.monitoring": (),
    "pipeline.templatetags": ("pipeline.admin",),
    "pipeline.management": ("records",),
    "pipeline.apps": (),
    "clerk_project": ("pipeline.dashboard", "pipeline.monitoring", "records"),
}
ROOMS = (*ARROWS, *TOP)


def room_of(module: str) -> str:
    owners = [room for room in ROOMS if module == room or module.startswith(f"{room}.")]
    return max(owners, key=len) if owners else module


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
            found |= {_module_meant(node.module, alias.name) for alias in node.names}
    return {name for name in found if name.split(".")[0] in OURS}


def _module_meant(module: str, name: str) -> str:
    """`from pipeline import flow` names a module, `from pipeline.flow import start` something in one."""
    inside = ROOT / module.replace(".", "/") / name
    return f"{module}.{name}" if inside.is_dir() or inside.with_suffix(".py").exists() else module


def allowed(importer: str, imported: str) -> bool:
    mine, other = room_of(importer), room_of(imported)
    if mine == other:
        return True
    below = (*ARROWS, *TOP[mine]) if mine in TOP else ARROWS.get(mine, ())
    return any(imported == name or imported.startswith(f"{name}.") for name in below)


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=[name for name, _ in modules()])
def test_a_module_imports_only_from_below(name: str, path: Path) -> None:
    upward = {imported for imported in imported_by(path.read_text()) if not allowed(name, imported)}

    assert upward == set()


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("pipeline.state.ledger", "from pipeline import flow"),
        ("pipeline.flow", "def start():\n    from pipeline.jobs import ocr_document"),
        ("pipeline.work.ocr.document", "from sites.models import Document"),
        ("pipeline.reconcile.find", "import pipeline.management.commands.reconcile"),
        ("sites.models", "from pipeline.models import Run"),
    ],
)
def test_an_arrow_that_turns_back_is_seen(importer: str, source: str) -> None:
    assert not all(allowed(importer, imported) for imported in imported_by(source))


# ---- State has few writers ----------------------------------------------------------------------------

# The room of state, and the history of the old system, which is written with the same guards.
WRITERS = ("pipeline.state", "pipeline.takeover.old_history")
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
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= {node.attr} & STATE_COLUMNS
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= {match.group() for match in WRITING_SQL.finditer(node.value)}
    return found


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=[name for name, _ in modules()])
def test_nobody_but_the_state_modules_writes_state(name: str, path: Path) -> None:
    assert name.startswith(WRITERS) or state_written_by(path.read_text()) == set()


@pytest.mark.parametrize(
    "source",
    [
        "Site.objects.filter(pk=1).update(current_stage='ocr')",
        "sites.update(ocr_failed=F('ocr_failed') + 1)",
        "DocumentState.objects.filter(pk=1).update(status='pending')",
        "DocumentState.objects.bulk_create(rows)",
        "site.coordinator_enqueued = True",
        "cursor.execute('UPDATE sites SET run_id = NULL')",
    ],
)
def test_a_write_of_state_is_seen(source: str) -> None:
    assert state_written_by(source)


def test_nothing_but_the_drops_themselves_waits_for_the_drops():
    """Else `migrate pipeline` would ask for them, and an adopted database could not get its tables."""
    graph = MigrationLoader(None).graph
    drops = {("sites", "0004_drop_site_progress"), ("sites", "0005_drop_legacy_columns")}
    leaves = [node for node in graph.leaf_nodes() if node[0] != "sites"]

    assert not [leaf for leaf in leaves if drops & set(graph.forwards_plan(leaf))]
