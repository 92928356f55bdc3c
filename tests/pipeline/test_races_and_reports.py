"""Small truths: who wins when two act at once, what is counted, what is shown, and how large it may be."""

import threading
from datetime import timedelta

import django_rq
import pytest
from django.db import connection, connections, transaction
from django.db.models import F
from django.utils import timezone

from pipeline import flow, jobs, protocol, reconcile, webhooks
from pipeline.errors import Failure, SourceError, describe
from pipeline.models import DocumentState, Intervention, Run, Status, Webhook, WebhookDelivery
from pipeline.operations import interventions
from pipeline.queue import inspection
from pipeline.reports import health
from pipeline.reports.documents import count_documents, ledger_counts
from pipeline.reports.sites import site_totals
from pipeline.state import ledger, repair
from pipeline.verify import verify
from sites.models import Document, Site
from sites.stages import Progress, Stage
from tests.conftest import assert_counters_equal_ledger

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.both_databases,
    pytest.mark.usefixtures("trivial_jobs"),
]
ANN = interventions.Operator("ann")


def let_time_pass(minutes: float = 10.0) -> None:
    ago = timedelta(minutes=minutes)
    Site.objects.update(updated_at=F("updated_at") - ago, attention_at=F("attention_at") - ago)
    DocumentState.objects.update(updated_at=F("updated_at") - ago)


@pytest.fixture
def in_ocr(make_site, make_documents) -> Run:
    site = make_site()
    make_documents(site, ["ok"])
    return flow.start(site.pk, first=Stage.OCR)


# ---- Webhooks can break nothing -------------------------------------------------------------------------


def test_a_webhook_whose_events_are_no_list_stops_no_site(make_site, run_jobs):
    Webhook.objects.create(url="https://x.example.org/", events=True)
    site = make_site(titles=["ok"])
    flow.start(site.pk)

    run_jobs()

    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED


def test_whatever_goes_wrong_in_announcing_a_run_it_has_ended(make_site, run_jobs, monkeypatch):
    def broken(run: Run) -> dict[str, object]:
        raise ZeroDivisionError("a bug in what is told")

    monkeypatch.setattr(webhooks, "_payload", broken)
    site = make_site(titles=["ok"])
    flow.start(site.pk)

    run_jobs()

    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert_counters_equal_ledger()


@pytest.mark.parametrize("events", ["true", '["everything"]', "[]", '"completed"', "{}"])
def test_the_admin_takes_only_events_that_exist(admin_client, events):
    form = {"url": "https://x.example.org/", "events": events, "secret": "s", "enabled": "on", "site": ""}

    answer = admin_client.post("/admin/pipeline/webhook/add/", form)

    assert answer.status_code == 200
    assert not Webhook.objects.exists()


def test_telling_of_a_hundred_ends_takes_a_hundred_jobs_on_a_queue_of_their_own(make_site, queued):
    Webhook.objects.create(url="http://127.0.0.1:9/")
    now = timezone.now()
    for number in range(100):
        run = Run.objects.create(
            site=make_site(f"s{number}.ca"), status="completed", started_at=now, finished_at=now
        )
        with transaction.atomic():
            webhooks.announce(run.pk)

    assert WebhookDelivery.objects.count() == len(queued("webhooks")) == 100
    assert not queued("deploy")
    assert webhooks.send_due() == 0  # their jobs are there


def test_an_exception_in_a_coordinator_is_shown_on_the_site(in_ocr, run_jobs, monkeypatch):
    run_jobs(only="ocr")

    def broken(*_):
        raise ZeroDivisionError("a bug in the order")

    monkeypatch.setattr(flow, "advance", broken)
    with pytest.raises(ZeroDivisionError):
        jobs.coordinate(in_ocr.site_id, in_ocr.pk, 1)

    site = Site.objects.get()
    assert (site.last_error_stage, site.last_error_message) == (
        Stage.OCR,
        "ZeroDivisionError: a bug in the order",
    )


# ---- Two at once ----------------------------------------------------------------------------------------


