"""A site's way through the stages, with the real queue and protocol and trivial work."""

import django_rq
import pytest

from pipeline import flow
from pipeline.models import Run, Status
from sites.stages import Progress, Stage
from tests.conftest import assert_counters_equal_ledger, assert_each_transition_once
from tests.trivial import ledger

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trivial_jobs"),
]


def test_a_site_goes_from_fetch_to_completed(make_site, run_jobs):
    site = make_site(titles=["ok 1", "ok 2", "ok 3"])

    run = flow.start(site.pk)
    run_jobs()

    site.refresh_from_db()
    run.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert site.progress(Stage.FETCH) == Progress(4, 4, 0)
    assert site.progress(Stage.OCR) == Progress(3, 3, 0)
    assert site.progress(Stage.COMPILATION) == Progress(1, 1, 0)
    assert site.progress(Stage.EXTRACTION) == Progress(3, 3, 0)
    assert site.progress(Stage.DEPLOY) == Progress(1, 1, 0)
    assert (run.status, run.message) == (Run.Status.COMPLETED, "completed")
    assert list(run.stages.values_list("stage", flat=True)) == [
        "fetch",
        "ocr",
        "compilation",
        "extraction",
        "deploy",
    ]
    assert_counters_equal_ledger()


def test_failures_are_counted_and_the_rest_go_on(make_site, run_jobs):
    site = make_site(titles=["ok 1", "bad 1", "ok 2", "fetch-bad"])

    run = flow.start(site.pk)
    run_jobs()

    site.refresh_from_db()
    run.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert site.progress(Stage.FETCH) == Progress(5, 4, 1)
    assert site.progress(Stage.OCR) == Progress(3, 2, 1)
    assert site.progress(Stage.EXTRACTION) == Progress(2, 2, 0)
    assert run.message == "completed; failed: 1 in fetch, 1 in ocr"
    assert (site.last_error_stage, site.last_error_message) == ("ocr", "DocumentError: this PDF is broken")
    assert ledger(site.pk)["bad 1", "ocr"] == Status.FAILED_TERMINAL
    assert_counters_equal_ledger()


def test_a_site_without_documents_completes_and_says_so(make_site, run_jobs):
    site = make_site(titles=[])

    flow.start(site.pk)
    run_jobs()

    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert site.last_error_stage == "fetch"
    assert "No PDF was found" in site.last_error_message
    assert "may have none" in site.last_error_message


def test_a_site_without_sources_completes_and_says_so(make_site, run_jobs):
    site = make_site()

    flow.start(site.pk)
    run_jobs()

    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert site.last_error_stage == "fetch"


def test_when_every_ocr_failed_nothing_is_compiled_and_the_site_can_be_retried(make_site, run_jobs):
    site = make_site(titles=["bad 1", "bad 2"])

    run = flow.start(site.pk)
    run_jobs()

    site.refresh_from_db()
    run.refresh_from_db()
    assert site.current_stage == Stage.OCR
    assert site.progress(Stage.OCR) == Progress(2, 0, 2)
    assert site.progress(Stage.COMPILATION) == Progress(0, 0, 0)
    assert run.status == Run.Status.FAILED
    assert (
        site.last_error_message == "StageError: not one document gave text (2 failed OCR); nothing to compile"
    )

    site.documents.update(title="ok now")
    flow.start(site.pk, first=Stage.OCR)
    run_jobs()

    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    assert site.progress(Stage.FETCH) == Progress(0, 0, 0)
    assert site.progress(Stage.OCR) == Progress(2, 2, 0)
    assert_counters_equal_ledger()


def test_a_second_run_does_only_what_is_not_processed(make_site, run_jobs):
    site = make_site(titles=["ok 1", "bad 1"])
    flow.start(site.pk)
    run_jobs()
    source = site.sources.get()
    source.options = {"titles": ["ok 1", "bad 1", "ok 2"]}
    source.save()
    site.documents.filter(title="bad 1").update(title="mended")

    second = flow.start(site.pk)
    run_jobs()

    site.refresh_from_db()
    assert site.run_id == second.pk
    assert site.progress(Stage.FETCH) == Progress(2, 2, 0)  # the listing and the one new document
    assert site.progress(Stage.OCR) == Progress(2, 2, 0)
    assert site.progress(Stage.EXTRACTION) == Progress(2, 2, 0)
    assert site.progress(Stage.DEPLOY) == Progress(1, 1, 0)
    assert site.runs.count() == 2
    assert_counters_equal_ledger()


