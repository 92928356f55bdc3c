"""What may be the key of a site: it is a folder's name, a part of addresses and of queue names, for good."""

import re

from django.core.exceptions import ValidationError

LONGEST = 100
RULE = f"small letters, digits, hyphens, single dots; a letter or digit at each end; {LONGEST} at most"
_KEY = re.compile(r"[a-z0-9](?:[a-z0-9-]|\.(?!\.))*(?<![.-])")


def is_key(text: str) -> bool:
    return len(text) <= LONGEST and _KEY.fullmatch(text) is not None


def validate_key(text: str) -> None:
    if not is_key(text):
        shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        raise ValidationError(f"{shown!r} cannot be the key of a site: {RULE}", code="bad_name")
