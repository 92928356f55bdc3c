"""How to cite a page: the city's own document, its page, our address and the day it was looked at."""

import json
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from records.published import PublishedDocument, PublishedPage, PublishedSite

# What would end a script inside a page.
UNSAFE = {ord(">"): "\\u003E", ord("<"): "\\u003C", ord("&"): "\\u0026"}


@dataclass(frozen=True)
class Citation:
    style: str
    text: str


def citations(
    site: PublishedSite, document: PublishedDocument, page: PublishedPage, url: str, today: date
) -> list[Citation]:
    who = ", ".join(filter(None, (site.title, document.body)))
    day = _day(document.date) or "n.d."
    kind = document.kind if document.kind not in ("", "other") else "document"
    looked = f"{today:%B} {today.day}, {today.year}"
    name, number = document.name, page.number
    return [
        Citation("APA", f"{who}. ({day}). {name} [{kind.capitalize()}], p. {number}. {url}"),
        Citation("Chicago", f"{who}, “{name},” {day}, {number}, accessed {looked}, {url}."),
        Citation("Bluebook", f"{who}, {name} {number} ({day}), {url} (visited {looked})."),
    ]


def _day(text: str) -> str:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return ""
    return f"{day:%B} {day.day}, {day.year}"


def linked_data(
    site: PublishedSite, document: PublishedDocument, page: PublishedPage, url: str
) -> SafeString:
    """The page for programs, in the vocabulary of schema.org."""
    told: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "DigitalDocument",
        "name": document.name,
        "url": url,
        "pagination": str(page.number),
        "datePublished": document.date or None,
        "genre": document.kind or None,
        "version": document.version,
        "creator": {
            "@type": "GovernmentOrganization",
            "name": site.title,
            "department": document.body or None,
        },
        "isBasedOn": document.url if document.is_web_address else None,
    }
    text = json.dumps({name: value for name, value in told.items() if value is not None}, ensure_ascii=False)
    return mark_safe(text.translate(UNSAFE))
