"""Lists of names, as roll calls and votes have them: with titles and notes, wrapped, or in columns."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from pipeline.work.extraction.patterns import pattern
from pipeline.work.extraction.people.names import TOKEN, bare, is_name_token, is_title, tidy
from pipeline.work.extraction.people.title_words import ADDRESSED, OFFICES, PARTICLES, SUFFIXES, SURNAMES

# A line this long was broken because the page ended, not because a name did.
FULL_LINE = 55
SEPARATOR = pattern(r"(?i)\s*[;,\n]\s*(?:and\s+)?|\s+and\s+|\s+&\s+")
NOTE = pattern(r"\(([^()]{0,80})\)")
COUNT = pattern(r"^[ \t]*\(?\d{1,2}\)?[ \t]*[-–—:.]?(?:[ \t]+|\n)")
MARKER = pattern(r"^\s*(?:\(?\d{1,2}[.)]|[-–—*•▪o])\s+")
# What follows a name: `Ann Ruiz - Chairman`, `Bo Lee/Vice Chair`, `Cy Nash arrived late`, `Di Paz via Zoom`.
REMARK = pattern(
    r"(?i)\s+[-–—]+\s+|\s*/\s*"
    r"|\s+(?:arrived|joined|entered|late|left|via|remotely|virtually|by (?:phone|telephone|zoom|video))\b"
)


@dataclass(frozen=True)
class Listed:
    name: str
    title: str
    note: str
    start: int
    end: int


def listed(text: str, start: int, end: int) -> list[Listed]:
    """Every name of a list: `Mayor Rosa Delgado, Vice Mayor Okafor and Mr. J. Tran (late)`."""
    lead = COUNT.match(text[start:end])
    position = start + (lead.end() if lead else 0)
    found: list[Listed] = []
    for item, begin in _split(text[position:end], position, column(text, position)):
        person = _person(item, begin)
        if person is not None and person.name:
            found.append(person)
        elif person is not None and found:  # `Al Voss, City Manager`
            found[-1] = replace(found[-1], title=f"{found[-1].title} {person.title}".strip())
    return found


def _person(item: str, begin: int) -> Listed | None:
    """One item of a list, without a name if it is only a title; None if it is neither."""
    notes = [match.group(1) for match in NOTE.finditer(item)] if "(" in item else []
    plain, remark = remarked(NOTE.sub(" ", item) if notes else item)
    notes.append(remark)
    words, titles = _untitled(without_marker(plain))
    titles += [word for word in remark.split() if is_title(word)]
    if not words:
        return Listed("", " ".join(titles), "", begin, begin)
    if len(words) > 5 or not all(is_name_token(word) or word in PARTICLES for word in words):
        return None
    initial = next((note for note in notes if len(bare(note)) == 1), "")
    name = tidy(f"{initial} {' '.join(words)}")
    if bare(name) in SUFFIXES or sum(map(str.isalpha, name)) < 2:
        return None
    return Listed(name, " ".join(titles), " ".join(notes).strip(), begin, begin + len(item.rstrip()))


def _untitled(words: list[str]) -> tuple[list[str], list[str]]:
    """The words of a name, and the titles before and after it."""
    titles: list[str] = []
    while words and (is_title(words[0]) or bare(words[0]) in OFFICES or not bare(words[0])):
        if len(words) == 1 and not titles and bare(words[0]) in SURNAMES:
            break
        titles.append(words.pop(0))
    while words and (is_title(words[-1]) or bare(words[-1]) == "esq"):
        titles.append(words.pop())
    return words, titles


def remarked(item: str) -> tuple[str, str]:
    if " " not in item and "/" not in item and "\n" not in item:
        return item, ""
    remark = REMARK.search(item)
    return (item[: remark.start()], item[remark.start() :]) if remark and remark.start() else (item, "")


def without_marker(line: str) -> list[str]:
    """The words of a line of a list, without its number or bullet."""
    words = line.split(maxsplit=1)
    marked = len(words) > 1 and len(words[0]) < 5 and not words[0][:1].isupper()
    return (MARKER.sub("", line) if marked else line).split()


def column(text: str, position: int) -> int:
    """How far into its line a place is."""
    return position - text.rfind("\n", 0, position) - 1


def _split(text: str, offset: int, indent: int) -> Iterator[tuple[str, int]]:
    """The items of a list with where each begins; a comma inside parentheses does not part them."""
    hidden = text
    if "(" in text:
        hidden = NOTE.sub(lambda match: "(" + "_" * (len(match.group()) - 2) + ")", text)
    hidden = _unwrapped(hidden, indent)
    begin = 0
    for match in SEPARATOR.finditer(hidden):
        yield from _parted(text[begin : match.start()], offset + begin)
        begin = match.end()
    yield from _parted(text[begin:], offset + begin)


def _unwrapped(text: str, indent: int) -> str:
    """A line that ends inside a name of a list goes on below; not one character more or less."""
    lines = text.replace("-\n", "- ").splitlines(keepends=True)
    if len(lines) < 2:
        return "".join(lines)
    joined, of_full_names = "", names_in_full(text)
    for line, below in pairwise([*lines, ""]):
        full = indent + len(line) >= FULL_LINE
        joined += f"{line[:-1]} " if _ends_inside_a_name(line, below, full, of_full_names) else line
        indent = 0
    return joined


def names_in_full(text: str) -> bool:
    """Whether the people of a list have more than a surname each."""
    items = SEPARATOR.split(text.replace("\n", " "))
    sizes = [len(_plain_words(item)) for item in items if _plain_words(item)]
    return sum(size > 1 for size in sizes) * 2 > len(sizes)


def _ends_inside_a_name(line: str, below: str, full: bool, of_full_names: bool) -> bool:
    told = line.rstrip()
    if not line.endswith("\n") or "," not in line + below or not (told[-1:].isalpha() or told.endswith(".")):
        return False
    end = told.rpartition(" ")[2]
    if is_title(end) or bare(end) in OFFICES:
        return False
    last, following = _plain_words(SEPARATOR.split(told)[-1]), _plain_words(below.strip().partition(",")[0])
    if not last or not following:
        return False
    if of_full_names:  # `Zack` is half a name, and so is `Michael D.`; `Ann Ruiz` may be a whole one
        return len(last) == 1 or len(bare(last[-1])) == 1 or (full and len(following) == 1)
    return full


def _plain_words(item: str) -> list[str]:
    """The words of an item that may be a name's."""
    return [word for word in item.split() if not is_title(word) and bare(word) not in ("", "and")]


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
