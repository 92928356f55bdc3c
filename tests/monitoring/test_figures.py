"""/metrics: the figures a monitor needs, in words that its own parser reads, at one price at any size."""

import ipaddress
import time
from collections import defaultdict

import django_rq
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from benchmarks._crowd import make as make_crowd
from pipeline import flow
from pipeline.models import DocumentState, ReconcileRun
from pipeline.queue import tally
from pipeline.reports import snapshot
from sites.models import Site

TOKEN = "a-token-of-the-monitor"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
QUERIES = 7
Samples = dict[str, dict[frozenset[tuple[str, str]], float]]


@pytest.fixture
def ask(db, settings):
    settings.MONITORING_TOKEN = TOKEN

    def scrape() -> Samples:
        response = Client().get("/metrics", headers=BEARER)
        assert response.status_code == 200
        found: Samples = defaultdict(dict)
        for family in text_string_to_metric_families(response.content.decode()):
            for sample in family.samples:
                found[sample.name][frozenset(sample.labels.items())] = sample.value
        return found

    return scrape


def of(samples: Samples, name: str, **labels: str) -> float:
    return samples[name][frozenset(labels.items())]


@pytest.mark.django_db(transaction=True)
def test_a_run_shows_in_every_figure(ask, make_site, run_jobs, trivial_jobs) -> None:
    site = make_site(titles=["good", "bad", "also good"])
    flow.start(site.pk)
    run_jobs()
    assert snapshot.refresh_if_due()

    found = ask()

    assert of(found, "clerk_sites", stage="completed") == 1
    assert of(found, "clerk_run_jobs", stage="ocr", count="failed") == 1
    assert of(found, "clerk_run_jobs", stage="ocr", count="completed") == 2
    assert of(found, "clerk_ledger_rows", stage="ocr", status="failed_terminal") == 1
    assert of(found, "clerk_job_seconds_count", stage="ocr", outcome="processed") == 2
    assert of(found, "clerk_job_seconds_bucket", stage="ocr", outcome="processed", le="+Inf") == 2
    assert sum(found["clerk_job_failures_total"].values()) == 1
    assert of(found, "clerk_queue_jobs", queue="ocr", state="waiting") == 0
    assert 0 <= of(found, "clerk_snapshot_age_seconds") < 60


@pytest.mark.django_db
def test_a_monitor_that_asks_for_openmetrics_gets_it(ask, settings) -> None:
    tally.add("clerk_job_seconds", 3.2, stage="ocr", outcome="processed")
    accept = {"Accept": "application/openmetrics-text; version=1.0.0", **BEARER}

    response = Client().get("/metrics", headers=accept)

    assert response["Content-Type"].startswith("application/openmetrics-text")
    families = {
        found.name: found for found in openmetrics.text_string_to_metric_families(response.content.decode())
    }
    assert families["clerk_job_seconds"].type == "histogram"


@pytest.mark.django_db
def test_what_reconcile_did_and_when_is_told(ask) -> None:
    now = timezone.now()
    ReconcileRun.objects.create(started_at=now, finished_at=now, found=3, recovered=2, given_up=1)

    found = ask()

    assert of(found, "clerk_reconcile_age_seconds") < 60
    assert of(found, "clerk_reconcile_last_sites", count="found") == 3


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_a_scrape_asks_the_same_few_queries_at_any_size(ask, django_assert_num_queries) -> None:
    with django_assert_num_queries(QUERIES):
        empty = ask()
    rows = make_crowd(300)
    assert rows > 20_000
    snapshot.refresh_if_due()

    with django_assert_num_queries(QUERIES) as captured:
        full = ask()

    assert not any("document_pipeline_state" in query["sql"] for query in captured)
    assert sum(empty["clerk_sites"].values()) == 0
    assert sum(full["clerk_sites"].values()) == Site.objects.count() == 300
    assert sum(full["clerk_ledger_rows"].values()) == DocumentState.objects.count()


# ---- The snapshot ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_one_snapshot_is_taken_per_interval_however_many_schedulers_ask() -> None:
    assert [snapshot.refresh_if_due() for _ in range(3)] == [True, False, False]


