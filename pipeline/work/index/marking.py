"""Finds the words of a question in a text, as the index would: for marks in the text and on the picture."""

from collections.abc import Sequence
from dataclasses import dataclass

from tantivy import Token

from pipeline.work.index.question import Question, Term
from pipeline.work.index.schema import analyzer

SNIPPET_CHARACTERS = 260
MOST_CHARACTERS = 400_000
# A page that is nothing but hits need not be weighed to its end.
MOST_WEIGHED = 200


@dataclass(frozen=True)
class Span:
    """A stretch of the text, and which of the question's terms it answers."""

    start: int
    end: int
    term: int


@dataclass(frozen=True)
class Piece:
    text: str
    marked: bool = False


def spans(question: Question, text: str) -> list[Span]:
    """Where the wanted words stand, in order and without overlap; a phrase only where it stands whole."""
    terms = question.wanted
    if not terms:
        return []
    tokens = analyzer().pre_tokenize(text[:MOST_CHARACTERS]).tokens
    found = [span for number, term in enumerate(terms) for span in _places(number, term, tokens)]
    found.sort(key=lambda span: (span.start, -span.end))
    kept: list[Span] = []
    for span in found:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _places(number: int, term: Term, tokens: Sequence[Token]) -> list[Span]:
    length = len(term.stems)
    if not length:
        return []
    if term.beginning:
        at = [
            place
            for place, token in enumerate(tokens)
            if token.text.startswith(term.beginning) or token.text == term.stems[0]
        ]
    else:
        first = term.stems[0]
        at = [
            place
            for place, token in enumerate(tokens)
            if token.text == first and _follows(term.stems, tokens, place)
        ]
    return [
        Span(tokens[place].char_offset_from, tokens[place + length - 1].char_offset_to, number)
        for place in at
    ]


def _follows(stems: tuple[str, ...], tokens: Sequence[Token], place: int) -> bool:
    return len(stems) == 1 or tuple(token.text for token in tokens[place : place + len(stems)]) == stems


def marked(question: Question, text: str) -> list[Piece]:
    """The whole text in pieces, for a template that escapes each of them."""
    return pieces(text, spans(question, text))


def pieces(text: str, found: list[Span]) -> list[Piece]:
    """The whole text, cut where these marks begin and end; they stand in order and do not overlap."""
    return _pieces(text, found, 0, len(text))


def snippet(question: Question, text: str, characters: int = SNIPPET_CHARACTERS) -> list[Piece]:
    """The stretch of text that answers most of the question, cut between words."""
    found = spans(question, text)
    start = _best_start(found, characters)
    start = 0 if start < characters // 4 else _word_start(text, start)
    end = len(text) if len(text) - start <= characters else _word_end(text, start + characters)
    cut = _pieces(text, [span for span in found if span.start >= start and span.end <= end], start, end)
    cut = [Piece(" ".join(piece.text.split(" ")), piece.marked) for piece in cut]
    before, after = ([Piece("… ")] if start else []), ([Piece(" …")] if end < len(text) else [])
    return [*before, *cut, *after]


def _best_start(found: list[Span], characters: int) -> int:
    """Where a window holds the most different terms, then the most marks; a little before its first mark."""
    best, start, weighed = (0, 0), 0, found[:MOST_WEIGHED]
    for number, first in enumerate(weighed):
        inside = [span for span in weighed[number:] if span.end <= first.start + characters * 3 // 4]
        worth = (len({span.term for span in inside}), len(inside))
        if worth > best:
            best, start = worth, max(0, first.start - characters // 4)
    return start


def _word_start(text: str, at: int) -> int:
    space = text.find(" ", at)
    return space + 1 if 0 <= space < at + 40 else at


def _word_end(text: str, at: int) -> int:
    space = text.rfind(" ", 0, at)
    return space if space > at - 40 else at


def _pieces(text: str, found: list[Span], start: int, end: int) -> list[Piece]:
    cut, at = [], start
    for span in found:
        if span.start > at:
            cut.append(Piece(text[at : span.start]))
        cut.append(Piece(text[span.start : span.end], marked=True))
        at = span.end
    if at < end:
        cut.append(Piece(text[at:end]))
    return cut
