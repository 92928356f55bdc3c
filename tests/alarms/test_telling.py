"""Told once, together, at the right hour, to whom it concerns; and when it is over, that too."""

from datetime import time, timedelta

import pytest
from django.conf import settings as clerk
from django.utils import timezone

from pipeline import alarms, flow
from pipeline.alarms import delivery, digest, telling
from pipeline.models import Alarm, Channel, Notification
from pipeline.operations.channels import send_test
from pipeline.state.repair import call_for_attention, clear_attention
from sites.models import Site
from tests.fakecity import FakeCity

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("trivial_jobs")]
HOUR = timedelta(hours=1)


@pytest.fixture
def now():
    return timezone.now()


@pytest.fixture
def ask(make_site):
    """A site that needs a person."""

    def ask(name: str) -> Site:
        site = make_site(name)
        call_for_attention(site.pk, None, "recovered three times without progress")
        return site

    return ask


def look(now, run_jobs) -> None:
    alarms.look(now)
    run_jobs(only="webhooks")


@pytest.mark.both_databases
def test_many_sites_at_once_are_one_message_and_are_not_told_again(ask, team, mailbox, run_jobs, now) -> None:
    for number in range(40):
        ask(f"city{number}.ca")
    for hours in range(5):
        look(now + hours * HOUR, run_jobs)

    assert mailbox.subjects == ['Clerk: 40 times "needs a person"']
    assert "… and 10 more" in mailbox.text(0)
    assert mailbox.mails[0]["To"] == "ops@example.org, me@example.org"


def test_what_is_over_is_said_to_who_was_told_and_may_come_again(ask, team, mailbox, run_jobs, now) -> None:
    site = ask("alameda.ca")
    look(now, run_jobs)
    clear_attention(site.pk)
    look(now + 3 * HOUR, run_jobs)
    call_for_attention(site.pk, None, "again")
    look(now + 4 * HOUR, run_jobs)

    told = "Clerk: alameda.ca needs a person"
    assert mailbox.subjects == [told, "Clerk: resolved: alameda.ca needs a person", told]
    assert "(lasted 3 h)" in mailbox.text(1)


def test_alarms_of_the_same_minutes_wait_for_each_other(ask, team, mailbox, run_jobs, now, settings) -> None:
    settings.ALARM_GROUP_SECONDS = 120
    ask("alameda.ca")
    look(now, run_jobs)
    ask("berkeley.ca")
    look(now + timedelta(seconds=60), run_jobs)
    assert mailbox.subjects == []

    look(now + timedelta(seconds=121), run_jobs)

    assert mailbox.subjects == ['Clerk: 2 times "needs a person"']


def test_what_is_over_before_it_was_told_is_not_told(ask, team, mailbox, run_jobs, now, settings) -> None:
    settings.ALARM_GROUP_SECONDS = 120
    site = ask("alameda.ca")
    look(now, run_jobs)
    clear_attention(site.pk)
    look(now + HOUR, run_jobs)

    assert (mailbox.subjects, Alarm.objects.filter(resolved_at=None).exclude(kind="queue").count()) == ([], 0)


@pytest.mark.parametrize(
    ("begin", "end", "hour", "quiet"),
    [
        (22, 7, 23, True),
        (22, 7, 3, True),
        (22, 7, 7, False),
        (22, 7, 12, False),
        (1, 5, 3, True),
        (1, 5, 6, False),
    ],
)
def test_quiet_hours_reach_over_midnight(now, begin: int, end: int, hour: int, quiet: bool) -> None:
    channel = Channel(quiet_from=time(begin), quiet_until=time(end))

    assert telling.is_quiet(channel, timezone.localtime(now).replace(hour=hour, minute=0)) is quiet


def test_what_comes_in_quiet_hours_is_told_after_them(ask, team, mailbox, run_jobs, now) -> None:
    Channel.objects.update(quiet_from=time(22), quiet_until=time(7))
    night = timezone.localtime(now).replace(hour=23, minute=0)
    ask("alameda.ca")
    look(night, run_jobs)
    ask("berkeley.ca")
    look(night + 2 * HOUR, run_jobs)
    assert mailbox.subjects == []

    look(night + 9 * HOUR, run_jobs)

    assert mailbox.subjects == ['Clerk: 2 times "needs a person"']


