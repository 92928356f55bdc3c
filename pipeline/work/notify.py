"""Speaks to the outside about alarms: chats and phones by way of Apprise, and the ping that says "alive"."""

import logging
import re

import apprise
import httpx

from pipeline.errors import DocumentError, SourceError
from pipeline.redaction import hide, redact

PING_SECONDS = 10


def remember_address(address: str) -> None:
    """What an address holds is a key: from now on none of its parts is said by this process."""
    _, _, rest = address.partition("://")
    hide(address, *(part for part in re.split(r"[/:?&=@]", rest) if "." not in part))


def check_address(address: str) -> bool:
    """Whether Apprise knows how to speak to it."""
    return bool(apprise.Apprise().add(address))


def push(address: str, title: str, body: str, *, bad: bool) -> None:
    """One message to one address; raises unless it was taken."""
    remember_address(address)
    service = apprise.Apprise()
    if not service.add(address):
        raise DocumentError("Apprise does not know this kind of address", code="notify_address")
    kind = apprise.NotifyType.WARNING if bad else apprise.NotifyType.INFO
    with apprise.LogCapture(level=logging.WARNING, fmt="%(message)s") as said:
        taken = service.notify(
            title=title, body=body, notify_type=kind, body_format=apprise.NotifyFormat.TEXT
        )
        why = redact(said.getvalue().strip())
    if not taken:
        raise SourceError(why[-400:] or "it was not taken", code="notify_refused")


def ping(address: str, *, failed: bool = False) -> None:
    """Tell a watcher outside that a pass of reconcile was made, or failed; its silence is the alarm."""
    hide(address)
    try:
        answer = httpx.get(f"{address.rstrip('/')}/fail" if failed else address, timeout=PING_SECONDS)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SourceError(f"{type(error).__name__}: {redact(str(error))}", code="ping_failed") from error
    if not answer.is_success:
        raise SourceError(f"answered {answer.status_code}", code="ping_failed")
