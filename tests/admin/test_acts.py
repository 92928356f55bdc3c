"""Acting from the admin: confirmed, permitted, recorded."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.urls import reverse

from pipeline import flow
from pipeline.models import BulkAct, DocumentState, Intervention, Retirement, Run
from pipeline.operations import interventions
from pipeline.operations.interventions import Operator
from sites.models import Document, Site
from sites.stages import Stage
from tests.conftest import assert_counters_equal_ledger

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
SITES = reverse("admin:sites_site_changelist")
LEDGER = reverse("admin:pipeline_documentstate_changelist")


def choose(action: str, *keys: object, across: bool = False, **more: str) -> dict:
    return {"action": action, ACTION_CHECKBOX_NAME: keys, "select_across": "1" if across else "0", **more}


def test_an_act_asks_first_and_says_what_will_happen(as_, make_site, trivial_jobs):
    flow.start(make_site("alameda.ca", titles=["ok"]).pk)
    make_site("berkeley.ca", titles=["ok"])
    page = as_("operator").post(SITES, choose("start", "alameda.ca", "berkeley.ca")).content.decode()
    assert "2 sites" in page
    assert "begins a run" in page
    assert "1 is in a run already and will be left alone." in page
    assert Run.objects.count() == 1


def test_confirmed_it_is_done_and_recorded_with_name_and_reason(as_, make_site, trivial_jobs):
    make_site(titles=["ok"])
    answer = as_("operator").post(
        SITES, choose("start", "alameda.ca", confirmed="1", reason="asked for"), follow=True
    )
    assert "Start: done for 1." in answer.content.decode()
    assert Run.objects.get().started_by == "operator"
    note = Intervention.objects.get()
    assert (note.action, note.by, note.reason, note.site_id) == (
        "start",
        "operator",
        "asked for",
        "alameda.ca",
    )


def test_all_filtered_rows_not_only_those_on_the_page(as_, make_site, run_jobs):
    for number in range(60):
        make_site(f"city{number}.ca", kind="city" if number else "county")
    client = as_("operator")
    data = choose("pause", "city1.ca", across=True)
    assert "59 sites" in client.post(f"{SITES}?kind=city", data).content.decode()
    answer = client.post(f"{SITES}?kind=city", {**data, "confirmed": "1"})
    assert answer.headers["Location"] == reverse(
        "admin:pipeline_bulkact_change", args=[BulkAct.objects.get().pk]
    )
    run_jobs()
    assert Site.objects.filter(paused_at__isnull=False).count() == 59
    assert Site.objects.get(kind="county").paused_at is None


def test_what_is_refused_is_said(as_, make_site):
    make_site()
    answer = as_("operator").post(SITES, choose("resume", "alameda.ca", confirmed="1"), follow=True)
    assert "alameda.ca is not paused" in answer.content.decode()


@pytest.mark.parametrize("group", ["viewer", ""])
def test_who_may_not_act_is_offered_nothing_and_refused(as_, ended, group):
    client = as_(group)
    page = client.get(SITES)
    assert page.status_code == (200 if group else 403)
    assert b'name="action"' not in page.content
    client.post(SITES, choose("pause", "alameda.ca", confirmed="1"))
    row = DocumentState.objects.get(status="failed_terminal")
    for url in (
        reverse("admin:sites_site_act", args=["alameda.ca", "pause"]),
        reverse("admin:pipeline_documentstate_act", args=[row.pk, "retry"]),
    ):
        assert client.post(url, {"confirmed": "1"}).status_code == 403
    assert not Intervention.objects.exists()


def test_one_failure_is_retried_from_its_page(as_, ended, run_jobs):
    Document.objects.filter(title="bad").update(title="mended")
    row = DocumentState.objects.get(status="failed_terminal")
    client = as_("operator")
    page = client.get(reverse("admin:pipeline_documentstate_change", args=[row.pk])).content.decode()
    assert "DocumentError: this PDF is broken" in page
    url = reverse("admin:pipeline_documentstate_act", args=[row.pk, "retry"])
    assert url in page
    assert "1 failure to try again: 1 in ocr." in client.get(url).content.decode()
    client.post(url, {"confirmed": "1", "reason": "a new scan"})
    run_jobs()
    row.refresh_from_db()
    assert row.status == "processed"
    assert_counters_equal_ledger()


def test_retry_of_all_failures_of_a_code(as_, make_site, trivial_jobs, run_jobs):
    for name in ("a.ca", "b.ca"):
        flow.start(make_site(name, titles=["ok", "bad"]).pk)
    run_jobs()
    Document.objects.update(title="mended")
    as_("operator").post(f"{LEDGER}?code=corrupt", choose("retry", "0", across=True, confirmed="1"))
    run_jobs()
    assert not DocumentState.objects.exclude(status="processed").exists()
    assert Run.objects.count() == 4


def test_a_skip_needs_a_reason(as_, ended):
    bad = Document.objects.get(title="bad")
    url = reverse("admin:sites_document_act", args=[bad.pk, "skip"])
    client = as_("operator")
    assert "This needs a reason." in client.post(url, {"confirmed": "1", "reason": " "}).content.decode()
    client.post(url, {"confirmed": "1", "reason": "a blank scan"})
    bad.refresh_from_db()
    assert bad.skip_reason == "a blank scan"
    page = client.get(reverse("admin:sites_document_change", args=[bad.pk])).content.decode()
    assert "Take up again" in page
    assert "a blank scan" in page


def test_the_site_page_offers_what_fits(as_, ended):
    client = as_("operator")
    url = reverse("admin:sites_site_change", args=[ended.pk])

    def offered() -> set[str]:
        page = client.get(url).content.decode()
        return {
            act
            for act in ("start", "retry", "pause", "resume", "restart", "cancel")
            if f'id="act-{act}"' in page
        }

    assert offered() == {"start", "retry", "pause"}
    interventions.pause(ended.pk, Operator("ann"))
    assert offered() == {"resume"}
    interventions.resume(ended.pk, Operator("ann"))
    flow.start(ended.pk)
    assert offered() == {"retry", "pause", "restart", "cancel"}


def test_state_cannot_be_edited_by_hand(as_, ended):
    client = as_("operator")
    url = reverse("admin:sites_site_change", args=[ended.pk])
    page = client.get(url)
    form = page.context["adminform"].form
    assert not {name for name in form.fields if "_total" in name or name in ("current_stage", "run_id")}
    sources = {
        "sources-TOTAL_FORMS": "0",
        "sources-INITIAL_FORMS": "0",
        "name": "Alameda",
        "ocr_total": "99",
        "current_stage": Stage.DEPLOY,
    }
    assert client.post(url, sources).status_code == 302
    ended.refresh_from_db()
    assert (ended.name, ended.ocr_total, ended.current_stage) == ("Alameda", 2, Stage.COMPLETED)
    for name in ("pipeline_run", "pipeline_documentstate", "pipeline_intervention", "pipeline_reconcilerun"):
        assert client.get(reverse(f"admin:{name}_add")).status_code == 403


def test_saving_a_site_does_not_undo_what_a_job_counted_meanwhile(as_, make_site):
    site = make_site(titles=None)
    client = as_("operator")
    url = reverse("admin:sites_site_change", args=[site.pk])
    client.get(url)
    Site.objects.filter(pk=site.pk).update(ocr_completed=7)
    client.post(url, {"sources-TOTAL_FORMS": "0", "sources-INITIAL_FORMS": "0", "name": "Alameda"})
    site.refresh_from_db()
    assert (site.name, site.ocr_completed) == ("Alameda", 7)


def test_removing_says_what_happens_to_files_and_records_and_restore_is_the_way_back(as_, ended, settings):
    settings.KEEP_REMOVED_DAYS = 30
    page = reverse("admin:sites_site_change", args=[ended.pk])
    act = reverse("admin:sites_site_act", args=[ended.pk, "remove"])
    client = as_("operator")
    assert "Archive" in client.get(page).content.decode()

    asked = client.post(act, {}).content.decode()
    assert "2 documents with files, texts and history stay for 30 days" in asked
    assert "search, pages, feeds, API, deployed databases and their earlier versions" in asked
    client.post(act, {"confirmed": "1"})
    assert not Retirement.objects.exists()  # no reason was given
    client.post(act, {"confirmed": "1", "reason": "they asked"})

    assert Retirement.objects.get().by == "operator"
    offered = client.get(page).content.decode()
    assert 'act/restore/"' in offered
    assert 'act/resume/"' not in offered
    client.post(reverse("admin:sites_site_act", args=[ended.pk, "restore"]), {"confirmed": "1"})
    assert Retirement.objects.get().lifted_by == "operator"
    assert list(Intervention.objects.order_by("pk").values_list("action", flat=True)) == [
        "remove",
        "restore removed",
    ]
