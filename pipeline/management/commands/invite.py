"""Invite a colleague by mail."""

from functools import partial
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from pipeline.management.terminal.base import COULD_NOT, OperatorCommand, acting, add_operator
from pipeline.operations.interventions import Operator
from pipeline.operations.invite import ROLES, invite


class Command(OperatorCommand):
    help = (
        "Make an account for a colleague, with a role, and mail a link where they choose the password. "
        "A viewer looks; an operator starts, retries, pauses and corrects. Without EMAIL_HOST the link is "
        "printed, for you to pass on. Called again for somebody who has not come yet, it sends a new link."
    )
    examples = """\
examples:
  manage.py invite jo@example.org                      # a viewer
  manage.py invite jo@example.org --role operator --reason "night duty"
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", metavar="ADDRESS")
        parser.add_argument("--role", choices=ROLES, default="viewer", help="default: %(default)s")
        add_operator(parser)

    def handle(self, *, email: str, role: str, by: str, reason: str, **options: Any) -> None:
        try:
            link = acting(partial(invite, email, role, Operator(by, reason)))
        except (SMTPException, OSError) as error:
            message = f"the account is made, and the mail could not be sent ({error}); invite again to resend"
            raise CommandError(message, returncode=COULD_NOT) from error
        sent = f"a mail was sent to {email}" if settings.EMAIL_HOST else f"pass this link on: {link}"
        self.stdout.write(f"{email} is invited as {role}; {sent}")