def test_a_storm_is_a_few_messages(ask, team, mailbox, run_jobs, now, settings) -> None:
    settings.ALARM_MESSAGES_PER_HOUR = 2
    for minute in range(12):
        ask(f"city{minute}.ca")
        look(now + timedelta(minutes=minute), run_jobs)
    assert len(mailbox.mails) == 2

    look(now + timedelta(minutes=62), run_jobs)

    assert mailbox.subjects[2] == 'Clerk: 10 times "needs a person"'


def test_a_failing_site_is_one_alarm_while_it_is_tried_again(make_site, team, mailbox, run_jobs, now) -> None:
    site = make_site(titles=["fetch-bad"])
    for day in range(3):
        flow.start(site.pk)
        look(now + day * 24 * HOUR, run_jobs)  # it is at work: nobody knows yet
        run_jobs()
        look(now + day * 24 * HOUR + HOUR, run_jobs)

    assert mailbox.subjects == ["Clerk: alameda.ca cannot pass fetch"]


def test_a_queue_without_a_worker_is_told_once_it_lasts_and_although_nobody_works(mailbox, now) -> None:
    Channel.objects.create(name="ops", address="ops@example.org", kinds=["queue"])
    alarms.look(now)
    assert mailbox.subjects == []

    alarms.look(now + timedelta(minutes=6))

    assert mailbox.subjects == [f'Clerk: {len(clerk.RQ_QUEUES)} times "queue without a worker"']


def test_a_mail_server_that_is_away_is_tried_again_and_a_dead_channel_is_switched_off(
    ask, team, mailbox, run_jobs, now, settings
) -> None:
    settings.WEBHOOK_ATTEMPTS = 2
    mailbox.refuse = True
    for number in range(delivery.GIVE_UP_AFTER):
        ask(f"city{number}.ca")
        for _ in range(2):
            Notification.objects.filter(status="pending").update(next_attempt_at=now - HOUR)
            look(now + number * HOUR, run_jobs)

    team.refresh_from_db()
    assert (team.enabled, team.failures) == (False, 3)
    assert "451" in team.off_reason
    assert set(Notification.objects.values_list("status", "attempts")) == {("failed", 2)}

    mailbox.refuse = False
    assert send_test(team, "me").status == "delivered"
    team.refresh_from_db()
    assert (team.enabled, team.off_reason) == (True, "")


def test_a_daily_digest_once_a_day(ask, team, mailbox, run_jobs, now) -> None:
    Channel.objects.update(digest_hour=8, kinds=[])
    ask("alameda.ca")
    morning = timezone.localtime(now).replace(hour=7, minute=0)
    for hours in range(30):
        look(morning + hours * HOUR, run_jobs)

    assert len(mailbox.mails) == 2
    assert mailbox.subjects[0] == f"Clerk: the day to {morning.date()}"
    assert "- alameda.ca needs a person" in mailbox.text(0)
    assert "Runs in the last day" in digest.body(now)


def test_a_chat_gets_it_and_no_word_of_ours_holds_its_key(ask, now, run_jobs, settings, manage_logs) -> None:
    settings.ALARM_GROUP_SECONDS = 0
    key = "T1JJ3T3L2-A1BRTD4JD"
    with FakeCity() as chat:
        chat.page(f"/hook/{key}", "gone", status=500)
        Channel.objects.create(name="chat", way="apprise", address=f"json://{chat.host}/hook/{key}")
        ask("alameda.ca")
        look(now, run_jobs)

        message = Notification.objects.get()
        assert (message.status, message.attempts) == ("pending", 1)
        assert key not in message.answer
        assert key not in str(message.channel.shown_address)

        chat.page(f"/hook/{key}", "ok")
        Notification.objects.update(next_attempt_at=now - HOUR)
        look(now, run_jobs)
        told = [asked for asked in chat.asked if asked.method == "POST"]

    assert Notification.objects.get().status == "delivered"
    assert b"alameda.ca needs a person" in told[-1].body
    assert key not in manage_logs()


@pytest.fixture
def manage_logs(capsys):
    return lambda: "".join(capsys.readouterr())


def test_the_dead_man_is_told_of_every_pass_and_of_one_that_failed(settings, monkeypatch) -> None:
    with FakeCity() as watcher:
        watcher.page("/ping/abc", "OK")
        watcher.page("/ping/abc/fail", "OK")
        settings.PING_URL = f"{watcher.url}/ping/abc"
        alarms.ping()
        alarms.ping(failed=True)

        assert [asked.path for asked in watcher.asked] == ["/ping/abc", "/ping/abc/fail"]
        settings.PING_URL = f"{watcher.url}/gone"
        alarms.ping()  # costs the pass nothing
