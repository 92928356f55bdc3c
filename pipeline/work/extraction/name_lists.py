"""Lists of names, as roll calls and votes have them: with titles and notes, wrapped, or in columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pipeline.work.extraction.names import TOKEN, bare, is_name_token, is_title, tidy
from pipeline.work.extraction.patterns import pattern
from pipeline.work.extraction.title_words import ADDRESSED, OFFICES, PARTICLES, SUFFIXES

# A line this long was broken because the page ended, not because a name did.
FULL_LINE = 55
SEPARATOR = pattern(r"(?i)\s*[;,\n]\s*(?:and\s+)?|\s+and\s+|\s+&\s+")
NOTE = pattern(r"\(([^()]{0,80})\)")
COUNT = pattern(r"^\s*\(?\d{1,2}\)?\s*[-–—:.]?\s+")


@dataclass(frozen=True)
class Listed:
    name: str
    title: str
    note: str
    start: int
    end: int


def listed(text: str, start: int, end: int) -> Iterator[Listed]:
    """Every name of a list: `Mayor Rosa Delgado, Vice Mayor Okafor and Mr. J. Tran (late)`."""
    lead = COUNT.match(text[start:end])
    position = start + (lead.end() if lead else 0)
    for item, begin in _split(text[position:end], position, column(text, position)):
        notes = [match.group(1) for match in NOTE.finditer(item)]
        plain = NOTE.sub(" ", item)
        words = plain.split()
        titles = []
        while words and (is_title(words[0]) or bare(words[0]) in OFFICES or not bare(words[0])):
            titles.append(words.pop(0))
        while words and (is_title(words[-1]) or bare(words[-1]) == "esq"):
            titles.append(words.pop())
        if 0 < len(words) <= 5 and all(is_name_token(w) or w in PARTICLES for w in words):
            initial = next((note for note in notes if len(bare(note)) == 1), "")
            name = tidy(f"{initial} {' '.join(words)}")
            if bare(name) not in SUFFIXES and sum(map(str.isalpha, name)) > 1:
                yield Listed(name, " ".join(titles), " ".join(notes), begin, begin + len(item.rstrip()))


def column(text: str, position: int) -> int:
    """How far into its line a place is."""
    return position - text.rfind("\n", 0, position) - 1


def _split(text: str, offset: int, indent: int) -> Iterator[tuple[str, int]]:
    """The items of a list with where each begins; a comma inside parentheses does not part them."""
    hidden = NOTE.sub(lambda match: "(" + "_" * (len(match.group()) - 2) + ")", text)
    hidden = _unwrapped(hidden, indent)
    begin = 0
    for match in SEPARATOR.finditer(hidden):
        yield from _parted(text[begin : match.start()], offset + begin)
        begin = match.end()
    yield from _parted(text[begin:], offset + begin)


def _unwrapped(text: str, indent: int) -> str:
    """A full line that ends inside a name of a list goes on below; not one character more or less."""
    joined = ""
    for line in text.replace("-\n", "- ").splitlines(keepends=True):
        wrapped = indent + len(line) >= FULL_LINE and "," in line and line[-2:-1].isalpha()
        last = line.rstrip().rpartition(" ")[2]
        joined += f"{line[:-1]} " if wrapped and not is_title(last) and bare(last) not in OFFICES else line
        indent = 0
    return joined


def _parted(item: str, offset: int) -> Iterator[tuple[str, int]]:
    """`Alderman Grover Alderman Wynne`, two columns of a table, are two people."""
    tokens = [(match.group(), match.start()) for match in TOKEN.finditer(item)]
    starts = [0]
    if all(belongs(token) for token, _ in tokens):
        named = False
        for (token, start), (following, _) in pairwise(tokens):
            if named and bare(token) in ADDRESSED and is_name_token(following):
                starts.append(start)
            named = is_name_token(token)
    for start, end in zip(starts, [*starts[1:], len(item)], strict=True):
        yield item[start:end], offset + start


def belongs(token: str) -> bool:
    """Whether the word can stand in a list of people."""
    word = bare(token)
    return not word or word in OFFICES or is_title(token) or is_name_token(token) or token in PARTICLES
