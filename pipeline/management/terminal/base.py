"""What the operators' commands have in common: help with examples, who acts and why, one way to end."""

import argparse
import getpass
import os
import signal
import sys
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter
from django.db import InterfaceError, OperationalError, ProgrammingError
from redis.exceptions import RedisError

from pipeline.flow import Refused
from pipeline.models import Run
from pipeline.operations import interventions
from pipeline.operations.interventions import ActOutcome, Operator
from pipeline.queue.sending import QueueUnavailable
from sites.models import Site
from sites.stages import WORK_STAGES

FAILED, COULD_NOT = 1, 2
MEND_DATABASE = "check DATABASE_URL, and run `manage.py migrate` if it is new"
STAGES = [stage.value for stage in WORK_STAGES]
PRIORITIES = {priority.label: priority.value for priority in Run.Priority}


class HelpFormatter(DjangoHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Examples keep their lines."""


class OperatorCommand(BaseCommand):
    """Ends with 0 when done, 1 when something was refused or failed, 2 when it could not even look."""

    examples = ""
    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs.setdefault("formatter_class", HelpFormatter)
        return super().create_parser(prog_name, subcommand, epilog=self.examples, **kwargs)

    def execute(self, *args: Any, **options: Any) -> Any:
        try:
            return super().execute(*args, **options)
        except QueueUnavailable as error:
            raise CommandError(str(error), returncode=COULD_NOT) from error
        except BrokenPipeError:  # `… | head` has enough
            # Python would complain once more when it empties what is left in the pipe at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(128 + signal.SIGPIPE)
        except RedisError as error:  # it went away in the middle
            raise CommandError(f"Redis does not answer: {error}", returncode=COULD_NOT) from error
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            message = f"the database cannot be read ({str(error).strip()}); {MEND_DATABASE}"
            raise CommandError(message, returncode=COULD_NOT) from error


def add_operator(parser: CommandParser) -> None:
    who = parser.add_argument_group("for the record")
    who.add_argument("--by", default=_this_user(), help="who acts (default: you, as %(default)s)")
    who.add_argument("--reason", default="", help="why, for whoever looks at it later")


def whole_number(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number, at least {least}")
        return int(text)

    return read


def day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no day; expected YYYY-MM-DD") from error


def _this_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a number without a name, as containers have them
        return f"user {os.getuid()}"


def known_sites(names: Iterable[str]) -> list[str]:
    """The sites of these names, in this order; of an unknown one the error helps to find the right name."""
    wanted = list(dict.fromkeys(names))
    known = set(Site.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    for name in wanted:
        if name not in known:
            _unknown(name)
    return wanted


def _unknown(name: str) -> NoReturn:
    like = Site.objects.filter(subdomain__icontains=name.split(".")[0]).values_list("pk", flat=True)[:5]
    hint = f"did you mean {', '.join(like)}?" if like else "`manage.py export_sites` lists them"
    raise CommandError(f"there is no site {name!r}; {hint}", returncode=COULD_NOT)


class SiteActCommand(OperatorCommand):
    """One act on the sites named."""

    done = ""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sites", nargs="+", metavar="SITE", help="subdomains, e.g. alameda.ca")
        add_operator(parser)

    def act(self, site_id: str, operator: Operator) -> object:
        raise NotImplementedError

    def handle(self, *, sites: list[str], by: str, reason: str, **options: Any) -> None:
        operator = Operator(by, reason)

        def act(site_id: str) -> str:
            self.act(site_id, operator)
            return site_id

        outcome = interventions.for_each(known_sites(sites), act)
        finish(self, outcome, lambda site_id: f"{site_id}: {self.done}")


def finish(command: BaseCommand, outcome: ActOutcome, say: Callable[[Any], str]) -> None:
    """A line for each that was done or refused; a refusal makes the exit code 1."""
    for done in outcome.done:
        command.stdout.write(say(done))
    for _, why in outcome.refused:
        command.stderr.write(f"refused: {why}")
    stop_if_lost(outcome)
    if outcome.refused:
        raise CommandError(f"{len(outcome.refused)} refused", returncode=FAILED)


def stop_if_lost(outcome: ActOutcome) -> None:
    if outcome.error:
        raise CommandError(f"{outcome.error} ({outcome.left} left)", returncode=COULD_NOT)


def acting(act: Callable[[], Any]) -> Any:
    """One act that is refused as a whole."""
    try:
        return act()
    except Refused as error:
        raise CommandError(str(error), returncode=FAILED) from error
