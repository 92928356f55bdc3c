"""Channels in the admin: a key is typed once and never shown; a test says what was answered."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from pipeline.models import Channel

pytestmark = pytest.mark.django_db(transaction=True)
LIST = reverse("admin:pipeline_channel_changelist")
KEY = "TIiajkdnlazkcOXrIdevi7FQ"
FIELDS = {"name": "chat", "way": "apprise", "kinds": ["failed"], "enabled": "on"}


@pytest.fixture
def owner(db) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("owner", password="a good password"))
    return client


def test_a_key_is_kept_and_never_shown_again(owner) -> None:
    address = f"slack://T1JJ3T3L2/A1BRTD4JD/{KEY}/"
    added = owner.post(reverse("admin:pipeline_channel_add"), {**FIELDS, "address": address})
    assert added.status_code == 302, added.context["errors"]
    page = reverse("admin:pipeline_channel_change", args=[Channel.objects.get().pk])
    changed = owner.post(page, {**FIELDS, "name": "talk", "address": ""})

    assert changed.status_code == 302
    assert (Channel.objects.get().name, Channel.objects.get().address) == ("talk", address)
    for shown in (LIST, page):
        text = owner.get(shown).content.decode()
        assert "slack://***" in text
        assert KEY not in text


@pytest.mark.parametrize("address", ["", "noservice://x/y"])
def test_an_address_that_nobody_knows_is_refused(owner, address: str) -> None:
    owner.post(reverse("admin:pipeline_channel_add"), {**FIELDS, "address": address})

    assert not Channel.objects.exists()


def test_a_test_says_what_was_answered(owner) -> None:
    channel = Channel.objects.create(name="team", address="ops@example.org")
    url = reverse("admin:pipeline_channel_act", args=[channel.pk, "test"])

    answer = owner.post(url, {"confirmed": "1"}, follow=True)

    assert "team: EMAIL_HOST is not set" in answer.content.decode()


def test_who_may_only_look_sees_alarms_and_no_channel(as_) -> None:
    client = as_("viewer")

    assert client.get(reverse("admin:pipeline_alarm_changelist")).status_code == 200
    assert client.get(LIST).status_code == 403
