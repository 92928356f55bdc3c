"""What people type, understood: words, "phrases", -minus, OR and beginnings*. Nothing typed is malformed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tantivy import Occur, Query

from pipeline.work.index.schema import analyzer, folder, schema

MOST_CHARACTERS = 1000
MOST_TERMS = 32
# A beginning is looked up in the whole vocabulary, and may stand for thousands of words.
MOST_BEGINNINGS = 4
SHORTEST_BEGINNING = 3
QUOTES = str.maketrans(dict.fromkeys("“”„‟«»\N{FULLWIDTH QUOTATION MARK}", '"') | {"\0": " "})
PIECES = re.compile(r'(?P<minus>-?)"(?P<phrase>[^"]*)(?:"|$)|(?P<word>[^\s"]+)')


@dataclass(frozen=True)
class Term:
    """A word, a phrase, or the beginning of a word. `typed` is how it was written."""

    typed: str
    stems: tuple[str, ...]
    beginning: str = ""

    @property
    def is_word(self) -> bool:
        return len(self.stems) == 1 and not self.beginning


@dataclass(frozen=True)
class Clause:
    """One of these must be on the page, or none may."""

    terms: tuple[Term, ...]
    excluded: bool = False


@dataclass(frozen=True)
class Question:
    clauses: tuple[Clause, ...] = ()
    # More was typed than is searched.
    shortened: bool = False

    @property
    def wanted(self) -> tuple[Term, ...]:
        return tuple(term for clause in self.clauses if not clause.excluded for term in clause.terms)


def understand(typed: str) -> Question:
    text = typed[:MOST_CHARACTERS].translate(QUOTES).encode("utf-8", "replace").decode()
    clauses: list[Clause] = []
    count, joining, excluding, shortened = 0, False, False, len(typed) > MOST_CHARACTERS
    for word, is_phrase, minus in _pieces(text):
        if not is_phrase and word in ("OR", "|"):
            joining = bool(clauses)
        elif not is_phrase and word == "NOT":
            excluding = True
        elif (is_phrase or word != "AND") and _says_something(word):
            if count == MOST_TERMS:
                return Question(tuple(clauses), shortened=True)
            term, count, excluded = _term(word, is_phrase), count + 1, minus or excluding
            if joining and not excluded and not clauses[-1].excluded:
                clauses[-1] = Clause((*clauses[-1].terms, term))
            else:
                clauses.append(Clause((term,), excluded))
            joining = excluding = False
    return Question(tuple(clauses), shortened)


def _pieces(text: str) -> Iterator[tuple[str, bool, bool]]:
    for found in PIECES.finditer(text):
        if (phrase := found["phrase"]) is not None:
            yield phrase, True, bool(found["minus"])
        else:
            word = found["word"]
            minus = word.startswith("-") and len(word) > 1
            yield word.removeprefix("-") if minus else word, False, minus


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _term(text: str, is_phrase: bool) -> Term:
    stems = tuple(analyzer().analyze(text))
    words = folder().analyze(text)
    if not is_phrase and text.endswith("*") and len(words) == 1 and len(words[0]) >= SHORTEST_BEGINNING:
        return Term(text, stems, words[0])
    return Term(text, stems)


def query_for(question: Question, field: str) -> Query:
    """The question put to one field of text; the caller says what is searched when it is empty."""
    beginnings = 0
    parts: list[tuple[Occur, Query]] = []
    for clause in question.clauses:
        asked = []
        for term in clause.terms:
            beginnings += bool(term.beginning)
            asked.append(_query(term, field, whole=beginnings > MOST_BEGINNINGS))
        occur = Occur.MustNot if clause.excluded else Occur.Must
        parts.append((occur, asked[0] if len(asked) == 1 else _any(asked)))
    if len(parts) == 1 and parts[0][0] == Occur.Must:
        return parts[0][1]
    return Query.boolean_query(parts)


def _query(term: Term, field: str, *, whole: bool) -> Query:
    if not term.stems:
        # Longer than any word that is kept: on no page.
        return Query.empty_query()
    if term.beginning and not whole:
        # The vocabulary holds stems: what begins with the whole of a word may be shorter than the word.
        begun = Query.regex_query(schema(), field, f"{re.escape(term.beginning)}.*")
        return _any([begun, Query.term_query(schema(), field, term.stems[0])])
    if len(term.stems) == 1:
        return Query.term_query(schema(), field, term.stems[0], index_option="freq")
    return Query.phrase_query(schema(), field, list(term.stems))


def _any(queries: list[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])