def test_a_run_that_a_person_has_just_begun_is_not_given_up_by_reconcile(
    make_site, make_documents, monkeypatch
):
    site = make_site(current_stage="ocr", updated_at=timezone.now() - timedelta(hours=3))
    make_documents(site, ["ok"])
    mine: list[Run] = []
    real = flow.take_up

    def late(*args, **kwargs):
        mine.append(flow.start(site.pk, first=Stage.OCR, by="ann"))
        return real(*args, **kwargs)

    monkeypatch.setattr(flow, "take_up", late)
    result = reconcile.reconcile()

    mine[0].refresh_from_db()
    assert mine[0].status == Run.Status.RUNNING
    assert result.repairs == []


def test_what_unstick_does_is_undone_when_it_cannot_be_recorded(in_ocr, queued, monkeypatch):
    django_rq.get_connection("high").flushdb()
    let_time_pass(300)

    def killed(*_, **__):
        raise RuntimeError("the web worker was killed here")

    monkeypatch.setattr(interventions, "record", killed)
    with pytest.raises(RuntimeError):
        interventions.unstick([in_ocr.site_id], ANN)

    assert queued("ocr") == []
    assert not Intervention.objects.exists()


def test_a_claim_during_a_cancel_finds_nothing_to_claim(in_ocr):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite lets nobody write beside a cancel")
    row = DocumentState.objects.get(run=in_ocr)
    took: list[object] = []

    def claim() -> None:
        took.append(ledger.claim(row.pk, in_ocr.pk, row.enqueue_seq, "j", 0))
        connections.close_all()

    racer = threading.Thread(target=claim)
    with transaction.atomic():
        flow.cancel(in_ocr.site_id)
        racer.start()
        racer.join(0.5)  # it waits for the row
    racer.join()

    assert took == [None]
    assert verify().problems == []


def test_a_row_that_its_run_left_behind_is_said_to_be_for_reconcile(in_ocr):
    row = DocumentState.objects.get(run=in_ocr)
    ledger.claim(row.pk, in_ocr.pk, row.enqueue_seq, "j", 0)
    Site.objects.update(run_id=None, current_stage=None, ocr_total=0)
    Run.objects.update(status="cancelled", finished_at=timezone.now())

    (problem,) = [found for found in verify().problems if "in a run that is over" in found.check]
    assert "reconcile" in str(problem)
    let_time_pass()
    reconcile.reconcile()
    assert not [found for found in verify().problems if "in a run that is over" in found.check]


# ---- What is counted, kept and shown --------------------------------------------------------------------


def test_a_code_that_is_too_long_is_cut_and_its_reason_kept():
    failure = describe(SourceError("closed on Sundays", code="portal_answered_with_a_page_" + "x" * 60))

    assert len(failure.code) == 50
    assert "closed on Sundays" in failure.message


def test_a_failed_compilation_shows_its_own_error(in_ocr, run_jobs):
    run_jobs(only="ocr")
    run_jobs(only="high")
    compile_row, extract_row = (
        DocumentState.objects.get(run=in_ocr, pipeline=stage)
        for stage in (Stage.COMPILATION, Stage.EXTRACTION)
    )
    for row, message in ((compile_row, "no compiled text"), (extract_row, "page 3 is no text")):
        attempt = ledger.claim(row.pk, in_ocr.pk, row.enqueue_seq, "j", 0)
        ledger.finish_failed(attempt, Failure("corrupt", f"StageError: {message}", False))

    flow.advance(in_ocr.site_id, in_ocr.pk)

    in_ocr.refresh_from_db()
    assert (in_ocr.status, in_ocr.message) == ("failed", "StageError: no compiled text")


def test_a_document_is_counted_once_however_many_rows_it_has(make_site, run_jobs):
    site = make_site(titles=["ok", "also ok"])
    flow.start(site.pk)
    run_jobs()
    document = Document.objects.order_by("pk").first()
    note = Intervention.objects.create(site=site, document=document, action="verify --files --fix")
    rows = DocumentState.objects.filter(document=document, pipeline__in=[Stage.FETCH, Stage.OCR])
    repair.reset_processed(site.pk, list(rows.values_list("pk", flat=True)), note.pk)
    Document.objects.filter(pk=document.pk).update(title="fetch-bad")
    flow.start(site.pk)
    run_jobs()

    found = count_documents(ledger_counts())

    assert (found.total, found.completed, found.failed, found.pending) == (2, 2, 0, 0)


