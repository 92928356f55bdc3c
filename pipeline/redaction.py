"""Passwords do not leave in a text: the credentials of every address, and the values that are secret."""

import os
import re
import sys
from collections.abc import Mapping
from typing import Any, TextIO
from urllib.parse import unquote, urlsplit

HIDDEN = "***"
# The settings whose whole value is secret. Addresses are taken apart wherever they stand.
SECRET_SETTINGS = (
    "SECRET_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "PGPASSWORD",
    "EMAIL_PASSWORD",
    "MONITORING_TOKEN",
    "OIDC_CLIENT_SECRET",
    "SENTRY_DSN",
    "PING_URL",
)
# A shorter one would be hidden in the middle of words; in an address it is hidden all the same.
SHORTEST = 6
_CREDENTIALS = re.compile(r"([a-z][a-z0-9+.-]*://)[^\s/?#'\"<>]+@", re.IGNORECASE)
_PASSWORD_WORD = re.compile(r"\b(password|passwd|secret|token)=[^\s&'\"]+", re.IGNORECASE)
_secrets: list[str] = []


def redact(text: str) -> str:
    for secret in _secrets:
        text = text.replace(secret, HIDDEN)
    text = _CREDENTIALS.sub(rf"\1{HIDDEN}@", text)
    return _PASSWORD_WORD.sub(rf"\1={HIDDEN}", text)


def masked(address: str) -> str:
    """Of an address whose path or host is a key: only the way it is spoken to."""
    scheme, separator, _ = address.partition("://")
    return f"{scheme}://{HIDDEN}" if separator else HIDDEN


def hide(*secrets: str) -> None:
    """Hide these too, from now on, in whatever this process says."""
    found = {*_secrets, *(secret for secret in secrets if len(secret) >= SHORTEST)}
    _secrets[:] = sorted(found, key=len, reverse=True)


def remember(environ: Mapping[str, str]) -> None:
    """Hide from now on what these variables keep secret, however a message words it."""
    found = {environ.get(name, "") for name in SECRET_SETTINGS}
    for value in environ.values():
        for address in re.findall(r"[a-z][a-z0-9+.-]*://\S+", value, re.IGNORECASE):
            found |= _passwords(address)
    # The longest first, for one may be a part of another.
    _secrets[:] = sorted((secret for secret in found if len(secret) >= SHORTEST), key=len, reverse=True)


def _passwords(address: str) -> set[str]:
    credentials, at, _ = address.partition("://")[2].rpartition("@")
    raw = {credentials.partition(":")[2]} if at else set()
    try:
        password = urlsplit(address).password
    except ValueError:
        password = None
    return {word for one in (*raw, password) if one for word in (one, unquote(one))}


class RedactedStream:
    """Standard output or error, with every secret hidden; all else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(redact(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def guard_streams() -> None:
    """For a command line: whatever a command, its traceback or a library prints goes through here."""
    remember(os.environ)
    sys.stdout = RedactedStream(sys.stdout)
    sys.stderr = RedactedStream(sys.stderr)
