"""What the index says of itself, in the same commit as the pages: each site in short, and its documents."""

import json
import zlib
from dataclasses import asdict, dataclass
from typing import Any

from tantivy import Document, Query, Searcher

from pipeline.work.index.schema import CONTENT, MANIFEST_OF, SUMMARY_OF, schema

MOST_SITES = 1_000_000


@dataclass(frozen=True)
class Summary:
    """What the index holds of one site."""

    site: str
    version: str
    state: str
    documents: int
    pages: int
    first_day: int
    last_day: int


# A document's id with the fingerprint under which it was indexed.
Manifest = dict[str, str]


def summary_entry(summary: Summary) -> Document:
    return _entry(SUMMARY_OF, summary.site, asdict(summary))


def manifest_entry(site: str, manifest: Manifest) -> Document:
    return _entry(MANIFEST_OF, site, manifest)


def manifest_of(searcher: Searcher, site: str) -> Manifest:
    found: Manifest = _content(searcher, MANIFEST_OF, site) or {}
    return found


def summary_of(searcher: Searcher, site: str) -> Summary | None:
    content = _content(searcher, SUMMARY_OF, site)
    return Summary(**content) if content else None


def summaries(searcher: Searcher) -> list[Summary]:
    """Every site that has pages in the index, by name."""
    query = Query.regex_query(schema(), SUMMARY_OF, ".+")
    hits = searcher.search(query, limit=MOST_SITES, count=False).hits
    found = [Summary(**_read(searcher.doc(address))) for _, address in hits]
    return sorted(found, key=lambda summary: summary.site)


def _entry(field: str, site: str, content: object) -> Document:
    document = Document()
    document.add_text(field, site)
    document.add_bytes(CONTENT, zlib.compress(json.dumps(content).encode(), 1))
    return document


def _content(searcher: Searcher, field: str, site: str) -> dict[str, Any] | None:
    hits = searcher.search(Query.term_query(schema(), field, site), limit=1, count=False).hits
    return _read(searcher.doc(hits[0][1])) if hits else None


def _read(document: Document) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(zlib.decompress(bytes(document.get_first(CONTENT) or b"")))
    return found
