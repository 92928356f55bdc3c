"""Completion scripts for three shells, made from the commands and their options."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from django.core.management import BaseCommand, get_commands, load_command_class

from pipeline.management.terminal.base import OperatorCommand

SHELLS = ("bash", "zsh", "fish")
# Django's own that an operator needs.
MORE = ("migrate", "createsuperuser", "changepassword", "check", "help")


@dataclass(frozen=True)
class Words:
    """What may follow a command: its options, and whether sites are among its arguments."""

    options: tuple[str, ...]
    sites: bool
    help: str


def words_of(short: Mapping[str, str]) -> dict[str, Words]:
    """By every name under which a command can be called."""
    apps = get_commands()
    full = {name: _words(name, str(app)) for name, app in apps.items() if app == "pipeline"}
    found = {name: full[long] for name, long in short.items() if long in full} | full
    return found | {name: Words((), False, "") for name in MORE if name in apps or name == "help"}


def _words(name: str, app: str) -> Words:
    command: BaseCommand = load_command_class(app, name)
    parser = command.create_parser("clerk", name)
    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    options = tuple(
        option for action in actions for option in action.option_strings if option.startswith("--")
    )
    takes_sites = any(action.dest in ("sites", "site") for action in actions)
    assert isinstance(command, OperatorCommand)
    return Words(options, takes_sites, command.help.split(". ")[0].rstrip("."))


def script(shell: str, words: Mapping[str, Words]) -> str:
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](words)


def _bash(words: Mapping[str, Words]) -> str:
    cases = "\n".join(
        f'    {name}) options="{" ".join(found.options)}"; sites={int(found.sites)} ;;'
        for name, found in words.items()
    )
    return f"""\
# Completion of clerk for bash: clerk completion bash > ~/.local/share/bash-completion/completions/clerk
_clerk() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" options="" sites=0
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word")); return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) [ "$sites" = 1 ] && COMPREPLY=($("${{COMP_WORDS[0]}}" completion --sites "$word" 2>/dev/null)) ;;
  esac
}}
complete -o default -F _clerk clerk
"""


def _zsh(words: Mapping[str, Words]) -> str:
    names = " ".join(
        f"'{name}:{found.help.replace(chr(39), '').replace(':', '')}'" for name, found in words.items()
    )
    cases = "\n".join(
        f"    {name}) options=({' '.join(found.options)}); sites={int(found.sites)} ;;"
        for name, found in words.items()
    )
    return f"""\
#compdef clerk
# Completion of clerk for zsh: clerk completion zsh > "${{fpath[1]}}/_clerk"
_clerk() {{
  local -a names options keys
  local sites=0
  names=({names})
  if (( CURRENT == 2 )); then _describe 'command' names; return; fi
  case "$words[2]" in
{cases}
  esac
  if [[ "$PREFIX" == -* ]]; then compadd -- $options; return; fi
  if (( sites )); then
    keys=(${{(f)"$($words[1] completion --sites "$PREFIX" 2>/dev/null)"}})
    compadd -- $keys; return
  fi
  _files
}}
_clerk "$@"
"""


def _fish(words: Mapping[str, Words]) -> str:
    lines = [
        "# Completion of clerk for fish: clerk completion fish > ~/.config/fish/completions/clerk.fish",
        "complete -c clerk -f",
    ]
    for name, found in words.items():
        told = found.help.replace("\\", "").replace("'", "")
        lines.append(f"complete -c clerk -n __fish_use_subcommand -a {name} -d '{told}'")
        here = f"'__fish_seen_subcommand_from {name}'"
        lines += [f"complete -c clerk -n {here} -l {option[2:]}" for option in found.options]
        if found.sites:
            lines.append(f"complete -c clerk -n {here} -a '(clerk completion --sites (commandline -ct))'")
    return "\n".join(lines) + "\n"
