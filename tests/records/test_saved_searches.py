"""Saved searches: nobody who has not said yes is written to; what is new is told once. By real mail."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta

import pytest
from django.core import mail as django_mail
from django.db import connection
from django.test import Client
from django.utils import timezone

from records.following import arrivals, rounds, sending
from records.models import Alert, Arrival, SavedSearch
from sites.models import Document, Site
from sites.storage import SiteFiles
from tests import pdfs
from tests.commands.conftest import manage  # noqa: F401 - a fixture
from tests.mail_server import Postbox, serving

pytestmark = pytest.mark.django_db(transaction=True)
NEWS = "The bridge on Main Street is closed."
HOST = "https://records.test"


@pytest.fixture
def post(settings):
    """A mail server, and Clerk set to use it."""
    box = Postbox()
    server = serving(box)
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = server.hostname, server.port
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.PUBLIC_URL, settings.RECORDS_NOTES_PER_MINUTE = HOST, 0
    yield box
    server.stop()


@pytest.fixture
def arrive(town, add_document, publish):
    """A new document comes in and is deployed."""

    def come(name="news", pages=(NEWS,), **values) -> Document:
        document = add_document(town, name, list(pages), meeting_date=date(2024, 6, 1), **values)
        publish(Site.objects.get(pk=town.pk))
        return document

    arrivals.note()  # what there is already
    return come


def link_in(text: str, action: str) -> str:
    found = re.search(rf"{HOST}(/search/follow/{action}/\S+)", text)
    assert found is not None, text
    return found[1]


def follow(client: Client, box: Postbox, query="q=bridge", frequency="at_once", email="ann@bend.test"):
    """Ask and say yes."""
    client.post(f"/search/follow?{query}", {"email": email, "frequency": frequency})
    client.post(link_in(box.text(), "confirm"))
    return SavedSearch.objects.latest("pk")


def test_nothing_is_told_before_the_owner_said_yes(client, post, arrive):
    answer = client.post("/search/follow?q=bridge", {"email": "Ann@Bend.test", "frequency": "at_once"})
    assert "Look into your mail" in answer.content.decode()
    arrive()
    rounds.once()
    assert [each["To"] for each in post.mails] == ["ann@bend.test"]

    address = link_in(post.text(), "confirm")
    client.get(address)  # programs look at links in mails: that is no yes
    assert SavedSearch.objects.get().confirmed_at is None
    assert "bridge" in client.post(address, follow=True).content.decode()
    assert SavedSearch.objects.get().confirmed_at is not None
    rounds.once()
    assert len(post.mails) == 1, "what was there before is not new"


def test_what_is_new_is_told_once_with_its_page(client, post, arrive):
    follow(client, post)
    arrive()
    arrive("dull", ["Nothing was decided."])
    for _ in range(3):
        rounds.once()

    assert len(post.mails) == 2
    told = post.mails[-1]
    assert told["Subject"] == "1 new page: bridge"
    assert "Bend.Or, City Council, 2024-06-01" in post.text()
    assert "<mark>bridge</mark>" in post.text(kind="html")
    page = re.search(rf"{HOST}(/bend.or/[0-9a-f]{{16}}/1\?q=bridge)", post.text())
    assert page is not None
    assert client.get(page[1]).status_code == 200
    alert = Alert.objects.get()
    assert (alert.status, alert.total, alert.attempts) == ("sent", 1, 1)


def test_the_picture_of_the_page_is_in_the_mail(client, post, arrive, add_document, town, publish):
    follow(client, post)
    document = add_document(town, "scan", [NEWS], method="ocr")
    file = SiteFiles.of(town.pk).file(document.path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pdfs.digital([[NEWS]]))
    publish(Site.objects.get(pk=town.pk))
    rounds.once()

    images = [part for part in post.mails[-1].walk() if part.get_content_type() == "image/jpeg"]
    assert len(images) == 1
    assert images[0].get_content().startswith(b"\xff\xd8")
    assert f"cid:{images[0]['Content-ID'].strip('<>')}" in post.text(kind="html")


def test_a_mail_ends_its_search_by_one_click(client, post, arrive):
    search = follow(client, post)
    arrive()
    rounds.once()
    told = post.mails[-1]

    assert told["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = link_in(told["List-Unsubscribe"].strip("<>"), "stop")
    strict = Client(enforce_csrf_checks=True)
    assert strict.get(address).status_code == 200
    assert not SavedSearch.objects.get(pk=search.pk).ended_at
    assert strict.post(address, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert SavedSearch.objects.get(pk=search.pk).ended_at
    arrive("more")
    rounds.once()
    assert len(post.mails) == 2


def test_links_work_while_the_records_are_closed_and_nothing_is_sent(client, post, arrive, settings):
    search = follow(client, post)
    settings.RECORDS_PUBLIC = False
    arrive()
    rounds.once()

    assert len(post.mails) == 1
    assert client.get("/search/follow?q=bridge").status_code in (302, 404)
    settings.RECORDS_PUBLIC = True
    rounds.once()
    assert len(post.mails) == 2
    settings.RECORDS_PUBLIC = False
    client.post(link_in(post.text(), "stop"))
    assert SavedSearch.objects.get(pk=search.pk).ended_at


def test_daily_and_weekly_gather_what_is_new(client, post, arrive):
    daily, weekly = follow(client, post, frequency="daily"), None
    weekly = follow(client, post, frequency="weekly", query="q=bridge&kind=minutes")
    now, sent = timezone.now(), len(post.mails)
    SavedSearch.objects.filter(pk=daily.pk).update(due_at=now + timedelta(days=1))
    SavedSearch.objects.filter(pk=weekly.pk).update(due_at=now + timedelta(days=7))
    arrive("one")
    arrive("two")
    rounds.once()
    assert len(post.mails) == sent
    SavedSearch.objects.update(due_at=now)
    rounds.once()

    assert [each["Subject"] for each in post.mails[sent:]] == [
        "2 new pages: bridge",
        "2 new pages: bridge, minutes",
    ]
    daily.refresh_from_db()
    weekly.refresh_from_db()
    assert daily.due_at == now + timedelta(days=1)
    assert weekly.due_at == now + timedelta(days=7)


def test_a_search_is_told_only_what_it_asks_for(client, post, arrive, make_site, add_document, publish):
    follow(client, post, query="q=bridge&site=bend.or&kind=agenda")
    arrive("minutes again")
    other = make_site("reno.nv")
    add_document(other, "first", ["Roll call"])
    publish(other)
    rounds.once()
    add_document(other, "bridge", [NEWS], kind="agenda")
    publish(other)
    rounds.once()
    assert len(post.mails) == 1

    arrive("agenda again", kind="agenda")
    rounds.once()
    assert post.mails[-1]["Subject"] == "1 new page: bridge, in bend.or, agenda"


def test_a_new_town_s_archive_is_no_news(client, post, arrive, make_site, add_document, publish):
    follow(client, post)
    other = make_site("reno.nv")
    add_document(other, "old", [NEWS])
    publish(other)
    rounds.once()
    assert len(post.mails) == 1

    add_document(other, "new", [NEWS])
    publish(other)
    rounds.once()
    assert post.mails[-1]["Subject"] == "1 new page: bridge"


@pytest.mark.both_databases
def test_two_rounds_at_once_tell_it_once(client, post, arrive):
    follow(client, post)
    arrive()
    together = threading.Barrier(3)

    def go(_: int) -> None:
        together.wait()
        try:
            rounds.once()
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(go, range(3)))
    rounds.once()

    assert [each["Subject"] for each in post.mails[1:]] == ["1 new page: bridge"]
    assert Alert.objects.count() == 1
    assert Arrival.objects.filter(baseline=False).count() == 1


def test_a_server_that_is_away_costs_no_attempt(client, post, arrive, settings):
    follow(client, post)
    arrive()
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    done = rounds.once()
    assert "127.0.0.1:1" in done.trouble
    assert Alert.objects.get().attempts == 0

    settings.EMAIL_PORT = port
    assert rounds.once().sent == 1


def test_a_mail_that_is_not_taken_is_tried_again_later_and_then_given_up(client, post, arrive):
    follow(client, post)
    arrive()
    for attempt in range(1, sending.ATTEMPTS + 1):
        post.answers = ["451 later"]
        rounds.once()
        alert = Alert.objects.get()
        assert alert.attempts == attempt
        rounds.once()  # it waits
        assert Alert.objects.get().attempts == attempt
        Alert.objects.update(next_attempt_at=timezone.now())

    assert (alert.status, len(post.mails)) == ("failed", 1)
    assert "451" in alert.answer
    assert not SavedSearch.objects.get().ended_at


def test_an_address_that_is_not_there_is_written_to_no_more(client, post, arrive):
    search = follow(client, post)
    arrive()
    post.answers = ["550 no such person"]

    assert rounds.once().failed == 1
    search.refresh_from_db()
    assert search.ended_at


def test_a_mail_that_asks_waits_for_the_server(client, post, arrive, settings):
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    answer = client.post("/search/follow?q=bridge", {"email": "ann@bend.test", "frequency": "daily"})
    assert answer.status_code == 200
    assert SavedSearch.objects.get().asked_at is None

    settings.EMAIL_PORT = port
    assert rounds.once().asked == 1
    assert rounds.once().asked == 0


def test_nobody_is_flooded_by_somebody_who_types_their_address(client, post, arrive):
    for number in range(9):
        told = {"email": "ann@bend.test", "frequency": "daily"}
        client.post(f"/search/follow?q=word{number}", told)
        client.post(f"/search/follow?q=word{number}", told)
    client.post("/search/follow?q=spam", {"email": "b@bend.test", "frequency": "daily", "website": "x"})
    client.post("/search/follow", {"email": "c@bend.test", "frequency": "daily"})

    assert len(post.mails) == 5
    SavedSearch.objects.update(created_at=timezone.now() - timedelta(days=8))
    assert rounds.once().forgotten == 5


def test_what_an_address_follows_is_changed_and_ended_by_its_own_link_alone(client, post, arrive):
    mine = follow(client, post)
    other = follow(client, post, email="bob@bend.test")
    arrive()
    rounds.once()
    ann = next(number for number, each in enumerate(post.mails) if number > 1 and "ann" in each["To"])
    page = link_in(post.text(ann), "all")

    assert "bob" not in client.get(page).content.decode()
    client.post(page, {"search": mine.pk, "frequency": "weekly"})
    client.post(page, {"search": other.pk, "frequency": "weekly"})
    client.post(page, {"search": other.pk, "stop": "1"})
    mine.refresh_from_db()
    other.refresh_from_db()
    assert (mine.frequency, other.frequency, other.ended_at) == ("weekly", "at_once", None)
    client.post(page, {"all": "1"})
    mine.refresh_from_db()
    assert mine.ended_at
    for action in ("confirm", "stop", "all"):
        assert client.post(f"/search/follow/{action}/{page.rpartition('/')[2]}x").status_code == 404
    # A link for one thing is none for another.
    assert client.post(f"/search/follow/stop/{page.rpartition('/')[2]}").status_code == 404


def test_what_was_taken_out_meanwhile_is_not_told(client, post, arrive, town, publish, settings):
    settings.DEPLOY_MAX_SHRINK_PERCENT = 100
    follow(client, post)
    document = arrive()
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    rounds.once()
    Document.objects.filter(pk=document.pk).update(skip_reason="taken down")
    publish(Site.objects.get(pk=town.pk))
    settings.EMAIL_PORT = port
    rounds.once()

    assert len(post.mails) == 1
    assert "not in the records any more" in Alert.objects.get().answer


def test_hostile_words_make_no_headers_and_no_markup(client, post, arrive):
    follow(client, post, query="q=%3Cb%3Ebridge%0d%0aBcc:x@y.test")
    assert post.mails[0]["Bcc"] is None
    assert "<b>" not in post.text(kind="html")


def test_without_a_mail_server_nothing_is_offered(client, town, settings):
    settings.EMAIL_HOST = ""
    assert "Follow by mail" not in client.get("/search", {"q": "bridge"}).content.decode()
    assert client.get("/search/follow?q=bridge").status_code == 404
    assert django_mail.outbox == []


def test_the_command_does_a_round_and_says_what_waits(client, post, arrive, manage):  # noqa: F811
    follow(client, post)
    arrive()
    assert "0 mails wait" in manage("saved_searches", "--dry-run").out
    assert len(post.mails) == 1
    ran = manage("saved_searches")
    assert (ran.code, ran.out.strip()) == (
        0,
        "1 new documents; 1 searches found something; 1 mails sent, 0 addresses asked, 0 given up",
    )
    assert manage("saved_searches", "--quiet").out == ""
    assert "q=bridge, at once: 1 sent, 0 waiting" in manage("saved_searches", "--list").out
    assert "ann@" not in manage("saved_searches", "--list").out
