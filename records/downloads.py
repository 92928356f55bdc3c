"""The results of a search as files: CSV for a spreadsheet, JSON for a program."""

import csv
from collections.abc import Iterable, Iterator
from typing import Any

from records.results import Hit

COLUMNS = (
    "site",
    "site_name",
    "document",
    "title",
    "body",
    "date",
    "kind",
    "page",
    "url",
    "original",
    "snippet",
)
# A spreadsheet would take a cell that begins like this for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rows(hits: Iterable[Hit], host: str) -> Iterator[dict[str, Any]]:
    for hit in hits:
        document = hit.document
        yield {
            "site": document.site,
            "site_name": hit.site_title,
            "document": document.id,
            "title": document.name,
            "body": document.body,
            "date": document.date or None,
            "kind": document.kind,
            "page": hit.page.number,
            "url": f"{host}{hit.url}",
            "original": document.url,
            "snippet": " ".join("".join(piece.text for piece in hit.snippet).split()),
        }


class _Line:
    """What the csv module writes to: each line is handed on."""

    def write(self, line: str) -> str:
        return line


def csv_lines(found: Iterable[dict[str, Any]]) -> Iterator[str]:
    writer = csv.writer(_Line())
    yield writer.writerow(COLUMNS)
    for row in found:
        yield writer.writerow([safe(row[name]) for name in COLUMNS])


def safe(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
