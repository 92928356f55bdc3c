"""Rhythms in the admin: the next check is shown, one is changed on its page, many from the list."""

import pytest
from django.urls import reverse

from pipeline.models import Intervention, Schedule

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "admin:sites_site_changelist"


@pytest.fixture
def sites(make_site):
    return [make_site(name) for name in ("alameda.ca", "berkeley.ca", "concord.ca")]


def test_many_sites_get_a_rhythm_at_once_and_it_is_recorded(sites, as_) -> None:
    client = as_("operator")
    chosen = {"action": "rhythm-weekly", "_selected_action": ["alameda.ca", "berkeley.ca"]}
    asked = client.post(reverse(LIST), chosen)
    client.post(reverse(LIST), {**chosen, "confirmed": "1", "reason": "small towns"})

    assert b"Check every week?" in asked.content
    found = Schedule.objects.order_by("pk").values_list("site_id", "rhythm")
    assert list(found) == [("alameda.ca", "weekly"), ("berkeley.ca", "weekly")]
    assert Intervention.objects.filter(action="schedule", reason="small towns").count() == 2


def test_one_site_on_its_page_and_the_next_check_everywhere(sites, as_) -> None:
    client = as_("operator")
    row = Schedule.objects.create(site=sites[0], note="it has no source that is switched on")
    page = reverse("admin:pipeline_schedule_change", args=[row.pk])

    assert client.post(page, {"rhythm": "hourly"}).status_code == 302

    row.refresh_from_db()
    assert (row.rhythm, row.note) == ("hourly", "")
    assert row.next_check_at is not None
    for address in (reverse(LIST), reverse("admin:sites_site_change", args=["alameda.ca"])):
        assert "every hour" in client.get(address).content.decode()


def test_who_may_only_look_changes_no_rhythm(sites, as_) -> None:
    client = as_("viewer")
    row = Schedule.objects.create(site=sites[0])
    client.post(reverse("admin:pipeline_schedule_change", args=[row.pk]), {"rhythm": "hourly"})
    client.post(
        reverse(LIST), {"action": "rhythm-weekly", "_selected_action": "alameda.ca", "confirmed": "1"}
    )

    assert client.get(reverse("admin:pipeline_schedule_changelist")).status_code == 200
    row.refresh_from_db()
    assert row.rhythm == ""
