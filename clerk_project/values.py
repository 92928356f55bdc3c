"""Values of environment variables, read and checked: a bad one stops the start with its name."""

import ipaddress
import math
import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from pipeline import redaction

# Where the code lies: a checkout, or the folder that `pip install` put the packages in.
CODE_DIR = Path(__file__).resolve().parent.parent
INSTALLED = not (CODE_DIR / "manage.py").exists()
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}
# The names that were asked for: a back-up keeps what was said to them, without secrets.
ASKED_FOR: set[str] = set()


def env(name: str, default: str = "") -> str:
    ASKED_FOR.add(name)
    return os.environ.get(name, default).strip()


def home() -> Path:
    """Where relative paths begin, and `var/` by default. Nothing is written beside installed packages."""
    usual = "~/.local/share/clerk" if INSTALLED else CODE_DIR
    return Path(env("CLERK_HOME") or usual).expanduser().resolve()


def redacted(value: str) -> str:
    """A value in a message: somebody may have pasted an address with a password into the wrong line."""
    return redaction.redact(repr(value))


def envbool(name: str, default: bool = False) -> bool:
    value = env(name, str(default)).lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(
            f"{name}={redacted(value)}: expected one of 1, 0, true, false, yes, no, on, off"
        )
    return value in TRUE


def envnumber(name: str, default: float, least: float = 0) -> float:
    value = env(name, str(default))
    try:
        number = float(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}={redacted(value)}: expected a number") from error
    if not math.isfinite(number):
        raise ImproperlyConfigured(f"{name}={redacted(value)}: expected a number")
    if number < least:
        raise ImproperlyConfigured(f"{name}={redacted(value)}: expected at least {least:g}")
    return number


def envint(name: str, default: int, least: int = 0) -> int:
    number = envnumber(name, default, least)
    if number != int(number):
        raise ImproperlyConfigured(f"{name}={number!r}: expected a whole number")
    return int(number)


def envlist(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in env(name, default).split(",") if part.strip()]


def envpath(name: str, default: Path) -> Path:
    path = Path(env(name) or default).expanduser()
    return path if path.is_absolute() else home() / path


def envchoice(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = env(name, default)
    if value not in choices:
        raise ImproperlyConfigured(f"{name}={redacted(value)}: expected one of {', '.join(choices)}")
    return value


def envnetworks(name: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    try:
        return [ipaddress.ip_network(each) for each in envlist(name)]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name}={redacted(env(name))}: expected networks such as 10.1.0.0/16"
        ) from error
