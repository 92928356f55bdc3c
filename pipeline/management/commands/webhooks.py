"""`manage.py webhooks`: who is told when a run ends, and whether it arrived."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from pipeline.management.terminal.base import COULD_NOT, FAILED, OperatorCommand, known_sites
from pipeline.models import Webhook, WebhookDelivery
from pipeline.queue import sending
from pipeline.webhooks import send_due


class Command(OperatorCommand):
    help = "List, add or remove the servers that are told when a run ends; see what was delivered."
    examples = """\
examples:
  manage.py webhooks                                            # who is told
  manage.py webhooks --add https://example.org/clerk            # prints the secret that signs
  manage.py webhooks --add https://example.org/clerk --site alameda.ca --event failed
  manage.py webhooks --deliveries                               # what was sent, and what was answered
  manage.py webhooks --remove 3

What is sent, and how a receiver checks it, is in docs/deploying-records.md.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        act = parser.add_mutually_exclusive_group()
        act.add_argument("--add", metavar="URL", help="tell this server; prints the secret that signs")
        act.add_argument(
            "--remove", type=int, metavar="ID", help="no longer tell this one; its deliveries go too"
        )
        act.add_argument("--deliveries", action="store_true", help="the latest, and what was answered")
        act.add_argument("--send-due", action="store_true", help="queue what waits; reconcile does it too")
        parser.add_argument("--site", help="with --add: only this site (default: every site)")
        parser.add_argument(
            "--event", action="append", choices=Webhook.Event.values, help="with --add (default: all)"
        )

    def handle(self, *, add: str | None, remove: int | None, **options: Any) -> str:
        if not add and (options["site"] or options["event"]):
            raise CommandError("--site and --event go with --add URL", returncode=COULD_NOT)
        if add:
            return self._add(add, options["site"], options["event"] or list(Webhook.Event.values))
        if remove is not None:
            if not Webhook.objects.filter(pk=remove).delete()[0]:
                raise CommandError(
                    f"there is no webhook {remove}; `manage.py webhooks` lists them", returncode=COULD_NOT
                )
            return f"webhook {remove} removed"
        if options["send_due"]:
            sending.check()
            return f"{send_due()} deliveries queued"
        return "\n".join(_deliveries() if options["deliveries"] else _webhooks()) or "none"

    def _add(self, url: str, site: str | None, events: list[str]) -> str:
        known_sites([site] if site else [])
        hook = Webhook(url=url, site_id=site, events=events)
        try:
            hook.full_clean()
        except ValidationError as error:
            raise CommandError(f"{url}: {', '.join(error.messages)}", returncode=FAILED) from error
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
