"""`manage.py notify`: channels are added, tried and removed; an address that is a key is not shown."""

import json

import pytest

from pipeline.models import Channel

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_channel_is_added_listed_and_removed(manage) -> None:
    added = manage("notify", "--add", "ops@example.org", "--name", "team", "--quiet", "22-7", "--digest", "8")
    assert added.code == 0

    found = json.loads(manage("notify", "--json").out)["channels"]
    assert [(one["name"], one["way"], one["digest_hour"]) for one in found] == [("team", "mail", 8)]
    assert manage("notify", "--remove", "team").code == 0
    assert not Channel.objects.exists()


@pytest.mark.parametrize("address", ["nonsense", "noservice://key/of/mine", "a@example.org,b"])
def test_an_address_that_nobody_knows_is_refused(manage, address: str) -> None:
    ran = manage("notify", "--add", address)

    assert (ran.code, Channel.objects.count()) == (1, 0)
    assert "key/of/mine" not in ran.out + ran.err


def test_the_key_of_a_chat_is_not_shown(manage) -> None:
    address = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/"
    manage("notify", "--add", address, "--name", "chat")

    assert "TIiajkdnlazkcOXrIdevi7FQ" not in manage("notify").out + manage("notify", "--json").out
    assert Channel.objects.get().address == address


def test_a_test_that_does_not_arrive_says_why_and_ends_with_1(manage) -> None:
    manage("notify", "--add", "ops@example.org", "--name", "team")

    ran = manage("notify", "--test", "team")

    assert ran.code == 1
    assert "EMAIL_HOST is not set" in ran.out
    assert manage("notify", "--test", "nobody").code == 2
