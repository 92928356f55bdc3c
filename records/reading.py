"""What the reader shows beside a page's text: marks on the picture, how it was read, versions, facts."""

import re
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from pipeline.stages.documents import stable_id
from pipeline.work.index import marking, searching
from pipeline.work.index.marking import Span
from pipeline.work.index.question import Question
from pipeline.work.index.searching import Wanted
from pipeline.work.ocr.words import PlacedWord
from records.files import Original, versions_of
from records.published import PublishedDocument, PublishedPage, Records
from records.results import page_url

SCALE = 10_000
MOST_PAGES_NAMED = 200
MOST_FACTS = 100
# Below this an engine's own confidence means that a reader should look at the picture.
DOUBTFUL = 80
KINDS_OF_FACTS = {
    "motions": "Motions",
    "attendance": "People",
    "legislation": "Ordinances and resolutions",
    "money": "Money",
    "addresses": "Addresses",
    "agenda_items": "Agenda items",
    "dates": "Dates",
}


@dataclass(frozen=True)
class Box:
    """A rectangle on the picture, in ten-thousandths of its width and height."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True)
class Version:
    number: int
    fetched: str
    url: str
    changes: str
    shown: bool


@dataclass(frozen=True)
class Fact:
    text: str
    url: str


@dataclass(frozen=True)
class PageLink:
    number: int
    url: str
    found: bool = False


# ---- Marks --------------------------------------------------------------------------------------------


def passage(told: str) -> Span | None:
    """`120-180`: a passage of the page's text that a link points to."""
    match = re.fullmatch(r"(\d{1,7})-(\d{1,7})", told)
    return Span(int(match[1]), int(match[2]), 0) if match else None


def spans(question: Question, text: str, at: Span | None) -> list[Span]:
    """The passage pointed to, and the words searched for; never one within the other."""
    if at is None or not at.start < at.end <= len(text):
        return marking.spans(question, text)
    found = [span for span in marking.spans(question, text) if span.end <= at.start or span.start >= at.end]
    return sorted([*found, at], key=lambda span: span.start)


def boxes(found: list[Span], page: PublishedPage, original: Original | None) -> list[Box]:
    """Where the marked words stand on the picture; both lists are in the order of the text."""
    if not found or original is None:
        return []
    marks, left = [], list(found)
    for word in original.words(page.number):
        if word.start is None or word.end is None:
            continue
        while left and left[0].end <= word.start:
            left.pop(0)
        if left and left[0].start < word.end:
            marks.append(_box(word))
    return marks


def _box(word: PlacedWord) -> Box:
    return Box(*(round(SCALE * share) for share in (word.left, word.top, word.width, word.height)))


# ---- The document around the page ---------------------------------------------------------------------


def pages_of(document: PublishedDocument, numbers: list[int], words: str) -> list[PageLink]:
    """Every page, and whether what is searched for is on it."""
    found = set(pages_with(document, words)) if words else set()
    return [
        PageLink(number, page_url(document.site, document.id, number, words), number in found)
        for number in numbers
    ]


def pages_with(document: PublishedDocument, words: str) -> list[int]:
    searcher = searching.reader_of(settings.SEARCH_INDEX_DIR).searcher()
    if searcher is None:
        return []
    wanted = Wanted(words, documents=(document.id,), superseded=True)
    return sorted(place.page for place in searching.find(searcher, wanted, limit=MOST_PAGES_NAMED))


def versions(records: Records, document: PublishedDocument, original: Original | None) -> list[Version]:
    """The published versions of the same document, the newest first; none where there is only this one."""
    rows = versions_of(original) if original else []
    found = [published for row in rows if (published := records.document(stable_id(row)))]
    if len(found) < 2:
        return []
    return [_version(document, each) for each in found]


def _version(document: PublishedDocument, other: PublishedDocument) -> Version:
    shown = other.id == document.id
    older, newer = sorted((document, other), key=lambda each: each.version)
    changes = "" if shown else reverse("records:changes", args=(document.site, older.id, newer.id))
    url = reverse("records:document", args=(other.site, other.id))
    return Version(other.version, other.fetched_at[:10], url, changes, shown)


def facts_of(records: Records, document: PublishedDocument, page: PublishedPage) -> dict[str, list[Fact]]:
    """What was read on this page, by kind; each points to its place in the text."""
    # A database that was deployed before there was a kind of facts has no table of it.
    known = {row[0] for row in records.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    found: dict[str, list[Fact]] = {}
    for table, title in KINDS_OF_FACTS.items():
        if table in known:
            rows = records.rows(
                f'SELECT text, start, "end" FROM {table} WHERE document_id = ? AND page = ?'  # noqa: S608
                " ORDER BY start LIMIT ?",
                *(document.id, page.number, MOST_FACTS),
            )
            if rows:
                found[title] = [_fact(document, page, *row) for row in rows]
    return found


def _fact(document: PublishedDocument, page: PublishedPage, text: str, start: int, end: int) -> Fact:
    url = page_url(document.site, document.id, page.number)
    return Fact(" ".join((text or "").split())[:200], f"{url}?at={start}-{end}")


# ---- In words -----------------------------------------------------------------------------------------


def how_read(page: PublishedPage) -> str:
    sure = "" if page.confidence is None else f", {page.confidence:.0f} % sure of its words"
    doubt = page.confidence is not None and page.confidence < DOUBTFUL
    told = {
        "text": "Taken from the file's own text.",
        "html": "Taken from the city's web page.",
        "ocr": f"Read from a scan by OCR{sure}.",
        "blank": "There is nothing on this page.",
        "failed": "This page could not be read.",
    }.get(page.method, "How this page was read is not known: its text is older than this record.")
    return f"{told} Look at the picture: much may be misread." if doubt and page.method == "ocr" else told
