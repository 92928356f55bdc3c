"""What people do by hand: it works, it is recorded, and no count is wrong afterwards."""

from datetime import timedelta

import pytest
from django.utils import timezone

from pipeline import flow
from pipeline.flow import Refused
from pipeline.models import DocumentState, Intervention, Run, Status
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator
from sites.models import Document, Site
from sites.stages import Progress, Stage
from tests import trivial
from tests.conftest import assert_counters_equal_ledger

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

ANN = Operator("ann", "the city mended its server")


@pytest.fixture
def ended(make_site, trivial_jobs, run_jobs) -> Site:
    """A site whose run has ended with one good document and one broken one."""
    site = make_site(titles=["ok", "bad"])
    flow.start(site.pk)
    run_jobs()
    return Site.objects.get(pk=site.pk)


def mend(title: str = "bad") -> None:
    Document.objects.filter(title=title).update(title="mended")


def test_a_retry_after_the_run_begins_a_new_one_at_the_earliest_failed_stage(ended, run_jobs):
    mend()

    retried = interventions.retry(ended.pk, ANN)
    run_jobs()

    ended.refresh_from_db()
    assert (retried.stage, retried.rows, retried.new_run) == (Stage.OCR, 1, True)
    assert ended.current_stage == Stage.COMPLETED
    assert ended.progress(Stage.OCR) == Progress(total=1, completed=1, failed=0)
    assert ended.progress(Stage.FETCH) == Progress(0, 0, 0)
    assert trivial.ledger(ended.pk)["mended", "extraction"] == Status.PROCESSED
    assert_counters_equal_ledger()


def test_every_act_says_who_and_why(ended):
    interventions.retry(ended.pk, ANN)
    note = Intervention.objects.get()
    assert (note.site, note.action, note.by, note.reason) == (
        ended,
        "retry",
        "ann",
        "the city mended its server",
    )
    assert note.details == {"stage": "completed", "first": "ocr", "rows": 1, "run": ended.runs.first().pk}


def test_a_refused_act_changes_and_records_nothing(ended):
    with pytest.raises(Refused):
        interventions.resume(ended.pk, ANN)
    with pytest.raises(Refused):
        interventions.cancel(ended.pk, ANN)
    assert not Intervention.objects.exists()


@pytest.fixture
def in_ocr(make_site, trivial_jobs, run_jobs, settings) -> Site:
    """A site in OCR: one document done, one failed for good, one waiting for its retry in an hour."""
    settings.RETRY_BACKOFF_SECONDS = 3600
    site = make_site(titles=["ok", "bad", "sour"])
    flow.start(site.pk)
    run_jobs(only="fetch")
    run_jobs(only="high")
    run_jobs(only="ocr")
    return Site.objects.get(pk=site.pk)


def test_a_retry_inside_a_running_stage_corrects_the_count_and_the_site_goes_on(in_ocr, run_jobs):
    assert in_ocr.progress(Stage.OCR) == Progress(total=3, completed=1, failed=1)
    mend()
    mend("sour")

    retried = interventions.retry(in_ocr.pk, ANN, DocumentState.objects.all())
    in_ocr.refresh_from_db()
    assert (retried.rows, retried.new_run) == (2, False)
    assert in_ocr.progress(Stage.OCR) == Progress(total=3, completed=1, failed=0)
    assert_counters_equal_ledger()

    run_jobs()
    in_ocr.refresh_from_db()
    assert in_ocr.current_stage == Stage.COMPLETED
    assert in_ocr.progress(Stage.OCR) == Progress(total=3, completed=3, failed=0)
    assert in_ocr.runs.count() == 1
    assert_counters_equal_ledger()


def test_a_retry_leaves_waiting_rows_alone_unless_asked(in_ocr):
    assert interventions.retry(in_ocr.pk, ANN).rows == 1
    assert DocumentState.objects.get(status=Status.FAILED_RETRYABLE).retry_at is not None


def test_a_retry_is_refused_while_the_coordinator_is_claimed(in_ocr):
    Site.objects.filter(pk=in_ocr.pk).update(coordinator_enqueued=True)
    with pytest.raises(Refused, match="at this moment"):
        interventions.retry(in_ocr.pk, ANN)
    assert DocumentState.objects.filter(status=Status.FAILED_TERMINAL).count() == 1


