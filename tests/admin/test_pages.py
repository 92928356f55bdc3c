"""The pages: who sees them, what they cost, and that looking changes nothing."""

from datetime import timedelta

import django_rq
import pytest
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from rq.registry import StartedJobRegistry

from pipeline import flow
from pipeline.models import DocumentState, ReconcileRun
from pipeline.reports import dashboard, documents
from sites.models import Document, Site

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
LISTS = [
    "sites_site",
    "sites_source",
    "sites_document",
    "pipeline_run",
    "pipeline_documentstate",
    "pipeline_reconcilerun",
    "pipeline_intervention",
]


@pytest.mark.django_db(transaction=False)
def test_the_migration_makes_the_groups_with_their_permissions(db):
    viewer, operator = (
        set(Group.objects.get(name=name).permissions.values_list("codename", flat=True))
        for name in ("viewer", "operator")
    )
    assert {name.split("_")[0] for name in viewer} == {"view"}
    assert operator - viewer == {
        *("operate_pipeline", "add_site", "change_site", "add_source", "change_source"),
        *("add_apitoken", "change_apitoken", "view_apitoken", "view_savedsearch", "view_alert"),
    }


@pytest.mark.parametrize("group", ["viewer", "operator"])
def test_every_page_opens(as_, ended, group):
    ReconcileRun.objects.create(
        started_at=timezone.now(), repairs=[{"site_id": "alameda.ca", "outcome": "recovered"}]
    )
    client = as_(group)
    for name in LISTS:
        assert client.get(reverse(f"admin:{name}_changelist")).status_code == 200, name
    objects = {
        "sites_site": ended,
        "sites_document": Document.objects.first(),
        "pipeline_run": ended.runs.first(),
        "pipeline_documentstate": DocumentState.objects.first(),
        "pipeline_reconcilerun": ReconcileRun.objects.first(),
    }
    for name, obj in objects.items():
        assert client.get(reverse(f"admin:{name}_change", args=[obj.pk])).status_code == 200, name
    assert client.get(reverse("dashboard")).status_code == 200
    assert client.get(reverse("admin:sites_site_live", args=[ended.pk])).status_code == 200


def test_the_list_of_sites_is_filtered_and_searched(as_, ended, make_site, run_jobs):
    flow.start(make_site("failed.ca", titles=["bad"]).pk)
    run_jobs()
    make_site("never.ca")
    make_site("paused.ca", paused_at=timezone.now())
    make_site("stuck.ca", current_stage="ocr", updated_at=timezone.now() - timedelta(hours=3))
    make_site("attention.ca", attention_reason="look", current_stage="ocr", updated_at=timezone.now())
    flow.start(make_site("running.ca", titles=["ok"]).pk)
    expected = {
        "condition=attention": {"attention.ca"},
        "condition=failed": {"failed.ca"},
        "condition=stuck": {"stuck.ca"},
        "condition=failures": {"alameda.ca", "failed.ca"},
        "condition=running": {"running.ca"},
        "condition=paused": {"paused.ca"},
        "condition=never": {"never.ca", "paused.ca"},
        "current_stage__exact=completed": {"alameda.ca"},
        "q=alam": {"alameda.ca"},
        "q=nothing": set(),
    }
    viewer, address = as_("viewer"), reverse("admin:sites_site_changelist")
    pages = {query: viewer.get(f"{address}?{query}").context["cl"].result_list for query in expected}
    assert {query: {site.pk for site in sites} for query, sites in pages.items()} == expected


def test_the_ledger_is_searched_by_site_title_and_error(as_, ended, make_site, make_documents):
    make_documents(make_site("berkeley.ca"), ["A letter to alameda.ca"])
    broken = DocumentState.objects.get(error_code="corrupt")
    expected = {
        "alameda.ca": set(DocumentState.objects.filter(site=ended)),
        "letter": set(DocumentState.objects.filter(site_id="berkeley.ca")),
        "PDF is broken": {broken},
        "zebra": set(),
    }
    viewer, address = as_("viewer"), reverse("admin:pipeline_documentstate_changelist")
    pages = {words: viewer.get(address, {"q": words}).context["cl"].result_list for words in expected}
    assert {words: set(rows) for words, rows in pages.items()} == expected


def test_a_site_s_page_says_what_is_wrong_with_its_source(as_, ended):
    ended.sources.update(warning="it used to list documents and now lists none")
    page = as_("viewer").get(reverse("admin:sites_site_change", args=[ended.pk])).content.decode()
    assert "it used to list documents and now lists none" in page


def test_the_ledger_finds_what_is_processed_without_text(as_, ended):
    row = DocumentState.objects.get(pipeline="ocr", status="processed")
    DocumentState.objects.filter(pk=row.pk).update(facts={"characters": 0})
    client = as_("viewer")
    assert "?text=none" in client.get("/").content.decode()
    page = client.get(f"{reverse('admin:pipeline_documentstate_changelist')}?text=none")
    assert list(page.context["cl"].result_list) == [row]


