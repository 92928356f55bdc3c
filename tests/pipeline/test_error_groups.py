"""Failures of one kind are one group, and what a job writes is kept."""

import pytest

from pipeline import flow, job_log
from pipeline.models import DocumentState, ErrorDay, ErrorGroup, LogLine
from pipeline.state import groups
from pipeline.state.groups import normalised
from sites.models import Site

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.mark.django_db(transaction=False)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.org/x/1.pdf answered 404 Not Found", "https://b.gov/2025/y.pdf answered 404 Not Found"),
        (
            "2025-02-05-8691c4cb-bbd8c9f6.pdf cannot be read",
            "2024-11-30-aa91c4cb-0bd8c9f6.pdf cannot be read",
        ),
        ("12 pages of 40 are torn", "3 pages of 1,250 are torn"),
        ("no file /srv/clerk/a/b.pdf", "no file /mnt/other/c/d/e.pdf"),
        ("10.0.0.1:80 refused", "192.168.1.20:8080 refused"),
    ],
)
def test_what_differs_each_time_does_not_part_a_kind(one, other):
    assert normalised(one) == normalised(other)


@pytest.mark.django_db(transaction=False)
def test_what_means_something_else_is_another_kind():
    assert normalised("a.pdf cannot be read") != normalised("a.pdf needs a password")


@pytest.fixture
def broken(make_site, trivial_jobs, run_jobs) -> list[Site]:
    sites = [make_site("alameda.ca", titles=["bad", "bad", "ok"]), make_site("berkeley.ca", titles=["bad"])]
    for site in sites:
        flow.start(site.pk)
    run_jobs()
    return sites


def test_failures_of_several_sites_are_one_group_counted_by_day(broken):
    group = ErrorGroup.objects.get()
    assert (group.code, group.stage, group.platform, group.total) == ("corrupt", "ocr", "generic", 3)
    assert group.first_seen <= group.last_seen
    assert ErrorDay.objects.get().count == 3
    assert set(DocumentState.objects.failures().values_list("error_group", flat=True)) == {group.pk}


def test_older_failures_are_gathered_into_the_same_group(broken):
    DocumentState.objects.update(error_group="")
    before = ErrorGroup.objects.get().pk
    ErrorGroup.objects.all().delete()
    assert groups.gather() == 3
    assert groups.gather() == 0
    group = ErrorGroup.objects.get()
    assert (group.pk, group.total) == (before, 3)


def test_the_log_of_a_job_says_what_happened_and_belongs_to_its_run_and_row(broken):
    row = DocumentState.objects.failures().filter(site="berkeley.ca").get()
    lines = LogLine.objects.filter(row_id=row.pk).order_by("pk")
    assert [line.event for line in lines] == ["attempt failed", "job finished"]
    assert lines[0].fields["code"] == "corrupt"
    assert {line.run_id for line in lines} == {row.run_id}
    assert LogLine.objects.filter(run=row.run, stage="coordinator").exists()


def test_the_log_is_bounded_redacted_and_kept_for_a_time(broken, settings, monkeypatch):
    monkeypatch.setattr(job_log, "MOST_LINES", 3)
    run = broken[0].runs.get()
    LogLine.objects.all().delete()
    with job_log.of_job(run.pk, None, "ocr", "x"):
        for number in range(10):
            job_log.log.info("word" * 200, number=number, text="x" * 10_000, url="redis://:secret@host/0")
    lines = list(LogLine.objects.order_by("pk"))
    assert len(lines) == 4
    assert lines[-1].event == "7 more lines are left out"
    assert len(lines[0].event) == 200
    assert len(lines[0].fields["text"]) == 2000
    assert "secret" not in lines[0].fields["url"]

    assert job_log.forget_old() == 0
    LogLine.objects.filter(pk=lines[0].pk).update(at="2020-01-01T00:00Z")
    assert job_log.forget_old() == 1

    settings.LOG_DAYS = 0
    with job_log.of_job(run.pk, None, "ocr", "y"):
        job_log.log.info("not kept")
    assert not LogLine.objects.filter(job_id="y").exists()
