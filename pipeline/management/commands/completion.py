"""What the shell completes after `clerk`."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from pipeline.management.terminal.base import COULD_NOT, OperatorCommand
from pipeline.management.terminal.completing import SHELLS, script, words_of
from pipeline.short_names import SHORT
from sites.models import Site

MOST = 200


class Command(OperatorCommand):
    help = "Print the completion script of a shell: commands, their options, and the keys of sites."
    examples = """\
examples:
  manage.py completion bash > ~/.local/share/bash-completion/completions/clerk
  manage.py completion zsh > "${fpath[1]}/_clerk"
  manage.py completion fish > ~/.config/fish/completions/clerk.fish

A new shell has it. The script is of this version: print it again after an upgrade.
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shell", nargs="?", choices=SHELLS, help="for which shell")
        parser.add_argument("--sites", metavar="PREFIX", help="instead, the keys of sites that begin so")

    def handle(self, *, shell: str | None, sites: str | None, **options: Any) -> str | None:
        if sites is not None:
            keys = (
                Site.objects.filter(subdomain__startswith=sites).order_by("pk").values_list("pk", flat=True)
            )
            return "\n".join(keys[:MOST])
        if shell is None:
            raise CommandError(f"for which shell? {', '.join(SHELLS)}", returncode=COULD_NOT)
        return script(shell, words_of(SHORT)).rstrip("\n")