def test_starting_a_running_site_is_refused_and_changes_nothing(make_site, queued):
    site = make_site(titles=["ok"])
    run = flow.start(site.pk)
    before = queued("fetch")

    with pytest.raises(flow.Refused, match=f"alameda.ca is in run {run.pk} \\(fetch\\) already"):
        flow.start(site.pk)

    assert queued("fetch") == before
    assert site.runs.count() == 1


def test_a_restart_fences_off_the_run_before(make_site, run_jobs):
    site = make_site(titles=["ok 1", "ok 2"])
    first = flow.start(site.pk)
    second = flow.restart(site.pk, by="ada")
    run_jobs()

    site.refresh_from_db()
    first.refresh_from_db()
    assert first.status == Run.Status.SUPERSEDED
    assert first.message == "restarted by ada"
    assert site.run_id == second.pk
    assert site.current_stage == Stage.COMPLETED
    assert site.progress(Stage.FETCH) == Progress(3, 3, 0)
    assert_each_transition_once(second)
    assert_counters_equal_ledger()


def test_a_cancelled_run_leaves_the_site_at_rest_and_its_counts_in_the_history(make_site, run_jobs):
    site = make_site(titles=["ok 1"])
    run = flow.start(site.pk)
    flow.cancel(site.pk, by="ada")
    run_jobs()

    site.refresh_from_db()
    run.refresh_from_db()
    assert (site.current_stage, site.run_id) == (None, None)
    assert site.progress(Stage.FETCH) == Progress(0, 0, 0)
    assert run.status == Run.Status.CANCELLED
    assert run.stages.get(stage="fetch").total == 1
    with pytest.raises(flow.Refused, match="in no run"):
        flow.cancel(site.pk)

    flow.start(site.pk)
    run_jobs()
    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED


def test_a_paused_site_stands_still_and_goes_on_where_it_was(make_site, run_jobs):
    site = make_site(titles=["ok 1", "ok 2"])
    flow.start(site.pk)
    flow.pause(site.pk, reason="the city asked")
    run_jobs()

    site.refresh_from_db()
    assert site.current_stage == Stage.FETCH
    assert site.progress(Stage.FETCH).done == 0
    with pytest.raises(flow.Refused, match="paused already"):
        flow.pause(site.pk)

    flow.resume(site.pk)
    run_jobs()
    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED
    with pytest.raises(flow.Refused, match="not paused"):
        flow.resume(site.pk)


def test_a_resumed_site_sends_its_jobs_under_names_of_their_own(make_site, queued):
    """What RQ does when a job ends it does to the name: the end of a skipped one would reach the next."""
    site = make_site(titles=["ok"])
    flow.start(site.pk)
    before = queued("fetch")
    flow.pause(site.pk)

    flow.resume(site.pk)

    after = queued("fetch")
    assert len(before) == 1
    assert len(after) == len(set(after)) == 2


def test_a_pause_between_two_stages_holds_the_coordinator_too(make_site, run_jobs):
    site = make_site(titles=["ok 1"])
    flow.start(site.pk)
    run_jobs(only="fetch")
    flow.pause(site.pk)
    run_jobs()
    site.refresh_from_db()
    assert (site.current_stage, site.coordinator_enqueued) == (Stage.FETCH, True)

    flow.resume(site.pk)
    run_jobs()
    site.refresh_from_db()
    assert site.current_stage == Stage.COMPLETED


def test_high_priority_goes_before_what_waits(make_site, queued):
    slow, urgent = make_site("slow.ca", titles=["ok"]), make_site("urgent.ca", titles=["ok"])
    flow.start(slow.pk)
    run = flow.start(urgent.pk, priority=Run.Priority.HIGH)

    assert queued("fetch")[0].split("-")[2] == str(run.pk)


def test_nothing_waits_on_a_queue_dependency(make_site, run_jobs):
    site = make_site(titles=["ok", "bad", "flaky"])
    flow.start(site.pk)
    run_jobs()

    connection = django_rq.get_connection("high")
    jobs = [
        connection.hgetall(key) for key in connection.scan_iter("rq:job:*") if connection.type(key) == b"hash"
    ]
    assert len(jobs) > 5
    assert not [job for job in jobs if b"dependency_ids" in job or b"dependency_id" in job]
