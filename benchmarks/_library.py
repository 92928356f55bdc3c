"""Made-up towns for the search benchmark: deployed databases of pages in words as uneven as real ones."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path

from pipeline.work.database import schema
from pipeline.work.database.compilation import stable_id

STATES = ("CA", "OR", "WA", "TX", "NY", "OH", "IL", "FL")
BODIES = ("City Council", "Planning Commission", "School Board", "Parks Board", "Library Trustees")
KINDS = ("minutes", "agenda", "packet")
# Words with the share of the pages they stand on; what is rare is on one page in fifty thousand.
COMMON = {"council": 0.7, "motion": 0.5, "budget": 0.2, "variance": 0.1}
PHRASE, PHRASE_SHARE = "granite drinking fountain", 0.02
RARE, RARE_SHARE = "quetzal", 1 / 50_000
VOCABULARY = 60_000


@dataclass(frozen=True)
class Library:
    """How large: sites, documents in each, pages in each of those, words on a page."""

    documents: int = 500
    pages: int = 20
    words: int = 200

    @property
    def pages_a_site(self) -> int:
        return self.documents * self.pages


def write_site(path: Path, site: str, library: Library, seed: int) -> Path:
    path.unlink(missing_ok=True)
    schema.create_tables(path)
    dice = random.Random(seed)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("INSERT INTO site VALUES (?, ?, ?, 'city', 'us')", (site, site, STATES[seed % 8]))
        connection.execute("ALTER TABLE documents ADD COLUMN fingerprint TEXT")
        texts = _texts(dice, library)
        for number in range(library.documents):
            _write_document(connection, site, number, [next(texts) for _ in range(library.pages)])
        connection.execute("CREATE INDEX idx_pages_document_id_page ON pages (document_id, page)")
        connection.commit()
    return path


def _write_document(connection: sqlite3.Connection, site: str, number: int, texts: list[str]) -> None:
    identity = stable_id(site, number)
    day = (date(2000, 1, 1) + timedelta(days=number * 9000 // 500 % 9000)).isoformat()
    body, kind = BODIES[number % len(BODIES)], KINDS[number % len(KINDS)]
    connection.execute(
        "INSERT INTO documents (id, title, body, date, kind, url, version, superseded, fingerprint, pages)"
        " VALUES (?, ?, ?, ?, ?, '', 1, 0, ?, ?)",
        (identity, f"{body} {day}", body, day, kind, identity, len(texts)),
    )
    connection.executemany(
        "INSERT INTO pages (id, document_id, body, date, kind, page, text, method)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (f"{identity}-{page}", identity, body, day, kind, page, text, "ocr" if page % 4 else "text")
            for page, text in enumerate(texts, start=1)
        ),
    )


def _texts(dice: random.Random, library: Library) -> Iterator[str]:
    """Endless pages: stretches of a long text whose words follow Zipf's law, with the words we ask for."""
    pool = dice.choices(
        _vocabulary(), [1 / (rank + 3) for rank in range(VOCABULARY)], k=library.words * 2_000
    )
    while True:
        length = dice.randint(library.words // 2, library.words * 3 // 2)
        start = dice.randrange(len(pool) - length)
        words = pool[start : start + length]
        for word, share in COMMON.items():
            if dice.random() < share:
                for _ in range(dice.choice((1, 1, 1, 2, 3, 5))):
                    words[dice.randrange(length)] = word
        if dice.random() < PHRASE_SHARE:
            words[dice.randrange(length)] = PHRASE
        if dice.random() < RARE_SHARE:
            words[dice.randrange(length)] = RARE
        yield " ".join(words)


@cache
def _vocabulary() -> list[str]:
    dice = random.Random(15)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["z" + "".join(dice.choices(letters, k=dice.randint(3, 10))) for _ in range(VOCABULARY)]
