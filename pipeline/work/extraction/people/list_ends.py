"""Where a list of names ends: on its line, wrapped, or with a name a line below its label."""

from pipeline.work.extraction.patterns import pattern
from pipeline.work.extraction.people import name_lists, names
from pipeline.work.extraction.people.title_words import OFFICES, TITLES

NUMBERED = pattern(r"^\s*(?:\d{1,2}|[IVX]{1,4}|[A-Z])[.)]")


def list_end(text: str, start: int) -> int:
    """Where a list of names ends: a sentence's end, a blank line, another label; a list may go on below."""
    position, above, listed = start, " " * name_lists.column(text, start), ""
    lines = text[start : start + 1500].splitlines(keepends=True)
    below = _names_below(lines)
    for number, line in enumerate(lines):
        if number > below and line.strip() and not _goes_on(listed, above, line):
            return position
        if not line.strip() and not _is_spaced(listed):
            return position
        stop = _sentence_end(line)
        if stop is not None:
            return position + stop
        listed += line
        position, above = position + len(line), above + line if position == start else line
    return position


def _names_below(lines: list[str]) -> int:
    """How many lines under a label with one name beside it are a name each; none where prose follows them:
    then they are a heading."""
    if not lines or not is_one_name(lines[0]):
        return 0
    count = next((n for n, line in enumerate(lines[1:]) if not is_one_name(line)), len(lines) - 1)
    after = lines[1 + count] if len(lines) > 1 + count else ""
    return count if not after.strip() or ":" in after or NUMBERED.match(after) or _is_officer(after) else 0


def _is_officer(line: str) -> bool:
    """`Interim City Manager Al Voss` below the members."""
    words = line.split()
    return names.bare(words[0]) in OFFICES | TITLES and all(map(name_lists.belongs, words))


def is_one_name(line: str) -> bool:
    name, _, title = name_lists.remarked(line)[0].partition(",")
    words = [word for word in name_lists.without_marker(name) if not names.is_title(word)]
    named = 1 < len(words) <= 4 and all(map(names.is_name_token, words)) and ":" not in name
    return named and all(names.is_title(word) or names.bare(word) in OFFICES for word in title.split())


def _is_spaced(listed: str) -> bool:
    """Not begun yet, or below its label and with blank lines between the names."""
    lines = [line.strip() for line in _without_count(listed).split("\n")]
    filled = [number for number, line in enumerate(lines) if line]
    return not lines[0] and (len(filled) < 2 or "" in lines[filled[0] : filled[-1]])


def _without_count(listed: str) -> str:
    """`3 -` after a label is no name."""
    count = name_lists.COUNT.match(listed)
    return listed[count.end() - 1 :] if count else listed


def _goes_on(listed: str, above: str, line: str) -> bool:
    plain, remark = name_lists.remarked(line)
    words = name_lists.without_marker(plain)
    if not words or "\f" in line:
        return False
    # `…, Paz and Fox; Absent: Orr`: the list goes on to where another begins.
    told = plain.partition(";")[0] if _is_open(listed) else plain
    if ":" in told and not names.is_title(words[0]):
        return False
    if _is_open(listed) or line.startswith(" " * 6):
        return True
    if all(name_lists.belongs(word) for word in words) and any(names.is_name_token(word) for word in words):
        # A name a line: with a title, or nothing but a name when all stand below the label.
        below = not _without_count(listed).partition("\n")[0].strip()
        if any(map(names.is_title, words + remark.split())) or (below and 1 < len(words) <= 4):
            return True
    if not names.is_name_token(words[0]) and words[0] != "and":
        return False
    wrapped = len(above.rstrip()) >= name_lists.FULL_LINE and "," in above
    return "," in line if wrapped else _is_more_of(listed, line)


def _is_more_of(listed: str, line: str) -> bool:
    """In a narrow column lines are short: nothing but names goes on a list whose last name is half told."""
    if not all(name_lists.belongs(word) or word == "and" for word in line.strip().rstrip(".;").split()):
        return False
    last = name_lists.SEPARATOR.split(listed.strip())[-1].split()
    half = len(last) == 1 or (last and len(names.bare(last[-1])) == 1)
    return bool(half) and ("," in line or ("," in listed and name_lists.names_in_full(listed)))


def _is_open(listed: str) -> bool:
    """Whether what stands there asks for more: nothing yet, a comma, a parenthesis that is not closed."""
    so_far = _without_count(listed).strip()
    unclosed = so_far.count("(") > so_far.count(")")
    return not so_far or unclosed or so_far.endswith((",", ";", "-", "&", " and"))


def _sentence_end(line: str) -> int | None:
    for match in names.TOKEN.finditer(line):
        token = match.group()
        if names.ends_sentence(token) and match.end() <= len(line.rstrip()):
            return match.end() - 1
        if token.endswith(":") and match.start() > 3 and not names.is_title(token):
            return match.start()
        if (
            names.bare(token) in ("also", "other", "others", "absent", "present", "staff")
            and match.start() > 3
        ):
            return match.start()
    return None
