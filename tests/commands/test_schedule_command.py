"""`manage.py schedule`: shows, sets, one or many; nothing is changed by looking."""

import json

import pytest

from pipeline.models import Intervention, Schedule

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_shows_the_next_checks_and_says_how_many_run(manage, make_site) -> None:
    make_site("alameda.ca")
    make_site("berkeley.ca")

    ran = manage("schedule")

    assert ran.code == 0
    assert ran.out.count("every day (as the installation)") == 2
    assert "2 sites with a next check, 0 without; 0 due now, 0 of at most 25 running" in ran.out


def test_rhythms_of_a_state_are_set_at_once(manage, make_site) -> None:
    for name in ("alameda.ca", "berkeley.ca"):
        make_site(name)

    assert manage("schedule", "--state", "ca", "--set", "weekly", "--dry-run").code == 0
    assert Schedule.objects.filter(rhythm="weekly").count() == 0
    assert manage("schedule", "--state", "ca", "--set", "weekly", "--reason", "small").code == 0
    assert manage("schedule", "alameda.ca", "--set", "never").code == 0

    sites = {one["site"]: one for one in json.loads(manage("schedule", "--json").out)["sites"]}
    assert (sites["alameda.ca"]["rhythm"], sites["alameda.ca"]["next_check_at"]) == ("never", None)
    assert sites["berkeley.ca"]["rhythm"] == "weekly"
    assert Intervention.objects.filter(action="schedule").count() == 3


def test_now_makes_a_check_due(manage, make_site) -> None:
    make_site("alameda.ca")

    assert manage("schedule", "alameda.ca", "--now").code == 0

    assert json.loads(manage("schedule", "--json").out)["due"] == 1


def test_a_change_without_sites_is_refused(manage, make_site) -> None:
    make_site("alameda.ca")

    ran = manage("schedule", "--set", "weekly")

    assert (ran.code, Schedule.objects.count()) == (2, 0)
    assert "say which sites" in ran.err
