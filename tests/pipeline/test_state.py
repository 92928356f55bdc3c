"""The atomic operations on a site's counters, and what the database itself refuses."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from pipeline import state
from pipeline.models import DocumentState, Intervention, Run, Status
from sites.models import Site
from sites.stages import Progress, Stage

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


def test_initialize_stage_sets_the_total_and_zeroes_the_counts(make_site):
    site = make_site(ocr_completed=7, ocr_failed=2, coordinator_enqueued=True)

    state.initialize_stage(site.pk, "ocr", 10)

    site.refresh_from_db()
    assert site.progress(Stage.OCR) == Progress(10, 0, 0)
    assert (site.current_stage, site.coordinator_enqueued) == ("ocr", False)
    assert site.updated_at is not None


@pytest.mark.parametrize(("stage", "shown"), [("compilation", "extraction"), ("extraction", "extraction")])
def test_the_pair_shows_as_extraction(make_site, stage, shown):
    site = make_site()
    state.initialize_stage(site.pk, stage, 1)
    site.refresh_from_db()
    assert site.current_stage == shown


def test_increments_count_one_and_touch_the_site(make_site):
    site = make_site(updated_at=timezone.now() - timedelta(days=1))
    state.increment_completed(site.pk, "ocr")
    state.increment_failed(site.pk, "ocr", "x" * 600, "DocumentError")

    site.refresh_from_db()
    assert site.progress(Stage.OCR) == Progress(0, 1, 1)
    assert timezone.now() - site.updated_at < timedelta(minutes=1)
    assert site.last_error_stage == "ocr"
    assert site.last_error_message == ("DocumentError: " + "x" * 600)[:500]


def test_increments_from_many_processes_lose_nothing(make_site, in_processes):
    site = make_site()

    def count(number: int) -> None:
        for _ in range(25):
            state.increment_completed(site.pk, "ocr")

    assert in_processes(8, count) == [0] * 8
    site.refresh_from_db()
    assert site.ocr_completed == 200


def test_the_coordinator_is_due_when_every_job_of_the_wave_is_counted(make_site):
    site = make_site()
    state.initialize_stage(site.pk, "compilation", 1)
    state.initialize_stage(site.pk, "extraction", 1)
    state.increment_completed(site.pk, "compilation")
    assert not state.should_trigger_coordinator(site.pk, "compilation")
    assert not state.claim_coordinator_enqueue(site.pk)

    state.increment_failed(site.pk, "extraction", "no", "DocumentError")
    assert state.should_trigger_coordinator(site.pk, "compilation")
    assert state.should_trigger_coordinator(site.pk, "extraction")
    assert state.claim_coordinator_enqueue(site.pk)
    assert not state.claim_coordinator_enqueue(site.pk)
    assert not state.should_trigger_coordinator(site.pk, "extraction")


def test_of_many_claims_at_once_exactly_one_wins(make_site, in_processes, tmp_path):
    site = make_site()
    state.initialize_stage(site.pk, "ocr", 1)
    state.increment_completed(site.pk, "ocr")

    def claim(number: int) -> None:
        if state.claim_coordinator_enqueue(site.pk):
            (tmp_path / f"won-{number}").touch()

    assert in_processes(8, claim) == [0] * 8
    assert len(list(tmp_path.glob("won-*"))) == 1


@pytest.mark.parametrize(
    "operation",
    [
        lambda site, stage: state.initialize_stage(site, stage, 1),
        lambda site, stage: state.increment_completed(site, stage),
        lambda site, stage: state.increment_failed(site, stage, "m", "C"),
        lambda site, stage: state.should_trigger_coordinator(site, stage),
    ],
)
def test_an_unknown_stage_or_site_is_an_error_that_says_which(make_site, operation):
    make_site("known.ca")
    with pytest.raises(state.UnknownStage, match="unknown stage 'completed': expected one of fetch, ocr"):
        operation("known.ca", "completed")
    with pytest.raises(state.UnknownSite, match="there is no site 'nowhere'"):
        operation("nowhere", "ocr")


def test_claiming_for_an_unknown_site_is_an_error():
    with pytest.raises(state.UnknownSite, match="there is no site 'nowhere'"):
        state.claim_coordinator_enqueue("nowhere")


def test_a_stage_cannot_have_a_negative_total(make_site):
    site = make_site()
    with pytest.raises(ValueError, match="cannot have -1 jobs"):
        state.initialize_stage(site.pk, "ocr", -1)


ALLOWED = {
    ("pending", "in_progress"),
    ("in_progress", "processed"),
    ("in_progress", "failed_retryable"),
    ("in_progress", "failed_terminal"),
    ("failed_retryable", "in_progress"),
    ("failed_retryable", "failed_terminal"),
}


def ledger_row(site: Site, status: str, document=None, run: Run | None = None) -> DocumentState:
    now = timezone.now()
    return DocumentState.objects.create(
        site=site,
        document=document,
        unit="" if document else "site",
        pipeline="ocr",
        status=status,
        run=run,
        created_at=now,
        updated_at=now,
    )


@pytest.mark.parametrize("before", Status.values)
@pytest.mark.parametrize("after", Status.values)
def test_the_database_refuses_every_move_that_is_not_in_the_rules(make_site, make_documents, before, after):
    site = make_site()
    row = ledger_row(site, before, make_documents(site, ["one"])[0])
    move = DocumentState.objects.filter(pk=row.pk)

    if before == after or (before, after) in ALLOWED:
        assert move.update(status=after) == 1
    else:
        with pytest.raises(IntegrityError, match="illegal ledger move"), transaction.atomic():
            move.update(status=after)


@pytest.mark.parametrize("before", Status.values)
def test_a_new_run_reopens_what_is_not_processed(make_site, make_documents, before):
    site = make_site()
    first, second = (
        Run.objects.create(site=site, started_at=timezone.now(), status="completed") for _ in range(2)
    )
    row = ledger_row(site, before, make_documents(site, ["one"])[0], first)
    move = DocumentState.objects.filter(pk=row.pk)

    if before == "processed":
        with pytest.raises(IntegrityError, match="illegal ledger move"), transaction.atomic():
            move.update(status="pending", run=second)
    else:
        assert move.update(status="pending", run=second) == 1


def test_a_unit_of_the_site_is_done_anew_by_every_run(make_site):
    site = make_site()
    run = Run.objects.create(site=site, started_at=timezone.now())
    row = ledger_row(site, "processed")
    assert DocumentState.objects.filter(pk=row.pk).update(status="pending", run=run) == 1


def test_a_person_may_reset_a_row_and_it_is_on_record(make_site, make_documents):
    site = make_site()
    row = ledger_row(site, "processed", make_documents(site, ["one"])[0])
    reset = Intervention.objects.create(site=site, action="reset")
    assert DocumentState.objects.filter(pk=row.pk).update(status="pending", intervention=reset) == 1


@pytest.mark.parametrize(("column", "value"), [("status", "done"), ("pipeline", "completed"), ("unit", "")])
def test_the_database_refuses_values_outside_the_vocabulary(make_site, column, value):
    row = ledger_row(make_site(), "pending")
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE document_pipeline_state SET {column} = %s WHERE id = %s", [value, row.pk])


def test_a_unit_and_a_document_have_one_row_each_in_a_stage(make_site, make_documents):
    site = make_site()
    document = make_documents(site, ["one"])[0]
    for target in (None, document):
        ledger_row(site, "pending", target)
        with pytest.raises(IntegrityError), transaction.atomic():
            ledger_row(site, "pending", target)


def test_a_site_has_one_running_run(make_site):
    site = make_site()
    Run.objects.create(site=site, started_at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.create(site=site, started_at=timezone.now())
