"""What the index knows of a page, and how text becomes the words that are searched."""

from functools import cache
from pathlib import Path

from tantivy import Filter, Index, Schema, SchemaBuilder, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

# Raise it when the fields or the analyzer change: an index of another version is built anew.
VERSION = 1
ANALYZER = "clerk"
LONGEST_WORD = 40

# The text of superseded versions has a field of its own: what most people search needs no filter then, and a
# filter on a common word costs more than the search itself.
TEXT, OLD_TEXT = "text", "old_text"
SITE, STATE, BODY, KIND, METHOD, DOCUMENT = "site", "state", "body", "kind", "method", "document"
SHELF, DAY, YEAR, PLACE, PAGE = "shelf", "day", "year", "place", "page"
# Two entries per site that are no pages: what it holds in short, and the fingerprint of each document.
SUMMARY_OF, MANIFEST_OF, CONTENT = "summary_of", "manifest_of", "content"
CURRENT, SUPERSEDED = "current", "superseded"


@cache
def schema() -> Schema:
    builder = SchemaBuilder()
    for name in (TEXT, OLD_TEXT):
        builder.add_text_field(name, tokenizer_name=ANALYZER, index_option="position")
    for name in (SITE, STATE, BODY, KIND, METHOD):
        builder.add_text_field(
            name, fast=True, stored=name == SITE, tokenizer_name="raw", index_option="basic"
        )
    for name in (DOCUMENT, SHELF, SUMMARY_OF, MANIFEST_OF):
        builder.add_text_field(name, stored=name == DOCUMENT, tokenizer_name="raw", index_option="basic")
    for name in (DAY, YEAR, PLACE):
        builder.add_unsigned_field(name, fast=True, indexed=name == YEAR)
    builder.add_unsigned_field(PAGE, stored=True)
    builder.add_bytes_field(CONTENT, stored=True)
    return builder.build()


@cache
def analyzer() -> TextAnalyzer:
    """Words in lower case, without accents, by their English stem."""
    return _folding().filter(Filter.stemmer("english")).build()


@cache
def folder() -> TextAnalyzer:
    """The same words with their endings: for the beginning of a word, which has no stem."""
    return _folding().build()


def _folding() -> TextAnalyzerBuilder:
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(LONGEST_WORD))
    return builder.filter(Filter.lowercase()).filter(Filter.ascii_fold())


def create_index(path: Path) -> Index:
    path.mkdir(parents=True)
    return _ready(Index(schema(), path=str(path)))


def open_index(path: Path) -> Index:
    return _ready(Index.open(str(path)))


def _ready(index: Index) -> Index:
    index.register_tokenizer(ANALYZER, analyzer())
    # Readers look for a new commit themselves, before a search: no thread of the library's watches files.
    index.config_reader("manual")
    return index