def test_a_claim_between_the_look_and_the_reset_rolls_the_reset_back(in_ocr, monkeypatch):
    looked = interventions.record

    def claimed_meanwhile(*arguments, **details):
        Site.objects.filter(pk=in_ocr.pk).update(coordinator_enqueued=True)
        return looked(*arguments, **details)

    monkeypatch.setattr(interventions, "record", claimed_meanwhile)
    with pytest.raises(Refused, match="at this moment"):
        interventions.retry(in_ocr.pk, ANN)
    assert DocumentState.objects.filter(status=Status.FAILED_TERMINAL).count() == 1
    assert_counters_equal_ledger()


def test_failures_of_an_earlier_stage_wait_for_the_end_of_the_run(make_site, trivial_jobs, run_jobs):
    site = make_site(titles=["ok", "fetch-bad"])
    flow.start(site.pk)
    run_jobs(only="fetch")
    run_jobs(only="high")
    with pytest.raises(Refused, match="is in ocr and the failures are in fetch"):
        interventions.retry(site.pk, ANN)


def test_a_paused_site_is_not_retried(ended):
    interventions.pause(ended.pk, Operator("bo", "their server is tired"))
    with pytest.raises(Refused, match="their server is tired"):
        interventions.retry(ended.pk, ANN)


def test_skipping_the_last_waiting_document_moves_the_site_on(in_ocr, run_jobs):
    sour = Document.objects.get(title="sour")

    interventions.skip(sour.pk, Operator("ann", "a private letter"))
    assert_counters_equal_ledger()
    run_jobs()

    in_ocr.refresh_from_db()
    row = DocumentState.objects.get(document=sour, pipeline="ocr")
    assert in_ocr.current_stage == Stage.COMPLETED
    assert in_ocr.progress(Stage.OCR) == Progress(total=3, completed=1, failed=2)
    assert (row.status, row.error_code) == (Status.FAILED_TERMINAL, "skipped")
    assert_counters_equal_ledger()


def test_a_document_not_begun_is_skipped_through_legal_moves(make_site, trivial_jobs, run_jobs):
    site = make_site(titles=["ok", "private"])
    flow.start(site.pk)
    run_jobs(only="fetch")
    run_jobs(only="high")

    interventions.skip(Document.objects.get(title="private").pk, Operator("ann", "private"))
    run_jobs()

    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert site.progress(Stage.OCR) == Progress(total=2, completed=1, failed=1)
    assert_counters_equal_ledger()


def test_a_skipped_document_is_in_no_later_run_and_no_failure_until_taken_up_again(ended, run_jobs):
    bad = Document.objects.get(title="bad")
    interventions.skip(bad.pk, Operator("ann", "broken at the source"))
    assert not interventions.failed_rows().exists()
    with pytest.raises(Refused, match="skipped already"):
        interventions.skip(bad.pk, ANN)

    mend()
    flow.start(ended.pk)
    run_jobs()
    assert trivial.ledger(ended.pk)["mended", "ocr"] == Status.FAILED_TERMINAL

    interventions.unskip(bad.pk, ANN)
    flow.start(ended.pk)
    run_jobs()
    assert trivial.ledger(ended.pk)["mended", "ocr"] == Status.PROCESSED
    assert_counters_equal_ledger()


def test_a_skip_needs_a_reason(ended):
    with pytest.raises(Refused, match="reason"):
        interventions.skip(Document.objects.get(title="bad").pk, Operator("ann", "  "))


def test_acting_on_a_stuck_site_is_remembered_as_unsticking_it_but_not_on_a_paused_one(in_ocr):
    long_ago = timezone.now() - timedelta(hours=3)
    Site.objects.filter(pk=in_ocr.pk).update(updated_at=long_ago)
    interventions.pause(in_ocr.pk, ANN)
    interventions.resume(in_ocr.pk, ANN)
    Site.objects.filter(pk=in_ocr.pk).update(updated_at=long_ago)
    interventions.restart(in_ocr.pk, ANN)
    unstuck = dict(Intervention.objects.values_list("action", "unstuck"))
    assert unstuck == {"pause": False, "resume": False, "restart": True}
    assert Run.objects.filter(status=Run.Status.SUPERSEDED).count() == 1


def test_for_each_goes_on_after_a_refusal_and_stops_when_its_time_is_up(ended, make_site):
    make_site("berkeley.ca", titles=[])
    outcome = interventions.for_each(
        ["nowhere", ended.pk, "berkeley.ca"], lambda key: interventions.cancel(key, ANN)
    )
    assert [key for key, _ in outcome.refused] == ["nowhere", ended.pk, "berkeley.ca"]
    assert interventions.for_each([ended.pk], lambda key: key, seconds=-1).left == 1
