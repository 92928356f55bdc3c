"""Did you mean: for a word that is nowhere, the commonest word of the pages that is almost the same."""

from collections import Counter
from collections.abc import Callable, Iterable

from tantivy import Query, Searcher

from pipeline.work.index.question import Question, Term
from pipeline.work.index.schema import TEXT, analyzer, folder, schema
from pipeline.work.index.searching import Place, place_at

# A word that stands on fewer pages may be misspelt; what is proposed must stand on many more.
SELDOM = 3
TIMES_MORE = 10
SAMPLE = 20
MOST_WORDS = 5
SHORTEST = 4

Texts = Callable[[Iterable[Place]], Iterable[str]]


def suggestion(searcher: Searcher, question: Question, texts: Texts) -> dict[str, str]:
    """Words as typed, and what may have been meant. `texts` reads the pages: the index keeps stems only."""
    words = [term for term in question.wanted if term.is_word and len(term.typed) >= SHORTEST]
    seldom = [term for term in words[:MOST_WORDS] if searcher.doc_freq(TEXT, term.stems[0]) < SELDOM]
    meant = {term.typed: _meant(searcher, term, texts) for term in seldom}
    return {typed: word for typed, word in meant.items() if word}


def _meant(searcher: Searcher, term: Term, texts: Texts) -> str:
    typed = " ".join(folder().analyze(term.typed))
    known = searcher.doc_freq(TEXT, term.stems[0])
    for distance in (1, 2) if len(typed) > 5 else (1,):
        close = Query.fuzzy_term_query(schema(), TEXT, term.stems[0], distance)
        hits = searcher.search(close, limit=SAMPLE, count=False).hits
        found = Counter(
            word
            for text in texts(place_at(searcher, address) for _, address in hits)
            for word in folder().analyze(text)
            if word != typed and abs(len(word) - len(typed)) <= distance
        )
        for word, _ in found.most_common():
            if edits(word, typed) <= distance and _pages(searcher, word) >= max(1, TIMES_MORE * known):
                return word
    return ""


def _pages(searcher: Searcher, word: str) -> int:
    return searcher.doc_freq(TEXT, "".join(analyzer().analyze(word)))


def edits(one: str, other: str) -> int:
    """How many letters to add, drop, change or swap with a neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, start=1):
        last, before, row = before, row, [place]
        for at, beside in enumerate(other, start=1):
            cost = min(row[-1] + 1, before[at] + 1, before[at - 1] + (letter != beside))
            if last and at > 1 and letter == other[at - 2] and one[place - 2] == beside:
                cost = min(cost, last[at - 2] + 1)
            row.append(cost)
    return row[-1]
