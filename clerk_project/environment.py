"""The settings file: one loader for services, cron and people. Read as systemd reads it; no shell runs."""

import re
from collections.abc import MutableMapping
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

# Names the file; empty means none, whatever lies in the usual place.
NAME = "CLERK_ENV_FILE"
USUAL = Path("/etc/clerk/environment")
OPTION = "--env-file"
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")


def load(environ: MutableMapping[str, str], usual: Path = USUAL) -> None:
    """Add what the settings file says. A variable that is set already wins: it was set by hand, for once."""
    named = environ.get(NAME)
    if named == "" or (named is None and not _exists(usual)):
        return
    for name, value in read(Path(named).expanduser() if named else usual).items():
        environ.setdefault(name, value)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError:  # in a folder that is closed to us: reading it will say so
        return True


def read(path: Path) -> dict[str, str]:
    """`NAME=value` a line. A value is taken as it stands, up to the end of its line, without outer quotes."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"the settings file {path} cannot be read ({error}); run as the user it belongs to, "
            f"or name another one with {OPTION} or {NAME} (empty: none)"
        ) from error
    values = {}
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        match = _LINE.fullmatch(stripped)
        if match is None:
            # The line itself may hold a password.
            raise ImproperlyConfigured(f"{path}, line {number}: expected NAME=value")
        values[match[1]] = _unquoted(match[2])
    return values


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value


def take_option(arguments: list[str], environ: MutableMapping[str, str]) -> list[str]:
    """The command line without `--env-file FILE`, which may stand anywhere in it."""
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        option, equals, value = word.partition("=")
        if option != OPTION:
            rest.append(word)
            continue
        environ[NAME] = value if equals else next(words, "")
        if not environ[NAME]:
            raise ImproperlyConfigured(f"{OPTION}: which file?")
    return rest
