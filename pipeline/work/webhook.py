"""Tells another server, signed so that it can be sure who speaks and when."""

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Any

import httpx

from pipeline.errors import SourceError

SIGNATURE, EVENT, DELIVERY = "Clerk-Signature", "Clerk-Event", "Clerk-Delivery"


@dataclass(frozen=True)
class Message:
    url: str
    secret: str
    event: str
    delivery: str
    payload: dict[str, Any]


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """`t=…,v1=…`: the HMAC-SHA256 of the time, a full stop and the body. The receiver refuses an old time."""
    signed = hmac.new(secret.encode(), b"%d." % timestamp + body, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={signed}"


def post(message: Message, *, timestamp: int, timeout: float) -> int:
    """Send it, and return the answer's status if that says it arrived."""
    body = json.dumps(message.payload, ensure_ascii=False, sort_keys=True).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Clerk webhooks",
        EVENT: message.event,
        DELIVERY: message.delivery,
        SIGNATURE: signature(message.secret, timestamp, body),
    }
    try:
        answer = httpx.post(
            message.url, content=body, headers=headers, timeout=timeout, follow_redirects=False
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SourceError(f"{type(error).__name__}: {error}", code="webhook_unreachable") from error
    if not answer.is_success:
        raise SourceError(f"answered {answer.status_code}", code="webhook_refused")
    return answer.status_code
