"""The records as a reader finds them: the scanned phrase, and the page where it is marked on the picture."""

from dataclasses import dataclass

from pipeline.work.index.question import understand
from records import reading
from records.asking import Asked
from records.files import original_of
from records.results import Hit, results_of


@dataclass(frozen=True)
class Found:
    """The page's address, and on how many words of its picture a mark stands."""

    path: str
    marks: int


def find(phrase: str) -> list[Found]:
    asked = Asked(words=f'"{phrase}"')
    return [Found(hit.url, _marks(hit, asked.words)) for hit in results_of(asked).hits]


def _marks(hit: Hit, words: str) -> int:
    original = original_of(hit.document)
    if original is None or original.file is None:
        return 0
    return len(reading.boxes(reading.spans(understand(words), hit.page.text, None), hit.page, original))