def test_a_retry_keeps_the_priority_of_the_run(make_site, run_jobs):
    site = make_site(titles=["bad"])
    flow.start(site.pk, priority=Run.Priority.HIGH)
    run_jobs()

    interventions.retry(site.pk, ANN)

    assert set(Run.objects.values_list("priority", flat=True)) == {Run.Priority.HIGH}


def test_a_new_run_that_reconcile_begins_keeps_the_priority_too(make_site, run_jobs):
    site = make_site(titles=["sour"])
    flow.start(site.pk, priority=Run.Priority.HIGH)
    run_jobs()
    let_time_pass()

    reconcile.reconcile()

    assert list(Run.objects.values_list("priority", flat=True)) == [Run.Priority.HIGH] * 2


def test_a_paused_site_is_not_stuck(in_ocr):
    flow.pause(in_ocr.site_id, reason="the city asked us to wait")
    let_time_pass(180)

    totals = site_totals()
    assert (totals.stuck, totals.paused, totals.health) == (0, 1, 100)
    assert not Site.objects.get().is_stuck
    bad = [check.name for check in health.checks(totals, inspection.read_workforce()) if check.level > 1]
    assert not {"stuck", "score"} & set(bad)


# ---- Large ----------------------------------------------------------------------------------------------


def test_a_wave_is_opened_by_the_database_in_slices_and_all_at_once_in_the_counters(
    make_site, make_documents, run_jobs, monkeypatch
):
    monkeypatch.setattr(ledger, "SLICE", 10)
    site = make_site()
    make_documents(site, ["ok"] * 25)
    flow.start(site.pk)  # no source: fetch is over at once
    inserted, prepared = [], []
    insert, prepare = ledger._insert, flow.prepare_rows

    def counting(*args):
        insert(*args)
        inserted.append(DocumentState.objects.filter(pipeline=Stage.OCR).count())

    def looking(*args):
        prepare(*args)
        prepared.append(DocumentState.objects.filter(pipeline=Stage.OCR, run=None).count())
        assert_counters_equal_ledger()

    monkeypatch.setattr(ledger, "_insert", counting)
    monkeypatch.setattr(flow, "prepare_rows", looking)
    run_jobs(only="high")

    site.refresh_from_db()
    assert site.progress(Stage.OCR) == Progress(25, 0, 0)
    assert (inserted, prepared) == ([10, 20, 25], [20])
    assert_counters_equal_ledger()
    run_jobs()
    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED


def test_a_wave_takes_up_what_failed_and_leaves_what_is_processed(make_site, make_documents, run_jobs):
    site = make_site()
    make_documents(site, ["ok", "bad"])
    flow.start(site.pk, first=Stage.OCR)
    run_jobs()
    make_documents(site, [])
    new = Document.objects.create(site=site, external_id="n", title="ok", meeting="C", path="pdfs/C/n.pdf")
    now = timezone.now()
    DocumentState.objects.create(
        site=site,
        document=new,
        pipeline=Stage.FETCH,
        status=Status.PROCESSED,
        attempt_count=1,
        processed_at=now,
        created_at=now,
        updated_at=now,
    )

    flow.start(site.pk, first=Stage.OCR)

    site.refresh_from_db()
    assert site.progress(Stage.OCR) == Progress(2, 0, 0)
    assert_counters_equal_ledger()


def test_a_database_that_goes_away_in_mid_work_charges_no_attempt(in_ocr, lose_the_database):
    row = DocumentState.objects.get(run=in_ocr)

    def work(attempt):
        lose_the_database()
        Document.objects.count()

    for _ in range(4):
        row.refresh_from_db()
        protocol.run_job(Stage.OCR, work, row.pk, in_ocr.pk, row.enqueue_seq)

    row.refresh_from_db()
    assert (row.status, row.attempt_count) == (Status.FAILED_RETRYABLE, 0)
