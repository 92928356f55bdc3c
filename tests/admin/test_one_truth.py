"""The same word and the same number on every page, in every command and in JSON."""

import json
import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from pipeline import flow
from pipeline.models import DocumentState
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator
from pipeline.reports import health
from pipeline.reports.health import Check, Level
from sites.models import Document, Site

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
LEDGER = reverse("admin:pipeline_documentstate_changelist")


@pytest.fixture
def mixed(make_site, trivial_jobs, run_jobs) -> Site:
    """Three broken documents: one that somebody may want, one skipped on purpose, one replaced since."""
    site = make_site(titles=["ok", "bad", "bad", "bad"])
    flow.start(site.pk)
    run_jobs()
    _, skipped, replaced = Document.objects.filter(title="bad").order_by("pk")
    interventions.skip(skipped.pk, Operator("ann", "a photograph"))
    Document.objects.filter(pk=replaced.pk).update(superseded_at=timezone.now())
    return Site.objects.get(pk=site.pk)


def status() -> dict:
    out = StringIO()
    call_command("pipeline_status", "--json", stdout=out)
    return json.loads(out.getvalue())


def test_every_number_of_failures_is_the_number_of_rows_that_it_opens(as_, mixed):
    viewer = as_("viewer")
    listed = viewer.get(f"{LEDGER}?standing=failed").context["cl"].result_list
    board = viewer.get("/")
    sites = viewer.get(reverse("admin:sites_site_changelist")).content.decode()
    found = status()
    ocr = next(step for step in found["steps"] if step["stage"] == "ocr")

    assert len(listed) == 1
    assert [need.message for need in board.context["needs"]].count("1 failure") == 1
    assert re.search(r"standing=failed\">1</a>", sites)
    assert (found["failure_count"], ocr["failed_terminal"], ocr["skipped"]) == (1, 1, 2)
    assert [failure["final"] for failure in found["failures"]] == [True]
    assert found["errors"] == [{"code": "corrupt", "stage": "ocr", "count": 1}]


def test_a_skip_is_called_a_skip_wherever_it_is_shown(as_, mixed):
    viewer = as_("viewer")
    skipped = DocumentState.objects.get(error_code="skipped")
    pages = [
        reverse("admin:pipeline_documentstate_change", args=[skipped.pk]),
        reverse("admin:sites_document_change", args=[skipped.document_id]),
        f"{LEDGER}?standing=skipped",
    ]
    for address in pages:
        shown = viewer.get(address).content.decode()
        assert ">skipped</span>" in shown, address
        assert '<span class="badge bad">failed</span>' not in shown, address
    assert "attempt 1/3" not in viewer.get(pages[0]).content.decode()


def test_a_skip_in_a_run_is_no_failure_of_the_run(as_, make_site, trivial_jobs, run_jobs):
    site = make_site(titles=["ok", "ok"])
    flow.start(site.pk)
    run_jobs(only="fetch")
    run_jobs(only="high")
    interventions.skip(Document.objects.order_by("pk").first().pk, Operator("ann", "not wanted"))
    run_jobs()

    assert site.runs.get().message == "completed; skipped: 1 in ocr"
    shown = as_("viewer").get(reverse("admin:sites_site_change", args=[site.pk])).content.decode()
    assert "1 skipped" in shown
    assert not re.search(r"\d\s+failed", shown)


def test_what_has_failed_for_good_never_reads_as_if_it_went_on(as_, mixed):
    viewer = as_("viewer")
    for address in ("/", f"{LEDGER}?standing=failed", reverse("admin:sites_site_change", args=[mixed.pk])):
        shown = " ".join(viewer.get(address).content.decode().split())
        assert "failed after 1 attempt" in shown, address
        assert not re.search(r"(retry|attempt) 1/3", shown), address


@pytest.mark.parametrize(
    ("share", "level", "percent"),
    [
        (100.0, Level.NOTE, 100.0),
        (100.0, Level.DEGRADED, 94.0),
        (100.0, Level.UNHEALTHY, 79.0),
        (50.0, Level.DEGRADED, 50.0),
        (None, Level.UNHEALTHY, None),
    ],
)
@pytest.mark.django_db(transaction=False)
def test_the_score_is_held_down_by_the_worst_check(share, level, percent):
    found = [Check("queue", Level.OK, "fine"), Check("workers", level, "no worker runs")]
    score = health.score(share, found)
    assert score.percent == percent
    assert score.because == ("no worker runs" if share == 100 and level > Level.NOTE else "")


def test_the_score_is_the_same_on_the_page_in_the_commands_and_in_json(as_, mixed):
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("health", "--json", stdout=out)
    ring = as_("viewer").get("/").context["ring"].words

    assert status()["health_percent"] == json.loads(out.getvalue())["health_percent"] == 94.0
    assert ring == "94.0 %"
