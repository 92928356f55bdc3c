"""The dashboard and the alerts name only figures that there are, in expressions whose brackets match."""

import json
import re
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from pipeline.monitoring import metrics
from pipeline.queue import tally
from pipeline.queue.inspection import QueueFacts, Workforce
from pipeline.queue.tally import KINDS
from pipeline.reports.scrape import Disk, IndexFigures, LastReconcile, Scrape, SiteFigures
from pipeline.reports.snapshot import Snapshot

DEPLOY = Path(__file__).resolve().parent.parent.parent / "deploy"
EVERYTHING = Scrape(
    sites=SiteFigures({"ocr": 1}, {"stuck": 0}),
    reconcile=LastReconcile(1, 1, 0, 0, 0, False),
    force=Workforce((QueueFacts("ocr"),)),
    tally={
        name: {tuple("x" for _ in kind.labels): tally.Series(1, {"+Inf": 1})} for name, kind in KINDS.items()
    },
    snapshot=Snapshot(
        at=1.0,
        seconds=1,
        counters=[("ocr", "total", 1)],
        ledger=[("ocr", "pending", 1)],
        pending_since={"ocr": 1.0},
        published_at=1.0,
    ),
    disks={"storage": Disk(1, 2)},
    index=IndexFigures(1, 1, 1.0),
    seconds=0.1,
)


@pytest.fixture(scope="module")
def samples() -> dict[str, set[str]]:
    """Every figure with the labels it carries."""
    body, _ = metrics.rendered(EVERYTHING, "1.2.3")
    found: dict[str, set[str]] = {"up": {"job"}}
    for family in text_string_to_metric_families(body.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def expressions() -> list[str]:
    dashboard = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    rules = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text())
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return shown + [rule["expr"] for group in rules["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("expression", expressions())
def test_an_expression_asks_for_what_there_is(expression: str, samples: dict[str, set[str]]) -> None:
    for name, selector in re.findall(r"\b(clerk_\w+|up)\b(\{[^}]*\})?", expression):
        assert name in samples
        assert set(re.findall(r"(\w+)\s*=~?\"", selector)) <= samples[name]
    for opening, closing in ("()", "[]", "{}"):
        assert expression.count(opening) == expression.count(closing)


def test_every_figure_is_shown_or_watched(samples: dict[str, set[str]]) -> None:
    asked = " ".join(expressions())
    families = {re.sub(r"_(bucket|sum|count|total|created)$", "", name) for name in samples} - {"up"}
    not_shown = {name for name in families if name not in asked}

    assert not_shown <= {
        "clerk_build_info",
        "clerk_run_jobs",
        "clerk_fetched_bytes",
        "clerk_job_retries",
        "clerk_index_bytes",
        "clerk_reconcile_last_seconds",
        "clerk_reconcile_last_sites",
    }
