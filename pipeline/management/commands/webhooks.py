"""`manage.py webhooks`: who is told when a run ends, and whether it arrived."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from pipeline.models import Webhook, WebhookDelivery
from pipeline.webhooks import send_due
from sites.models import Site


class Command(BaseCommand):
    help = "List, add or remove the servers that are told when a run ends; see what was delivered."

    def add_arguments(self, parser: CommandParser) -> None:
        act = parser.add_mutually_exclusive_group()
        act.add_argument("--add", metavar="URL", help="tell this server; prints the secret that signs")
        act.add_argument("--remove", type=int, metavar="ID")
        act.add_argument("--deliveries", action="store_true", help="the latest, and what was answered")
        act.add_argument("--send-due", action="store_true", help="queue what waits; reconcile does it too")
        parser.add_argument("--site", help="with --add: only this site (default: every site)")
        parser.add_argument(
            "--event", action="append", choices=Webhook.Event.values, help="with --add (default: all)"
        )

    def handle(self, *, add: str | None, remove: int | None, **options: Any) -> str:
        if add:
            return self._add(add, options["site"], options["event"] or list(Webhook.Event.values))
        if remove is not None:
            if not Webhook.objects.filter(pk=remove).delete()[0]:
                raise CommandError(f"there is no webhook {remove}")
            return f"webhook {remove} removed"
        if options["send_due"]:
            return f"{send_due()} deliveries queued"
        return "\n".join(_deliveries() if options["deliveries"] else _webhooks()) or "none"

    def _add(self, url: str, site: str | None, events: list[str]) -> str:
        if site and not Site.objects.filter(pk=site).exists():
            raise CommandError(f"there is no site {site!r}")
        hook = Webhook(url=url, site_id=site, events=events)
        try:
            hook.full_clean()
        except ValidationError as error:
            raise CommandError(", ".join(error.messages)) from error
        hook.save()
        return f"webhook {hook.pk}: {hook}, secret {hook.secret}"


def _webhooks() -> list[str]:
    return [
        f"{hook.pk}: {hook} on {', '.join(hook.events)}{'' if hook.enabled else ' (off)'}"
        for hook in Webhook.objects.all()
    ]


def _deliveries() -> list[str]:
    latest = WebhookDelivery.objects.select_related("webhook")[:50]
    return [
        f"{delivery.created_at:%Y-%m-%d %H:%M} {delivery.event} of run {delivery.run_id} "
        f"to {delivery.webhook.url}: {delivery.status} after {delivery.attempts} tries "
        f"({delivery.answer or 'no answer yet'})"
        for delivery in latest
    ]
