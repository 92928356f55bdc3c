"""What readers can read: the pages of every published database, before the move and after it."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from demo.legacy.storage import texts_shown

Pages = dict[str, Counter[str]]


def shown_by_the_old_system(storage: Path) -> Pages:
    """Every text that its databases show, by site. A blank page says nothing: nothing of it can be lost."""
    return {
        folder.name: Counter(text for text in texts_shown(folder) if text.strip())
        for folder in sorted(storage.iterdir())
    }


def shown_by_clerk(deployed: Path) -> Pages:
    found = {}
    for file in sorted(deployed.glob("*.db")):
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as database:
            found[file.name.removesuffix(".db")] = Counter(
                text for (text,) in database.execute("SELECT text FROM pages")
            )
    return found


@dataclass(frozen=True)
class Comparison:
    sites: int
    pages_before: int
    pages_after: int
    lost: tuple[str, ...]

    def __str__(self) -> str:
        lost = f"{len(self.lost)} of them cannot be read any more" if self.lost else "each still can be read"
        return (
            f"{self.sites} sites showed {self.pages_before} pages before: {lost}."
            f" Now {self.pages_after} are shown."
        )


def compare(before: Pages, after: Pages) -> Comparison:
    lost = [
        f"{site}: {text[:80]!r}"
        for site, pages in before.items()
        for text in (_plain(pages) - _plain(after.get(site, Counter()))).elements()
    ]
    sites = sum(bool(pages) for pages in before.values())
    return Comparison(sites, _sum(before), _sum(after), tuple(lost))


def _plain(pages: Counter[str]) -> Counter[str]:
    """The same words with other white space between them are the same text."""
    plain: Counter[str] = Counter()
    for text, times in pages.items():
        plain[" ".join(text.split())] += times
    return plain


def _sum(pages: Pages) -> int:
    return sum(each.total() for each in pages.values())
