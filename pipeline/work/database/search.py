"""Search over a compiled database: ranked pages with the words found marked in a snippet."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

# Private characters stand for the marks until everything else is escaped.
OPEN, CLOSE = "\ue000", "\ue001"
SNIPPET_WORDS = 40


@dataclass(frozen=True)
class Hit:
    page_id: str
    document_id: str
    title: str
    body: str
    date: str | None
    kind: str
    page: int
    url: str
    # Safe HTML: the text is escaped, and only the words that were found stand in <mark>.
    snippet: str


@dataclass(frozen=True)
class Found:
    hits: tuple[Hit, ...]
    total: int


QUERY = """
SELECT pages.id, pages.document_id, documents.title, pages.body, pages.date, pages.kind, pages.page,
       documents.url, snippet(pages_fts, 0, ?, ?, '…', ?)
FROM pages_fts JOIN pages ON pages.rowid = pages_fts.rowid JOIN documents ON documents.id = pages.document_id
WHERE pages_fts MATCH ? ORDER BY pages_fts.rank, pages.id LIMIT ? OFFSET ?
"""
COUNT = "SELECT count(*) FROM pages_fts WHERE pages_fts MATCH ?"


def search_pages(database: Path, words: str, *, limit: int = 20, offset: int = 0) -> Found:
    """Pages that hold all the words; `"words in quotes"` follow one another, `word*` is a beginning."""
    query = fts_query(words)
    if not query or not database.is_file():
        return Found((), 0)
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        total = connection.execute(COUNT, (query,)).fetchone()[0]
        rows = connection.execute(QUERY, (OPEN, CLOSE, SNIPPET_WORDS, query, limit, offset)).fetchall()
    return Found(tuple(replace(Hit(*row), snippet=_marked(row[-1])) for row in rows), total)


def fts_query(words: str) -> str:
    """What people type, as a query that cannot be malformed: every part is quoted."""
    parts = []
    for number, part in enumerate(words.replace("\0", " ").split('"')):
        pieces = [part] if number % 2 else part.split()
        for piece in pieces:
            if any(character.isalnum() for character in piece):
                star = "*" if piece.endswith("*") and number % 2 == 0 else ""
                parts.append(f'"{piece.rstrip("*")}"{star}')
    return " ".join(parts)


def _marked(snippet: str) -> str:
    return escape(snippet).replace(OPEN, "<mark>").replace(CLOSE, "</mark>")
