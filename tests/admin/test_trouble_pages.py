"""The pages of trouble: errors by kind, the log, a failure that explains itself, a queue that is away."""

import json

import django_rq
import pytest
from django.urls import reverse
from redis.exceptions import ConnectionError as RedisAway
from rq.job import Job

from pipeline import flow
from pipeline.models import DocumentState, ErrorGroup, LogLine
from pipeline.reports.next_step import next_step
from sites.models import Document, Site
from sites.storage import SiteFiles
from tests import pdfs

pytestmark = [pytest.mark.django_db(transaction=True)]
GROUPS = reverse("admin:pipeline_errorgroup_changelist")


def text_of(answer) -> str:
    return " ".join(answer.content.decode().split())


@pytest.mark.both_databases
def test_errors_are_listed_by_kind_with_how_many_are_failed_now(as_, ended, make_site, run_jobs):
    flow.start(make_site("berkeley.ca", titles=["bad"]).pk)
    run_jobs()
    group = ErrorGroup.objects.get()
    viewer = as_("viewer")
    shown = text_of(viewer.get(GROUPS))
    assert f"group={group.pk}&amp;standing=failed" in shown
    page = text_of(viewer.get(reverse("admin:pipeline_errorgroup_change", args=[group.pk])))
    assert "No reader can open it" in page
    assert "<strong>2</strong> failed now" in page
    assert "Whose it is" not in page


def test_a_group_is_given_to_somebody_noted_ignored_and_retried_as_a_whole(as_, ended, run_jobs):
    group, client = ErrorGroup.objects.get(), as_("operator")
    decide = reverse("admin:pipeline_errorgroup_decide", args=[group.pk])
    client.post(decide, {"assignee": "operator", "note": "asked the city", "ignored": "on"})
    group.refresh_from_db()
    assert (group.assignee, group.note, group.ignored_at is not None) == ("operator", "asked the city", True)
    assert str(group.pk) not in client.get("/").content.decode()
    assert str(group.pk) not in client.get(GROUPS).content.decode()
    assert str(group.pk) in client.get(f"{GROUPS}?state=ignored").content.decode()

    client.post(decide, {"assignee": "", "note": ""})
    Document.objects.update(title="mended")
    client.post(reverse("admin:pipeline_errorgroup_act", args=[group.pk, "retry"]), {"confirmed": "1"})
    run_jobs()
    assert not DocumentState.objects.failures().exists()
    assert str(group.pk) not in client.get(GROUPS).content.decode()
    assert str(group.pk) in client.get(f"{GROUPS}?state=over").content.decode()
    assert as_("viewer").post(decide, {}).status_code == 403


def test_a_failure_says_what_it_means_what_to_do_and_what_happens_next(as_, ended):
    row = DocumentState.objects.failures().get()
    Document.objects.filter(title="bad").update(url="https://city.test/a.pdf", path="pdfs/x/a.pdf")
    file = SiteFiles.of(row.site_id).file("pdfs/x/a.pdf")
    file.parent.mkdir(parents=True)
    file.write_bytes(pdfs.digital([["Roll call"]]))
    viewer = as_("viewer")
    shown = text_of(viewer.get(reverse("admin:pipeline_documentstate_change", args=[row.pk])))
    for words in ("No reader can open it", "What you can do:", "What happens next:", "attempt failed"):
        assert words in shown
    assert 'href="https://city.test/a.pdf"' in shown
    picture = viewer.get(reverse("admin:sites_document_picture", args=[row.document_id, 1]))
    assert picture.headers["Content-Type"] == "image/webp"
    kept = viewer.get(reverse("admin:sites_document_file", args=[row.document_id]))
    assert b"".join(kept.streaming_content).startswith(b"%PDF")
    # What is no PDF is never shown in the page's own name.
    assert "attachment" in kept.headers["Content-Disposition"]
    assert "Nothing happens by itself" in next_step(row)


def test_the_log_is_found_from_a_run_and_searched(as_, ended):
    run = ended.runs.get()
    viewer = as_("viewer")
    page = text_of(viewer.get(reverse("admin:pipeline_run_change", args=[run.pk])))
    assert "job finished" in page
    address = reverse("admin:pipeline_logline_changelist")
    found = viewer.get(f"{address}?run_id__exact={run.pk}&q=corrupt").context["cl"].result_list
    assert [line.event for line in found] == ["attempt failed"]
    assert LogLine.objects.filter(run=run).count() > 1


def test_the_queue_pages_say_so_where_redis_is_away(as_, ended, monkeypatch, settings):
    def away(*arguments, **options):
        raise RedisAway("redis://:secret@127.0.0.1:1 refused")

    settings.OPERATOR_CONTACT = "Ann in room 12"
    client = as_("viewer")
    monkeypatch.setattr("redis.connection.Connection.connect", away)
    monkeypatch.setattr("redis.connection.UnixDomainSocketConnection.connect", away)
    django_rq.get_connection("high").connection_pool.disconnect()
    answer = client.get("/queues/")
    assert answer.status_code == 503
    assert "The queue cannot be reached" in text_of(answer)
    assert "Ask Ann in room 12." in text_of(answer)
    assert "secret" not in text_of(answer)


def test_the_queue_pages_name_the_document_of_a_job(as_, make_site, trivial_jobs, run_jobs):
    flow.start(make_site(titles=["ok"]).pk)
    run_jobs(only="fetch")
    run_jobs(only="high")
    queue = django_rq.get_queue("ocr")
    job = queue.fetch_job(queue.job_ids[0])
    assert isinstance(job, Job)
    row = DocumentState.objects.get(pipeline="ocr")
    client = as_("viewer")
    number = sorted(settings_queues()).index("ocr")
    for address in (f"/queues/queues/{number}/", f"/queues/queues/{number}/{job.id}/"):
        shown = text_of(client.get(address))
        assert reverse("admin:pipeline_documentstate_change", args=[row.pk]) in shown, address
        assert ".actions()" not in shown


def settings_queues() -> list[str]:
    return ["high", "fetch", "ocr", "compilation", "extraction", "deploy"]


@pytest.mark.parametrize("status", [403, 404])
def test_error_pages_are_ours_and_say_whom_to_ask(as_, settings, status):
    settings.OPERATOR_CONTACT = "clerk@city.test"
    client = as_("viewer")
    address = {403: "/admin/sites/site/add/", 404: "/admin/nothing/at/all/"}[status]
    answer = client.get(address)
    assert answer.status_code == status
    assert "Ask clerk@city.test." in text_of(answer)
    assert "errors.css" in text_of(answer)


def test_an_empty_installation_shows_three_steps_until_a_run_has_completed(
    as_, make_site, trivial_jobs, run_jobs
):
    client = as_("operator")
    assert [step.done for step in client.get("/").context["steps"]] == [False, False, False]
    site = make_site(titles=["ok"])
    assert [step.done for step in client.get("/").context["steps"]] == [False, True, False]
    flow.start(site.pk)
    run_jobs()
    assert client.get("/").context["steps"] == []
    assert json.dumps(Site.objects.get().current_stage) == '"completed"'
