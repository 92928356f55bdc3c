"""Going on where an answer ended: an opaque text that names the last row given."""

import base64
import binascii
import json
from typing import Any

from ninja.errors import HttpError


def cursor_for(*key: str | int) -> str:
    packed = json.dumps(key, separators=(",", ":"), ensure_ascii=False).encode()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def key_in(cursor: str, *types: type) -> tuple[Any, ...] | None:
    """The key that a cursor names; None for no cursor. One that we did not make is refused."""
    if not cursor:
        return None
    try:
        key = json.loads(base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise HttpError(422, "This cursor is not one of ours.") from error
    fits = isinstance(key, list) and len(key) == len(types)
    if not fits or not all(type(part) is wanted for part, wanted in zip(key, types, strict=True)):
        raise HttpError(422, "This cursor is not one of ours.")
    if any(isinstance(part, int) and abs(part) >= 2**63 for part in key):
        raise HttpError(422, "This cursor is not one of ours.")
    return tuple(key)
