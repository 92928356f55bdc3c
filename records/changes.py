"""What changed between two versions of a document, line by line."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from records.published import Records

# Comparing costs more than its length: of a very long document only the beginning is compared.
MOST_LINES = 4000
AROUND = 2


@dataclass(frozen=True)
class Line:
    """`mark` is + for what is new, - for what is gone, @ for a gap, and empty for what stayed."""

    mark: str
    text: str

    @property
    def tag(self) -> str:
        return {"+": "ins", "-": "del"}.get(self.mark, "span")


def changes(records: Records, older: str, newer: str) -> list[Line]:
    before, after = lines_of(records, older), lines_of(records, newer)
    told = difflib.unified_diff(before, after, n=AROUND, lineterm="")
    # The first two lines name files.
    return [_line(line) for number, line in enumerate(told) if number > 1]


def lines_of(records: Records, document: str) -> list[str]:
    found = []
    for line in _lines(records, document):
        found.append(line)
        if len(found) == MOST_LINES:
            break
    return found


def _lines(records: Records, document: str) -> Iterator[str]:
    for page in records.pages(document):
        for line in page.text.splitlines():
            if line.strip():
                yield " ".join(line.split())


def _line(told: str) -> Line:
    if told.startswith("@@"):
        return Line("@", "")
    return Line(told[0].strip(), told[1:])
