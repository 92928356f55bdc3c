"""`manage.py saved_searches`: readers are told by mail what their searches find among what is new."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Count, Q

from pipeline.management.terminal.base import COULD_NOT, FAILED, OperatorCommand
from records.following import matching, rounds
from records.following.rounds import Round
from records.models import Alert, SavedSearch


class Command(OperatorCommand):
    help = (
        "Match what is new in the records with the searches that readers saved, and send the mails that are "
        "due. From cron, every few minutes: a search that wants to be told at once is told by the next round."
    )
    examples = """\
examples:
  manage.py saved_searches                     # one round: what is new, matched and sent
  manage.py saved_searches --list              # how many follow what, and what became of the mails
  manage.py saved_searches --dry-run           # how many mails are waiting; sends and writes nothing
  */5 * * * *  cd /opt/clerk && .venv/bin/python manage.py saved_searches --quiet

Exit code 0: done; 1: a mail was given up; 2: no mail server is set, or it does not answer (nothing is lost).
"""

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--list", action="store_true", help="the searches, without addresses")
        what.add_argument("--dry-run", action="store_true", help="say what waits and change nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
        parser.add_argument("--quiet", action="store_true", help="print nothing unless something was done")

    def handle(self, *, dry_run: bool, **options: Any) -> str | None:
        if options["list"]:
            return "\n".join(_listed()) or "nobody follows anything"
        if dry_run:
            return _waiting(options["json"])
        done = rounds.once()
        if options["json"]:
            self.stdout.write(json.dumps(asdict(done)))
        elif done != Round() or not options["quiet"]:
            self.stdout.write(_in_words(done))
        if done.trouble and SavedSearch.objects.filter(ended_at=None).exists():
            raise CommandError(done.trouble, returncode=COULD_NOT)
        if done.failed:
            raise CommandError(f"{done.failed} mails were given up; the admin says why", returncode=FAILED)
        return None


def _in_words(done: Round) -> str:
    return (
        f"{done.new} new documents; {done.matched} searches found something;"
        f" {done.sent} mails sent, {done.asked} addresses asked, {done.failed} given up"
    )


def _listed() -> list[str]:
    searches = SavedSearch.objects.filter(ended_at=None).annotate(
        sent=Count("alerts", filter=Q(alerts__status=Alert.Status.SENT)),
        waiting=Count("alerts", filter=Q(alerts__status=Alert.Status.PENDING)),
    )
    return [
        f"{search.pk}: {search.query}, {search.get_frequency_display()}:"
        f" {f'{search.sent} sent, {search.waiting} waiting' if search.confirmed_at else 'not confirmed'}"
        for search in searches
    ]


def _waiting(as_json: bool) -> str:
    waiting = Alert.objects.filter(status=Alert.Status.PENDING).count()
    due = matching.due_now()
    if as_json:
        return json.dumps({"waiting": waiting, "due": due})
    return f"{waiting} mails wait to be sent; {due} searches are due to be matched with what is new (dry-run)"
