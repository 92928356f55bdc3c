"""People with and without the right to act."""

import importlib
from collections.abc import Callable

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.test import Client

from pipeline import flow
from sites.models import Site

roles = importlib.import_module("pipeline.migrations.0004_roles")
more_roles = importlib.import_module("pipeline.migrations.0009_rhythms_and_alarms")
later_roles = importlib.import_module("pipeline.migrations.0013_their_roles")


def person(name: str, group: str = "") -> User:
    user = User.objects.create_user(name, password="a good password", is_staff=True)
    if group:
        # A test that commits empties the tables afterwards, and with them the groups of the migration.
        roles.create(apps, None)
        more_roles.allow(apps, None)
        later_roles.create(apps, None)
        user.groups.add(Group.objects.get(name=group))
    return user


@pytest.fixture
def as_(db) -> Callable[[str], Client]:
    """A browser in which somebody of this group is logged in."""

    def login(group: str) -> Client:
        client = Client()
        client.force_login(person(group or "nobody", group))
        return client

    return login


@pytest.fixture
def ended(make_site, trivial_jobs, run_jobs) -> Site:
    """A site whose run has ended with one good document and one broken one."""
    site = make_site(titles=["ok", "bad"])
    flow.start(site.pk)
    run_jobs()
    return Site.objects.get(pk=site.pk)