def test_a_stranger_is_sent_to_the_login_and_staff_without_the_right_is_refused(client, as_):
    assert client.get("/").headers["Location"] == "/admin/login/?next=/"
    assert client.get("/", headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"
    assert client.get("/queues/").headers["Location"] == "/admin/login/?next=/queues/"
    assert as_("").get("/").status_code == 403


def test_the_dashboard_refreshes_only_its_board(as_, ended):
    page = as_("viewer").get("/", headers={"HX-Request": "true"}).content.decode()
    assert "What needs you now" in page
    assert "<html" not in page


def test_the_number_of_queries_is_the_same_for_one_site_and_for_200(as_, ended, make_site, make_documents):
    client = as_("operator")
    urls = [
        "/",
        reverse("admin:sites_site_changelist"),
        reverse("admin:sites_site_change", args=[ended.pk]),
        reverse("admin:pipeline_documentstate_changelist"),
        reverse("admin:sites_document_changelist"),
        reverse("admin:pipeline_run_changelist"),
    ]
    Site.objects.filter(pk=ended.pk).update(
        current_stage="ocr", updated_at=timezone.now() - timedelta(hours=3)
    )

    def count() -> list[int]:
        found = []
        for url in urls:
            with CaptureQueriesContext(connection) as queries:
                client.get(url)
            found.append(len(queries))
        return found

    count()
    before = count()
    for number in range(200):
        site = make_site(
            f"city{number}.ca", current_stage="ocr", updated_at=timezone.now() - timedelta(hours=3)
        )
        if number % 10 == 0:
            make_documents(site, ["ok"])
    make_documents(ended, ["more"] * 30)
    assert count() == before


def test_open_dashboards_share_the_count_of_a_big_ledger(ended, monkeypatch):
    assert dashboard.ledger_counts() == documents.ledger_counts()
    monkeypatch.setattr(dashboard, "MANY_ROWS", 1)
    before = dashboard.ledger_counts()
    with CaptureQueriesContext(connection) as queries:
        assert dashboard.ledger_counts() == before
    cache.clear()
    assert len(queries) == 0


# ---- The queue's own pages ----------------------------------------------------------------------------


def everything() -> list[tuple]:
    return [
        *Site.objects.order_by("pk").values_list(),
        *DocumentState.objects.order_by("pk").values_list(),
    ]


def test_opening_the_queue_pages_changes_no_state_of_the_pipeline(as_, make_site, trivial_jobs, run_jobs):
    """Even where a worker has died, and the page's own clean-up declares its job abandoned."""
    flow.start(make_site(titles=["ok", "ok"]).pk)
    run_jobs(only="fetch")
    run_jobs(only="high")
    queue = django_rq.get_queue("ocr")
    job = queue.fetch_job(queue.job_ids[0])
    queue.remove(job)
    row = DocumentState.objects.filter(pipeline="ocr").order_by("pk").first()
    DocumentState.objects.filter(pk=row.pk).update(status="in_progress", rq_job_id=job.id)
    registry = StartedJobRegistry(queue=queue)
    queue.connection.zadd(registry.key, {f"{job.id}:dead": 1})
    before = everything()

    client = as_("operator")
    index = sorted(["high", "fetch", "ocr", "compilation", "extraction", "deploy"]).index("ocr")
    for path in ("", f"queues/{index}/", f"queues/{index}/failed/", f"queues/{index}/started/"):
        assert client.get(f"/queues/{path}").status_code == 200, path
    for path in (f"queues/{index}/details/", f"queues/{index}/scheduled/", f"workers/{index}/", "stats.json"):
        assert client.get(f"/queues/{path}").status_code == 200, path
    assert everything() == before


def test_our_own_pages_leave_the_queue_as_it_is_too(as_, ended):
    queue = django_rq.get_queue("ocr")
    registry = StartedJobRegistry(queue=queue)
    queue.connection.zadd(registry.key, {"expired:x": 1})
    before = _contents(queue.connection)
    as_("viewer").get("/")
    assert _contents(queue.connection) == before


def _contents(connection) -> dict[bytes, bytes]:
    return {key: connection.dump(key) for key in connection.scan_iter()}


def test_viewers_look_at_the_queues_and_only_operators_change_them(as_, ended):
    viewer = as_("viewer")
    assert viewer.get("/queues/").status_code == 200
    assert viewer.post("/queues/queues/0/empty/").status_code == 403
    assert as_("operator").post("/queues/queues/0/empty/").status_code == 302
    assert as_("").get("/queues/").status_code == 403


def test_an_address_that_is_none_is_no_link(as_, make_site, make_documents):
    document = make_documents(make_site(), ["x"])[0]
    Document.objects.filter(pk=document.pk).update(url="javascript:alert(1)")
    page = as_("viewer").get(reverse("admin:sites_document_change", args=[document.pk])).content.decode()
    assert "javascript:alert(1)" in page
    assert 'href="javascript' not in page
