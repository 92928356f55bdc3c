"""`manage.py notify`: who is told of what is wrong, and whether it arrives."""

import json as jsonlib
from datetime import time
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from pipeline.alarms import look
from pipeline.management.terminal.base import COULD_NOT, FAILED, OperatorCommand, add_operator
from pipeline.models import Alarm, AlarmKind, Channel, Notification
from pipeline.operations.channels import send_test
from pipeline.work.notify import check_address


class Command(OperatorCommand):
    help = (
        "List, add, try or remove the channels that are told when something is wrong: mail, or any chat or "
        "push service that Apprise speaks to. Without arguments: the channels, and the alarms that are open."
    )
    examples = """\
examples:
  manage.py notify                                               # channels, and what is open
  manage.py notify --add ops@example.org,me@example.org --name team
  manage.py notify --add 'slack://TokenA/TokenB/TokenC/#clerk' --quiet 22-7 --digest 8
  manage.py notify --add ntfys://ntfy.sh/our-clerk --kind failed --kind attention
  manage.py notify --test                                        # to every channel; or --test team
  manage.py notify --remove team
  manage.py notify --send                                        # look and send now, as the workers do
  manage.py notify --json | jq .alarms

Addresses of every service, and recipes, are in docs/notifications.md. Exit code 0: done. 1: a message did not
arrive, or the channel was refused. 2: no such channel, or could not look.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        act = parser.add_mutually_exclusive_group()
        act.add_argument("--add", metavar="ADDRESS", help="mail addresses with commas, or an Apprise address")
        act.add_argument("--remove", metavar="NAME", help="this channel, and what was sent to it")
        act.add_argument(
            "--test", nargs="?", const="", metavar="NAME", help="a message now (default: to all)"
        )
        act.add_argument("--send", action="store_true", help="look for what is wrong, and tell it")
        new = parser.add_argument_group("with --add")
        new.add_argument("--name", help="what to call it (default: its kind)")
        new.add_argument("--kind", action="append", choices=AlarmKind.values, help="only this; repeat")
        new.add_argument("--quiet", metavar="22-7", help="hours in which nothing is sent")
        new.add_argument("--digest", type=int, metavar="HOUR", help="a daily digest at this hour")
        parser.add_argument("--json", action="store_true", help="one JSON object")
        add_operator(parser)

    def handle(self, *, add: str | None, remove: str | None, test: str | None, **options: Any) -> None:
        if add:
            return self._add(add, **options)
        if remove:
            _channel(remove).delete()
            return self.stdout.write(f"{remove} removed")
        if test is not None:
            return self._test([_channel(test)] if test else list(Channel.objects.all()), options["by"])
        if options["send"]:
            look(timezone.now())
        self._show(options["json"])

    def _add(
        self,
        address: str,
        *,
        name: str | None,
        kind: list[str] | None,
        quiet: str | None,
        digest: int | None,
        **_: Any,
    ) -> None:
        way = Channel.Way.APPRISE if "://" in address else Channel.Way.MAIL
        channel = Channel(
            name=name or address.partition("://")[0], way=way, address=address, digest_hour=digest
        )
        channel.kinds = kind or AlarmKind.values
        channel.quiet_from, channel.quiet_until = _hours(quiet)
        if way == Channel.Way.APPRISE and not check_address(address):
            raise CommandError(f"Apprise knows no such address: {channel.shown_address}", returncode=FAILED)
        try:
            channel.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages), returncode=FAILED) from error
        channel.save()
        self.stdout.write(f"{channel.name} added; `manage.py notify --test {channel.name}` tries it")

    def _test(self, channels: list[Channel], by: str) -> None:
        if not channels:
            raise CommandError("there is no channel yet; add one with --add", returncode=COULD_NOT)
        messages = [send_test(channel, by) for channel in channels]
        for message in messages:
            self.stdout.write(f"{message.channel.name}: {message.answer}")
        failed = sum(message.status != Notification.Status.DELIVERED for message in messages)
        if failed:
            raise CommandError(f"{failed} of {len(messages)} did not arrive", returncode=FAILED)

    def _show(self, json: bool) -> None:
        channels = list(Channel.objects.all())
        alarms = Alarm.objects.filter(resolved_at=None, opened_at__isnull=False).order_by("opened_at")
        if json:
            found = {"channels": [_as_json(one) for one in channels], "alarms": [*alarms.values(*SHOWN)]}
            return self.stdout.write(jsonlib.dumps(found, cls=DjangoJSONEncoder, indent=2))
        for channel in channels:
            off = "" if channel.enabled else f" (off{': ' if channel.off_reason else ''}{channel.off_reason})"
            self.stdout.write(f"{channel.name}: {channel.way}, {channel.shown_address}{off}")
        for alarm in alarms:
            self.stdout.write(f"open since {alarm.opened_at:%Y-%m-%d %H:%M} UTC: {alarm.title}")
        self.stdout.write(f"{len(channels)} channels, {alarms.count()} alarms open")


SHOWN = ("key", "kind", "site_id", "title", "message", "opened_at")


def _as_json(channel: Channel) -> dict[str, Any]:
    return {
        "name": channel.name,
        "way": channel.way,
        "address": channel.shown_address,
        "kinds": channel.kinds,
        "digest_hour": channel.digest_hour,
        "enabled": channel.enabled,
        "off_reason": channel.off_reason,
    }


def _channel(name: str) -> Channel:
    channel = Channel.objects.filter(name=name).first()
    if channel is None:
        raise CommandError(
            f"there is no channel {name!r}; `manage.py notify` lists them", returncode=COULD_NOT
        )
    return channel


def _hours(text: str | None) -> tuple[time | None, time | None]:
    if not text:
        return None, None
    begin, _, end = text.partition("-")
    if not (begin.isdecimal() and end.isdecimal() and int(begin) < 24 and int(end) < 24):
        raise CommandError(f"--quiet {text!r}: expected two hours, as in 22-7", returncode=COULD_NOT)
    return time(int(begin)), time(int(end))
