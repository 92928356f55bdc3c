"""Webhooks: every wanted end of a run is told once, signed, tried again, and kept on record."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.db import connection
from django.utils import timezone

from pipeline import flow, webhooks
from pipeline.models import Run, Webhook, WebhookDelivery
from sites.models import Site

pytestmark = pytest.mark.django_db(transaction=True)
PENDING, DELIVERED, FAILED = (WebhookDelivery.Status(name) for name in ("pending", "delivered", "failed"))


class Receiver:
    """A server that answers as it is told and keeps what it was sent."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.got: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((dict(self.headers), body))
                self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
                self.end_headers()

            def log_message(self, *arguments: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    threading.Thread(target=receiver.server.serve_forever, daemon=True).start()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()


@pytest.fixture
def ended_run(make_site) -> Run:
    now = timezone.now()
    site = make_site(pages=7)
    return Run.objects.create(
        site=site, status="completed", started_at=now, finished_at=now, message="completed"
    )


def due_now() -> None:
    WebhookDelivery.objects.update(next_attempt_at=timezone.now() - timedelta(seconds=1))


def test_a_completed_run_is_told_and_the_receiver_can_check_who_speaks(
    receiver, make_site, trivial_jobs, run_jobs
) -> None:
    site = make_site(titles=["ok"])
    hook = Webhook.objects.create(url=receiver.url, secret="s3cret")

    run = flow.start(site.pk)
    run_jobs()

    [(headers, body)] = receiver.got
    told = json.loads(body)
    assert (told["event"], told["site"], told["run"]) == ("completed", site.pk, run.pk)
    assert told["stages"]["ocr"]["completed"] == 1
    moment, signature = (part.partition("=")[2] for part in headers["Clerk-Signature"].split(","))
    assert hmac.new(b"s3cret", f"{moment}.".encode() + body, hashlib.sha256).hexdigest() == signature
    delivery = WebhookDelivery.objects.get(webhook=hook, run=run)
    assert (delivery.status, delivery.attempts, delivery.answer) == (DELIVERED, 1, "204")


def test_a_failed_run_is_told_too(receiver, make_site, trivial_jobs, run_jobs) -> None:
    site = make_site(titles=["bad"])
    Webhook.objects.create(url=receiver.url)

    flow.start(site.pk)
    run_jobs()

    assert [json.loads(body)["event"] for _, body in receiver.got] == ["failed"]


def test_only_wanted_events_of_wanted_sites_are_told(receiver, ended_run) -> None:
    Webhook.objects.create(url=receiver.url, events=["failed"])
    Webhook.objects.create(url=receiver.url, enabled=False)
    Webhook.objects.create(url=receiver.url, site=Site.objects.create(subdomain="other.ca"))
    wanted = Webhook.objects.create(url=receiver.url, site=ended_run.site)

    webhooks.announce(ended_run.pk)

    assert list(WebhookDelivery.objects.values_list("webhook", flat=True)) == [wanted.pk]


def test_announcing_twice_tells_once(receiver, ended_run) -> None:
    Webhook.objects.create(url=receiver.url)
    for _ in range(2):
        webhooks.announce(ended_run.pk)
    [delivery] = WebhookDelivery.objects.all()

    for _ in range(3):
        webhooks.deliver(delivery.pk)

    assert len(receiver.got) == 1


def test_a_refusal_is_tried_again_later_and_then_given_up(receiver, ended_run, settings) -> None:
    settings.WEBHOOK_ATTEMPTS = 3
    receiver.answers = [500, 301, 404]
    Webhook.objects.create(url=receiver.url)
    webhooks.announce(ended_run.pk)
    [delivery] = WebhookDelivery.objects.all()

    seen = []
    for _ in range(4):
        due_now()
        webhooks.deliver(delivery.pk)
        delivery.refresh_from_db()
        seen.append((delivery.status, delivery.attempts, delivery.answer))

    assert seen == [
        (PENDING, 1, "answered 500"),
        (PENDING, 2, "answered 301"),
        (FAILED, 3, "answered 404"),
        (FAILED, 3, "answered 404"),
    ]


def test_a_receiver_that_is_away_is_recorded_and_waited_for(ended_run) -> None:
    Webhook.objects.create(url="http://127.0.0.1:9/")
    webhooks.announce(ended_run.pk)
    [delivery] = WebhookDelivery.objects.all()

    webhooks.deliver(delivery.pk)

    delivery.refresh_from_db()
    assert delivery.status == PENDING
    assert "ConnectError" in delivery.answer
    assert delivery.next_attempt_at > timezone.now() + timedelta(seconds=20)


def test_a_delivery_whose_job_was_lost_is_sent_by_the_next_reconcile(receiver, ended_run, run_jobs) -> None:
    Webhook.objects.create(url=receiver.url)
    webhooks.announce(ended_run.pk)
    delivery = WebhookDelivery.objects.get()
    WebhookDelivery.objects.update(attempts=1, next_attempt_at=timezone.now() - timedelta(minutes=1))

    assert webhooks.send_due() == 1
    run_jobs()

    delivery.refresh_from_db()
    assert (delivery.status, len(receiver.got)) == (DELIVERED, 1)


def test_of_two_jobs_for_one_delivery_one_sends(receiver, ended_run) -> None:
    Webhook.objects.create(url=receiver.url)
    webhooks.announce(ended_run.pk)
    [delivery] = WebhookDelivery.objects.all()
    together = threading.Barrier(2)

    def deliver() -> None:
        together.wait()
        webhooks.deliver(delivery.pk)
        connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(receiver.got) == 1
