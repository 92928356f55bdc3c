"""A fact with where it was read, and the text it is read from."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pipeline.work.database.page_texts import CompiledPage

PAGE_BREAK = "\n\f\n"
# One character for one, so that a place in our text is the same place on the page.
SPACES = str.maketrans(
    {"\r": " ", "\t": " ", "\v": "\n", "\xa0": " ", "\u2007": " ", "\u202f": " ", "\u2028": "\n"}
)


@dataclass(frozen=True)
class MeetingContext:
    """What is known of the meeting before its text is read."""

    body: str = ""
    date: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Fact:
    """`start` and `end` count characters of the whole text; they become a page and a span when written."""

    kind: str
    start: int
    end: int
    rule: str
    confidence: float
    values: dict[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class PagedText:
    """A document's pages as one text, so that a motion may run over the end of a page."""

    text: str
    numbers: tuple[int, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, pages: Iterable[CompiledPage]) -> "PagedText":
        texts, numbers, starts, offset = [], [], [], 0
        for page in pages:
            texts.append(page.text.translate(SPACES))
            numbers.append(page.number)
            starts.append(offset)
            offset += len(page.text) + len(PAGE_BREAK)
        return cls(PAGE_BREAK.join(texts), tuple(numbers), tuple(starts))

    def locate(self, offset: int) -> tuple[int, int]:
        """The page an offset falls on, and the offset on that page."""
        index = bisect_right(self.starts, offset) - 1
        return self.numbers[index], offset - self.starts[index]
