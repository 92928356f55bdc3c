"""Webhooks are set up and looked after from the command line."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from pipeline.models import Run, Webhook, WebhookDelivery

pytestmark = pytest.mark.django_db


def run(**options: object) -> str:
    out = StringIO()
    call_command("webhooks", stdout=out, **options)
    return out.getvalue()


def test_a_webhook_is_added_listed_and_removed(make_site) -> None:
    make_site()
    added = run(add="https://example.org/hook", site="alameda.ca", event=["failed"])
    hook = Webhook.objects.get()

    assert hook.secret in added
    assert run() == f"{hook.pk}: https://example.org/hook for alameda.ca on failed\n"
    assert run(deliveries=True) == "none\n"
    assert "removed" in run(remove=hook.pk)
    assert run() == "none\n"


@pytest.mark.parametrize(
    "options", [{"add": "not a url"}, {"add": "https://example.org", "site": "nowhere.ca"}, {"remove": 404}]
)
def test_a_mistake_is_named_and_nothing_is_written(options) -> None:
    with pytest.raises(CommandError):
        run(**options)
    assert not Webhook.objects.exists()


def test_the_admin_shows_webhooks_and_their_deliveries(admin_client, make_site) -> None:
    site, now = make_site(), timezone.now()
    run = Run.objects.create(site=site, status="completed", started_at=now)
    hook = Webhook.objects.create(url="https://example.org/hook")
    delivery = WebhookDelivery.objects.create(
        webhook=hook, run=run, event="completed", payload={"site": site.pk}, next_attempt_at=now
    )

    for page in (
        "webhook/",
        f"webhook/{hook.pk}/change/",
        "webhookdelivery/",
        f"webhookdelivery/{delivery.pk}/change/",
    ):
        answer = admin_client.get(f"/admin/pipeline/{page}")
        assert answer.status_code == 200
        assert "example.org" in answer.text