@pytest.mark.django_db
def test_a_snapshot_that_is_not_renewed_says_how_old_it_is(ask, monkeypatch) -> None:
    snapshot.refresh_if_due()
    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)

    assert 3590 < of(ask(), "clerk_snapshot_age_seconds") < 3660


@pytest.mark.django_db
def test_without_a_snapshot_its_figures_are_missing_and_not_zero(ask) -> None:
    assert "clerk_ledger_rows" not in ask()


# ---- The tally ------------------------------------------------------------------------------------------


def test_a_value_is_counted_in_every_bucket_that_it_fits_in() -> None:
    for seconds in (0.05, 0.5, 4, 9000):
        tally.add("clerk_job_seconds", seconds, stage="ocr", outcome="processed")

    [series] = tally.read()["clerk_job_seconds"].values()

    buckets = dict(series.cumulative(tally.JOB_BUCKETS))
    assert (buckets["0.1"], buckets["0.5"], buckets["5"], buckets["3600"], buckets["+Inf"]) == (1, 2, 3, 3, 4)
    assert series.value == pytest.approx(9004.55)


def test_what_another_version_counted_is_passed_over() -> None:
    redis = django_rq.get_connection("high")
    redis.hset(tally.KEY, '["clerk_gone_by",["a"],""]', 3)
    redis.hset(tally.KEY, '["clerk_job_retries",["ocr","more"],""]', 3)
    tally.add("clerk_job_retries", stage="ocr")

    found = tally.read()

    assert {labels: series.value for labels, series in found["clerk_job_retries"].items()} == {("ocr",): 1}


@pytest.mark.django_db(transaction=True)
def test_no_job_fails_because_it_could_not_be_counted(make_site, run_jobs, trivial_jobs) -> None:
    django_rq.get_connection("high").set(tally.KEY, "no hash: everything that is added is refused")
    site = make_site(titles=["good"])
    flow.start(site.pk)
    run_jobs()

    site.refresh_from_db()
    assert site.current_stage == "completed"


# ---- Who may ask ------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_strangers_and_wrong_tokens_learn_nothing(settings) -> None:
    for address in ("/metrics", "/health.json", "/badge.svg"):
        assert Client().get(address).status_code == 401
        settings.MONITORING_TOKEN = TOKEN
        assert Client().get(address, headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert Client().get(address, headers={"Authorization": "Bearer "}).status_code == 401
        assert Client().get(address, headers=BEARER).status_code in (200, 503)
        settings.MONITORING_TOKEN = ""
        assert Client().get(address, headers={"Authorization": "Bearer "}).status_code == 401


@pytest.mark.django_db
def test_a_network_that_is_named_needs_no_token_and_cannot_be_pretended(settings) -> None:
    settings.MONITORING_NETWORKS = [ipaddress.ip_network("10.1.0.0/16")]
    assert Client().get("/metrics", REMOTE_ADDR="10.1.2.3").status_code == 200
    assert Client().get("/metrics", REMOTE_ADDR="10.2.2.3").status_code == 401
    assert (
        Client().get("/metrics", REMOTE_ADDR="10.2.2.3", headers={"X-Forwarded-For": "10.1.2.3"}).status_code
        == 401
    )
    settings.BEHIND_TLS_PROXY = True
    told = {"X-Forwarded-For": "10.1.2.3, 203.0.113.9"}
    assert Client().get("/metrics", REMOTE_ADDR="127.0.0.1", headers=told).status_code == 401
    told = {"X-Forwarded-For": "203.0.113.9, 10.1.2.3"}
    assert Client().get("/metrics", REMOTE_ADDR="127.0.0.1", headers=told).status_code == 200


@pytest.mark.django_db
def test_staff_who_may_look_may_read_the_figures_and_others_not() -> None:
    for name, status in (("root", 200), ("guest", 401)):
        user = User.objects.create_user(name, is_staff=True, is_superuser=name == "root")
        browser = Client()
        browser.force_login(user)
        assert browser.get("/metrics").status_code == status
